// The Python package `splitphase`, over splitc/ as it is installed: what its files share.
//
//   job.cc          begins and ends the job, and knows whether one runs
//   leftover.cc     what Python drops where it cannot end
//   memory.cc       memory of the segment as NumPy arrays
//   array.cc        spread_array
//   operation.cc    what is under way with it
//   collective.cc   broadcasts, reductions, gathers, scans
//   calls.cc        functions in other processes
//   channel.cc      put channels
//
// Threads. Everything is called with Python's global interpreter lock (GIL). What may wait gives it
// up meanwhile, so that other threads of Python run; what the library calls back takes it again.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "am/am.h"
#include "splitc/splitc.h"

// Hidden from other modules, as all that is pybind11's is. The library's variables in headers are
// not (CMakeLists.txt): they have to be one with those of the shared library.
#pragma GCC visibility push(hidden)
namespace splitphase_python {

namespace py = pybind11;

// --- job.cc

bool is_running() noexcept;
// Throws Error of `call` unless a job runs, which this process has begun.
void check_running(const char* call);
// Whether the calling thread is the one that has begun the job, outside what others call in it.
bool may_end_now() noexcept;
// Throws Error of `call` unless it is that thread; or unless it may wait, too.
void check_thread(const char* call);
void check_may_wait(const char* call);
// The line of the program that called, behind those of the package itself; for errors, and for the
// report on a job that stands still. With the GIL; a tenth of a microsecond.
am::SourceLocation here();
// The number of the job that runs, from 1; those of a process follow each other.
std::uint64_t job_number() noexcept;
// Throws Error: "rank R: <call>: <what>".
[[noreturn]] void refuse(const char* call, const std::string& what);

// --- memory.cc: NumPy arrays over memory of this process's segment.

// What a NumPy array keeps alive, or counts: its base owns one.
class Shown {
 public:
  Shown() noexcept { ++count_; }
  virtual ~Shown() { --count_; }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  // How many there are. While there is one, the memory of the job stays mapped.
  static std::size_t count() noexcept { return count_; }

 private:
  static inline std::size_t count_ = 0;
};
// An array over `data`, which may be written. It does not own the memory, but `shown`.
py::array show(void* data, const py::dtype& type, std::vector<py::ssize_t> shape,
               std::unique_ptr<Shown> shown);
// Throws Error of `call` unless elements of this type are plain numbers in this machine's order.
void check_type(const py::dtype& type, const char* call);
std::string name_of(const py::dtype& type);
// The bytes of an array that is contiguous; Error of `call` if it is not. Writable bytes also need
// an array that may be written.
std::span<const std::byte> bytes_of(const py::array& array, const char* call);
std::span<std::byte> writable_bytes_of(py::array& array, const char* call);
// numpy.ascontiguousarray(value, type): `value` itself, if it is such an array.
py::array contiguous(const py::object& value, const py::object& type);

// --- leftover.cc: what Python drops, wherever it collects garbage: in another thread, or in a call
// of another process. The thread of the job ends it, where it may.

class Leftover {
 public:
  virtual ~Leftover() = default;  // ends it
  // Whether that would not wait.
  virtual bool may_end() const { return true; }
};
// To be called by destructors, while the job runs to which it belongs.
void leave(std::unique_ptr<Leftover> leftover);
// Ends those that may end. By the thread of the job.
void end_leftovers();
// Waits until all may, and ends them.
void end_all_leftovers();

// --- What has to end before the job, and what begins with it: by the thread of the job.

void complete_operations();  // operation.cc: all gets and puts
void close_senders();        // channel.cc
void close_receivers();
void add_functions_of_calls();  // calls.cc: collective

// --- What each file adds to the module.

void define_job(py::module_& module);
void define_memory(py::module_& module);
void define_array(py::module_& module);
void define_collective(py::module_& module);
void define_calls(py::module_& module);
void define_channel(py::module_& module);

}  // namespace splitphase_python
#pragma GCC visibility pop
