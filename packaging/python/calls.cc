// Calls of Python functions in other processes: pickled there and back (splitphase/__init__.py), as
// bytes that one function of this module takes.

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "binding.h"
#include "splitc/rpc/rpc.h"

namespace splitphase_python {
namespace {

using Packed = std::vector<std::byte>;

// What unpacks a call, makes it, and packs what it returned or raised. Never destroyed: no Python
// is left then.
py::object& server() {
  static auto* const function = new py::object;
  return *function;
}

py::bytes to_python(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::span<const std::byte> of_python(const py::bytes& bytes) {
  return std::as_bytes(std::span(static_cast<std::string_view>(bytes)));
}

// In the process that is called, in its poll.
Packed serve(std::span<const std::byte> call) {
  const py::gil_scoped_acquire python;
  try {
    const py::bytes answer = server()(to_python(call));
    const auto bytes = of_python(answer);
    return {bytes.begin(), bytes.end()};
  } catch (const py::error_already_set& error) {
    throw am::Error(error.what());  // as what the library may pass on, without the GIL
  }
}

// The packed answer of a call.
class Answer {
 public:
  Answer(std::uint32_t proc, const py::bytes& call) : job_(job_number()) {
    if (may_end_now()) end_leftovers();
    const auto bytes = of_python(call);
    const auto where = here();
    const py::gil_scoped_release others_run;
    future_.emplace(splitc::rpc({proc, where}, &serve, bytes));
  }
  ~Answer() {
    if (!future_) return;  // it was not sent
    auto forgotten = std::make_unique<Forgotten>(std::move(*future_));
    if (belongs()) {
      leave(std::move(forgotten));
    } else {
      static_cast<void>(forgotten.release());  // another job would take it for its own
    }
  }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  bool is_ready() {
    check("splitphase: ready");
    return future_->ready();
  }
  py::bytes result() {
    check("splitphase: result");
    check_may_wait("splitphase: result");  // wait() would end the job
    Packed answer;
    {
      const auto where = here();
      const py::gil_scoped_release others_run;
      answer = future_->result(where);
    }
    return to_python(answer);
  }

 private:
  struct Forgotten : Leftover {
    explicit Forgotten(splitc::future<Packed> one) : future(std::move(one)) {}
    splitc::future<Packed> future;
  };
  bool belongs() const noexcept { return is_running() && job_number() == job_; }
  void check(const char* call) const {
    check_running(call);
    if (!belongs()) refuse(call, "the call was made in a job that has ended");
  }

  const std::uint64_t job_;
  std::optional<splitc::future<Packed>> future_;
};

}  // namespace

void add_functions_of_calls() { splitc::add_library(&serve); }

void define_calls(py::module_& module) {
  module.def("_serve_by", [](py::object function) { server() = std::move(function); });
  py::class_<Answer>(module, "_Answer")
      .def("ready", &Answer::is_ready)
      .def("result", &Answer::result);
  module.def("_call", [](std::uint32_t proc, const py::bytes& call) {
    check_running("splitphase.rpc");
    return std::make_unique<Answer>(proc, call);
  });
}

}  // namespace splitphase_python
