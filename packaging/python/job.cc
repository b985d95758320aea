// Begins and ends the job of this process. What run() does in one function is two here, as those of
// splitc/with_mpi.h are, for Python's `with`.

#include <string>
#include <thread>
#include <unordered_set>
#include <utility>

#include "binding.h"
#include "splitc/start/run.h"

namespace splitphase_python {
namespace {

using Release = py::call_guard<py::gil_scoped_release>;

// What runs, or has ended while NumPy arrays still showed its memory, which has to stay then. Never
// destroyed: at the end of the process no Python is left that could say who uses it.
splitc::detail::RunningPointer& world_of_process() {
  static auto* const running = new splitc::detail::RunningPointer;
  return *running;
}
bool runs = false;
std::uint64_t number = 0;
std::thread::id thread_of_job;

void begin() {
  auto& running = world_of_process();
  if (!runs && running) {
    if (Shown::count() != 0) {
      throw am::Error("splitphase.job: " + std::to_string(Shown::count()) +
                      " NumPy arrays still show memory of the job before; delete them (.mine, "
                      "buffer(), and views of these) before another begins");
    }
    running.reset();
  }
  splitc::detail::check_none_runs("splitphase.job");
  const py::gil_scoped_release others_run;
  running = splitc::detail::begin_program(nullptr);
  runs = true;
  ++number;
  thread_of_job = std::this_thread::get_id();
  add_functions_of_calls();
}

// Collective. What a handler throws comes out, and the job goes on.
void finish() {
  check_running("splitphase.job");
  auto& running = world_of_process();
  complete_operations();
  close_senders();
  end_all_leftovers();
  {
    const py::gil_scoped_release others_run;
    splitc::barrier();  // no put is on its way any more
    splitc::detail::finish_program(*running, "the end of splitphase.job");
  }
  close_receivers();
  end_leftovers();
  runs = false;
  if (Shown::count() == 0) running.reset();
}

void abort(int code, const std::string& sentence) {
  check_running("splitphase.abort");
  splitc::world().job().abort(code, sentence);
}

int poll() {
  check_running("splitphase.poll");
  return splitc::poll();
}

void barrier() {
  check_running("splitphase.barrier");
  const auto where = here();
  const py::gil_scoped_release others_run;
  splitc::barrier(where);
}

void wait_until(const py::function& condition) {
  check_running("splitphase.wait_until");
  const auto where = here();
  const py::gil_scoped_release others_run;
  splitc::wait_until(
      [&] {
        const py::gil_scoped_acquire python;
        return py::bool_(condition()).operator bool();
      },
      where);
}

void store_sync(std::uint64_t bytes) {
  check_running("splitphase.store_sync");
  const auto where = here();
  const py::gil_scoped_release others_run;
  splitc::store_sync(bytes, where);
}

void all_store_sync() {
  check_running("splitphase.all_store_sync");
  complete_operations();
  const auto where = here();
  const py::gil_scoped_release others_run;
  splitc::all_store_sync(where);
}

}  // namespace

bool is_running() noexcept { return runs; }

am::SourceLocation here() {
  static auto& names = *new std::unordered_set<std::string>;  // which stay where they are
  auto frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame && !frame.is_none()) {
    auto* const at = reinterpret_cast<PyFrameObject*>(frame.ptr());
    const auto code =
        py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(at)));
    auto name = code.attr("co_filename").cast<std::string>();
    if (!name.ends_with("splitphase/__init__.py")) {
      const auto line = static_cast<unsigned>(PyFrame_GetLineNumber(at));
      return am::SourceLocation::current(names.insert(std::move(name)).first->c_str(), line);
    }
    frame = frame.attr("f_back");
  }
  return {};
}

std::uint64_t job_number() noexcept { return number; }

bool may_end_now() noexcept {
  return std::this_thread::get_id() == thread_of_job && !am::Bundle::handling();
}

void check_thread(const char* call) {
  if (std::this_thread::get_id() == thread_of_job) return;
  refuse(call,
         "called by another thread than the one that has begun the job; only that may call what "
         "communicates");
}

void check_may_wait(const char* call) {
  check_thread(call);
  if (!am::Bundle::handling()) return;
  refuse(call,
         "called in a function that another process has called here; that may not wait, as "
         "this process waits for it; let it return, and its caller go on");
}

void check_running(const char* call) {
  if (runs) return;
  throw am::Error(std::string(call) +
                  ": no job is running; call it in the function that splitphase.run() was given, "
                  "or below `with splitphase.job():`");
}

void refuse(const char* call, const std::string& what) {
  throw am::Error("rank " + std::to_string(splitc::my_proc()) + ": " + call + ": " + what);
}

void define_job(py::module_& module) {
  module.def("_begin", &begin);
  module.def("_finish", &finish);
  module.def("_abort", &abort);
  module.def("is_running", &is_running, "Whether this process is in a job.");
  module.def(
      "my_proc", [] { return runs ? splitc::my_proc() : 0; },
      "The number of this process, 0 to procs() - 1; 0 outside a job.");
  module.def(
      "procs", [] { return runs ? splitc::procs() : 1; },
      "How many processes the job has; 1 outside a job.");
  module.def(
      "is_near", [](std::uint32_t proc) { return runs && splitc::is_near(proc); }, py::arg("proc"),
      "Whether `proc` is on the node of this process, so that its memory is mapped here.");
  module.def(
      "poll", &poll, Release(),
      "Runs what other processes want of this one, and returns how many things it has done.");
  module.def("barrier", &barrier, "Collective: waits until all processes have called it.");
  module.def("wait_until", &wait_until, py::arg("condition"),
             "Polls until condition() is true, such as of what an rpc() of another process sets.");
  module.def(
      "store_sync", &store_sync, py::arg("bytes"),
      "Waits until so many bytes of store() have landed in this process, and consumes them.");
  module.def("all_store_sync", &all_store_sync,
             "Collective: waits until every get, put and store of every process is complete.");
}

}  // namespace splitphase_python
