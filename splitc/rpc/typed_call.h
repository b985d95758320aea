#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "am/types/types.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/rpc/future.h"
#include "splitc/rpc/pack.h"
#include "splitc/rpc/program.h"
#include "splitc/rpc/rpc_calls.h"
#include "splitc/rpc/words.h"
#include "splitc/world/elements.h"
#include "splitc/world/place.h"

// What the calls of rpc.h do with the types of a function and its arguments: how these are packed
// here, and what is called with them there.

namespace splitc {

namespace detail {

// A pointer to a function is the only address that travels.
template <class F>
requires std::is_function_v<F>
struct Argument<F*> {
  using Seen = F*;
  static constexpr std::size_t kBytes = sizeof(std::uint32_t);
  static constexpr std::size_t kAlignment = alignof(std::uint32_t);
  template <class Sink>
  static void pack(Sink& sink, F* f) {
    Argument<std::uint32_t>::pack(sink, place_in_program(f, "rpc"));
  }
  template <class From>
  static F* take(From& from) {
    return function_at<F>(Argument<std::uint32_t>::take(from));
  }
  static F* view(F* f) noexcept { return f; }
};

// A function or lambda: the former as its place in the program, the latter as its captures.
template <class F>
struct Callable {
  using Called = F;
  static constexpr std::size_t kBytes = std::is_empty_v<F> ? 0 : sizeof(F);
  static constexpr std::size_t kAlignment = alignof(F);
  template <class Sink>
  static void pack([[maybe_unused]] Sink& sink, [[maybe_unused]] const F& f) {
    if constexpr (!std::is_empty_v<F>) sink.add(&f, sizeof f, alignof(F));
  }
  template <class From>
  static F take([[maybe_unused]] From& from) {
    constexpr std::byte kNothing{};
    if constexpr (std::is_empty_v<F>) {
      return of_bytes<F>(&kNothing);
    } else {
      return from.template value<F>();
    }
  }
};
template <class F>
requires std::is_function_v<F>
struct Callable<F*> : Argument<F*> {
  using Called = F*;
};

// The Argument or ResultOf of what cannot travel.
template <class T>
concept cannot_travel = T::kRefused;
template <class T>
concept aligned_too_much = T::kTooAligned;

// What is wrong with a call of f(args...), in one sentence: returns whether to go on, so that it is
// the only one. `kAnswered`: its result comes back.
template <bool kAnswered, class F, class... A>
constexpr bool check_call() {
  using Called = typename Callable<F>::Called;
  constexpr bool kTravels = travels<Called> || std::is_function_v<std::remove_pointer_t<Called>>;
  static_assert(!too_aligned<Called>, SPLITPHASE_TOO_ALIGNED);
  static_assert(kTravels || too_aligned<Called>,
                "pass a function, or a lambda that captures trivially copyable values, by value, "
                "and containers as arguments, as std::span(container)");
  constexpr bool kArguments = (!cannot_travel<Argument<A>> && ...);
  constexpr bool kTooAligned = (aligned_too_much<Argument<A>> || ...);
  static_assert(!kTooAligned, SPLITPHASE_TOO_ALIGNED);
  static_assert(kArguments || kTooAligned,
                "arguments travel as bytes: pass trivially copyable values (a struct rather than a "
                "std::pair), containers as std::span(container), and global pointers, as addresses "
                "mean nothing in another process");
  if constexpr (kTravels && kArguments) {
    static_assert(!captures_reference<Called>, SPLITPHASE_NO_REFERENCES);
    constexpr bool kTakes = std::is_invocable_v<F&, typename Argument<A>::Seen&...>;
    static_assert(kTakes,
                  "the function does not take these arguments: a std::span arrives as a span of "
                  "const elements, a dist_object<T> as a T&");
    if constexpr (kTakes && kAnswered) {
      using Result = std::decay_t<std::invoke_result_t<F&, typename Argument<A>::Seen&...>>;
      static_assert(!aligned_too_much<ResultOf<Result>>, SPLITPHASE_TOO_ALIGNED);
      static_assert(!cannot_travel<ResultOf<Result>> || aligned_too_much<ResultOf<Result>>,
                    "a result travels as bytes: return a trivially copyable value without "
                    "addresses, a std::vector or std::string of such, or a std::pair or std::tuple "
                    "of these; what a span refers to would be gone");
      return !captures_reference<Called> && !cannot_travel<ResultOf<Result>>;
    }
    return kTakes && !captures_reference<Called>;
  }
  return false;
}

// f with the arguments A, as it travels and runs.
template <class F, class... A>
struct Rpc {
  using Result = std::decay_t<std::invoke_result_t<F&, typename Argument<A>::Seen&...>>;

  template <class Sink>
  static void pack(Sink& sink, const F& f, const A&... args) {
    Callable<F>::pack(sink, f);
    (Argument<A>::pack(sink, args), ...);
  }
  template <class From>
  static Result call_packed(From from) {
    F f = Callable<F>::take(from);
    // Braces: the arguments are taken from left to right.
    std::tuple<typename Argument<A>::Seen...> args{Argument<A>::take(from)...};
    return std::apply(f, args);
  }
  static void run(Unpacker from, RpcValue& to) {
    if constexpr (std::is_void_v<Result>) {
      call_packed(from);
    } else {
      to.keep<Result>(call_packed(from));
    }
  }
  // For a function that takes and returns words, or whose result is dropped.
  static std::uint64_t run_words(std::uint64_t first, std::uint64_t second) {
    const WordUnpacker from{{first, second}};
    if constexpr (std::is_void_v<Result> || !fits_word<Result>()) {
      return call_packed(from), 0;
    } else {
      return word_of(call_packed(from));
    }
  }
  static constexpr bool kTakesWords = fit_words<Callable<F>, Argument<A>...>();
  static constexpr bool kInWords = kTakesWords && fits_word<Result>();
  static WordPacker words(const F& f, const A&... args) {
    WordPacker packer;
    pack(packer, f, args...);
    return packer;
  }

  static constexpr RpcAnswer kAnswer =
      ResultOf<Result>::is_long ? RpcAnswer::kLong : RpcAnswer::kShort;

  // In this process.
  static Result call(F& f, const A&... args) {
    std::tuple<typename Argument<A>::Seen...> seen{Argument<A>::view(args)...};
    return std::apply(f, seen);
  }
  // In another; `operation` as RpcCalls::start() has it, and the result in `slot`, unless that is
  // nullptr.
  static void start(std::uint32_t proc, RpcCalls& calls, RpcSlot* slot, handle& operation,
                    Call name, const F& f, const A&... args) {
    check_captures(f, proc, name);
    void* result = slot;
    if (kAnswer == RpcAnswer::kShort && slot != nullptr) result = slot->result.short_bytes.data();
    start_to<false>(proc, calls, result, operation, name, f, args...);
  }
  // In any; `result` is the program's, if it is `kSized`, so that no more is written there than it
  // has.
  template <bool kSized>
  static void start_to(std::uint32_t proc, RpcCalls& calls, void* result, handle& operation,
                       Call name, const F& f, const A&... args) {
    if constexpr (kInWords) {
      const WordPacker packed = words(f, args...);
      operation =
          calls.start_words<kSized>(proc, &run_words, packed.words[0], packed.words[1], result,
                                    packed.bytes, name, ResultOf<Result>::short_bytes);
    } else {
      const auto send = [&](auto bytes) {
        calls.start({proc, &run, bytes, kAnswer, ResultOf<Result>::short_bytes}, result, operation,
                    name);
      };
      packed(send, f, args...);
    }
  }
  // Calls send(bytes) with all of it packed.
  template <class Send>
  static void packed(Send send, const F& f, const A&... args) {
    constexpr std::size_t kOnStack = 512;
    Measure measure;
    pack(measure, f, args...);
    alignas(kPackAlignment) std::array<std::byte, kOnStack> little;
    am::Owned<std::byte[]> much;
    std::byte* to = little.data();
    if (measure.bytes > kOnStack) {
      much = am::Owned<std::byte[]>(new std::byte[measure.bytes]);
      to = much.get();
    }
    Packer packer{to};
    pack(packer, f, args...);
    send(std::span<const std::byte>(to, packer.bytes));
  }
};

// f(*p, args...), p at an offset of the process that runs it.
template <class T, class F>
struct AtObject {
  [[no_unique_address]] F f;
  std::uint64_t offset;
  template <class... A>
  requires std::is_invocable_v<F&, T&, A&...>
  decltype(auto) operator()(A&... args) {
    return f(*reinterpret_cast<T*>(mapped(my_proc(), offset)), args...);
  }
};
template <class T, class F>
struct Callable<AtObject<T, F>> {
  using Called = typename Callable<F>::Called;
  static constexpr std::size_t kAlignment = alignof(std::uint64_t);
  static constexpr std::size_t kBytes =
      aligned(sizeof(std::uint64_t), Callable<F>::kAlignment) + Callable<F>::kBytes;
  template <class Sink>
  static void pack(Sink& sink, const AtObject<T, F>& at) {
    Argument<std::uint64_t>::pack(sink, at.offset);
    Callable<F>::pack(sink, at.f);
  }
  template <class From>
  static AtObject<T, F> take(From& from) {
    const auto offset = Argument<std::uint64_t>::take(from);
    return {Callable<F>::take(from), offset};
  }
};
template <class T>
void check_target(global_ptr<T> p, Call call) {
  check_process(p.proc(), call);
  if constexpr (am::kChecked) check_object(p.proc(), p.offset(), sizeof(T), alignof(T), call);
}

template <class F, class... A>
auto start_checked_rpc(std::uint32_t proc, Call name, F f, const A&... args) {
  using R = Rpc<F, A...>;
  using Result = typename R::Result;
  RpcCalls& calls = rpc_calls(name);
  const bool here = proc == my_proc();
  if constexpr (std::is_void_v<Result>) {
    handle operation;
    if (here) {
      R::call(f, args...);
    } else {
      R::start(proc, calls, nullptr, operation, name, f, args...);
    }
    return future<void>(operation);
  } else {
    RpcSlot& slot = calls.take_slot();
    future<Result> result(slot);  // gives it back if this throws
    if (here) {
      slot.result.keep<Result>(R::call(f, args...));
    } else {
      R::start(proc, calls, &slot, slot.operation, name, f, args...);
    }
    return result;
  }
}
template <class F, class... A>
auto start_rpc(std::uint32_t proc, Call name, F f, const A&... args) {
  if constexpr (check_call<true, F, A...>()) {
    return start_checked_rpc(proc, name, f, args...);
  } else {
    return future<void>();
  }
}

template <class T, class F, class... A>
future<std::size_t> start_rpc_into(std::span<T> to, std::uint32_t proc, Call name, F f,
                                   const A&... args) {
  using R = Rpc<F, A...>;
  static_assert(std::is_same_v<typename R::Result, std::vector<T>>,
                "the function returns a std::vector of what there is room for");
  RpcCalls& calls = rpc_calls(name);
  RpcSlot& slot = calls.take_slot();
  future<std::size_t> result(slot);  // gives it back if this throws
  slot.into = std::as_writable_bytes(to);
  slot.element = sizeof(T);
  if (proc == my_proc()) {
    const std::vector<T> all = R::call(f, args...);
    const auto bytes = std::as_bytes(std::span(all));
    slot.keep(bytes, 0, bytes.size());
    check_room(slot, bytes.size(), name);
  } else {
    R::start(proc, calls, &slot, slot.operation, name, f, args...);
  }
  return result;
}

// kNoted: check_far() has recorded the call in statistics and traces.
template <bool kNoted = false, class F, class... A>
void start_one_way(std::uint32_t proc, Call name, F f, const A&... args) {
  using R = Rpc<F, A...>;
  RpcCalls& calls = rpc_calls(name);
  if (proc == my_proc()) {
    R::call(f, args...);
    return;
  }
  check_captures(f, proc, name);
  if constexpr (R::kTakesWords) {
    const WordPacker packed = R::words(f, args...);
    calls.send_words_one_way(proc, &R::run_words, packed.words[0], packed.words[1], packed.bytes,
                             kNoted, name);
  } else {
    R::packed(
        [&](auto bytes) {
          calls.send_one_way({proc, &R::run, bytes, RpcAnswer::kNone, 0, kNoted}, name);
        },
        f, args...);
  }
}
// Starts a one-way call from a poll to another process, with arguments that one message holds.
// False: there is no room for it now.
template <class F, class... A>
bool try_start_one_way(std::uint32_t proc, Call name, F f, const A&... args) {
  using R = Rpc<F, A...>;
  RpcCalls& calls = *rpc_calls_or_none();  // as it is polled
  bool sent = false;
  R::packed(
      [&](auto bytes) {
        sent = calls.try_send_one_way({proc, &R::run, bytes, RpcAnswer::kNone}, name);
      },
      f, args...);
  return sent;
}

}  // namespace detail

}  // namespace splitc
