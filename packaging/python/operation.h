// A get, put or store of a slice of a spread array: for each process that has a part of it, one
// transfer of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "binding.h"
#include "splitc/array/layout.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/world/sync.h"

#pragma GCC visibility push(hidden)  // as in binding.h
namespace splitphase_python {

// Indices [first, last) of an array.
struct Slice {
  std::size_t first;
  std::size_t last;
  std::size_t size() const noexcept { return last - first; }
};

// One that is under way. Until it is complete it is kept, whoever has dropped it, with the array
// that its bytes come from or go to.
class Operation : public std::enable_shared_from_this<Operation> {
 public:
  // Of elements of so many bytes. `array` is contiguous, and has those of `slice`.
  Operation(const splitc::distribution& map, std::size_t element, Slice slice, py::array array);

  // One of these starts it. `offset`: of the elements, in each segment.
  void get(std::uint64_t offset);
  void put(std::uint64_t offset);
  void store(std::uint64_t offset);  // and nothing is under way on return

  // Waits; the array.
  py::array wait();
  // Polls once if it is not.
  bool is_ready();
  // Those of this process, which are complete.
  static void finish_all();

 private:
  // Those that one process has, which are contiguous in its memory.
  struct Part {
    std::uint32_t proc;
    std::size_t local;  // of the first of them there
    std::size_t count;
  };
  struct Staged {
    Part part;
    std::unique_ptr<std::byte[]> bytes;
  };
  using Bytes = splitc::global_ptr<std::byte>;

  template <class Visit>
  void for_each_part(Visit visit) const;
  template <class Visit>
  void for_each_run(const Part& part, Visit visit) const;
  template <class Start>
  void move(std::uint64_t offset, Start start);
  std::byte* stage(const Part& part);
  void gather(const Part& part, std::byte* to) const;
  void scatter(const Part& part, const std::byte* from) const;
  void note(splitc::handle handle);
  void finish();

  const splitc::distribution map_;
  const std::size_t element_;
  const Slice slice_;
  const py::array array_;
  std::byte* const bytes_;  // of it
  std::vector<splitc::handle> handles_;
  std::vector<Staged> staged_;  // parts whose elements are apart in the array
  bool is_get_ = false;
  bool done_ = false;
};

void define_operation(py::module_& module);

}  // namespace splitphase_python
#pragma GCC visibility pop
