// start/ begins and ends a program. It may use the rooms that have something to set up: world/,
// call/ and access/; no room may use it. All processes set up the same in the same order.
#pragma once

#include <type_traits>

namespace splitc {

// The arguments of the program, as in main().
class Args {
 public:
  Args(int argc, char** argv) noexcept : argc_(argc), argv_(argv) {}
  int size() const noexcept { return argc_; }
  // The i-th; 0 is the program. Throws Error if there is none.
  const char* operator[](int i) const;
  int argc() const noexcept { return argc_; }
  char** argv() const noexcept { return argv_; }

 private:
  int argc_;
  char** argv_;
};

namespace detail {
int run_program(int argc, char** argv, int (*body)(void* context, Args args), void* context);
}

// Runs `program(Args)` on every process of the job: one when started bare, N under splitcrun
// (Split-C's splitc_main). Returns what main() shall return: the program's result, or 0 if it is
// void. An exception that leaves the program ends the whole job with its text. All processes must
// return from the program; then they meet, so that nobody's memory goes while another needs it.
template <class Program>
int run(int argc, char** argv, Program&& program) {
  auto* callee = &program;  // of an object or a function
  const auto body = [](void* context, Args args) -> int {
    auto& call = **static_cast<std::remove_reference_t<Program>**>(context);
    if constexpr (std::is_void_v<decltype(call(args))>) {
      call(args);
      return 0;
    } else {
      return call(args);
    }
  };
  return detail::run_program(argc, argv, body, &callee);
}

}  // namespace splitc
