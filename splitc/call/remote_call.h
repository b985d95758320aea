// call/ runs a function in the process of an object. It may use world/ and pointer/. A function
// travels as its place in the program, so all processes must run the same one; a process runs one
// such function at a time. What programs write is in access/atomic.h.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "splitc/pointer/global_ptr.h"
#include "splitc/world/place.h"
#include "splitc/world/sync.h"
#include "splitc/world/world.h"

// How atomic() runs a function in another process: a request with the function's place in the
// program, which is the same for all since all run the same file, and its arguments; the result is
// the reply.

namespace am {
class Endpoint;
class Job;
}  // namespace am

namespace splitc {
namespace detail {

inline constexpr std::size_t kMaxCallBytes = 48;    // of arguments: 64 of a message, less the head
inline constexpr std::size_t kMaxResultBytes = 56;  // 64 less the ticket

// Unpacks `arguments`, runs a function on `object` and leaves its result at `result`; returns how
// many bytes that has.
using Trampoline = std::size_t(std::byte* object, const std::byte* arguments, std::byte* result);

// A call to be sent.
struct OutgoingCall {
  std::uint32_t proc;
  std::uint64_t offset;  // of the object
  Trampoline* run;
  const std::byte* arguments;
  std::size_t argument_bytes;
  void* result;  // where it shall go; nullptr: nowhere
  std::size_t result_bytes;
};

// Sends and receives calls. Thread rule: the world's thread.
class RemoteCalls {
 public:
  // Registers the handlers; collective, as it finds out whether all run the same program.
  RemoteCalls(am::Job& job, am::Endpoint& endpoint);
  ~RemoteCalls();
  RemoteCalls(const RemoteCalls&) = delete;
  RemoteCalls& operator=(const RemoteCalls&) = delete;

  // Waits for a credit if need be. The caller has asked check_may_call().
  handle start(const OutgoingCall& call, Call name);

 private:
  am::Endpoint& endpoint_;
};

// By the RemoteCalls of this process. Throws Error outside run().
handle start_call(const OutgoingCall& call, Call name);

// Set while a world runs whose processes all run one program.
inline constinit bool functions_travel = false;
[[noreturn]] void refuse_call(Call name);
// Throws Error where this process may not start one, or may not start any.
inline void check_may_call(Call name) {
  if (!functions_travel || !is_worlds_thread || am::Bundle::handling()) [[unlikely]]
    refuse_call(name);
}

template <class F>
struct RemoteSignature;
template <class R, class O, class... P>
struct RemoteSignature<R (*)(O&, P...)> {
  using Result = R;
  using Object = O;
  using Arguments = std::tuple<std::remove_cvref_t<P>...>;
  static constexpr std::size_t bytes = (std::size_t{0} + ... + sizeof(std::remove_cvref_t<P>));
  static constexpr bool copyable = (std::is_trivially_copyable_v<std::remove_cvref_t<P>> && ...);
};
template <class R, class O, class... P>
struct RemoteSignature<R (*)(O&, P...) noexcept> : RemoteSignature<R (*)(O&, P...)> {};

template <auto kFunction>
struct RemoteFunction {
  using Signature = RemoteSignature<decltype(kFunction)>;
  using Result = typename Signature::Result;
  using Object = typename Signature::Object;
  using Arguments = typename Signature::Arguments;
  static_assert(Signature::copyable, "arguments are copied as bytes");
  static_assert(Signature::bytes <= kMaxCallBytes, "too many bytes of arguments");

  template <class... Given>
  static handle start(global_ptr<Object> p, void* result, Call name, const Given&... given) {
    static_assert(sizeof...(Given) == std::tuple_size_v<Arguments>,
                  "the function takes other arguments");
    if constexpr (am::kChecked) {
      check_object(p.proc(), p.offset(), sizeof(Object), alignof(Object), name);
    }
    std::array<std::byte, kMaxCallBytes> packed{};
    pack(packed.data(), std::index_sequence_for<Given...>{}, given...);
    return start_call(
        {p.proc(), p.offset(), &run, packed.data(), Signature::bytes, result, result_bytes()},
        name);
  }

 private:
  static constexpr std::size_t result_bytes() noexcept {
    if constexpr (std::is_void_v<Result>) {
      return 0;
    } else {
      static_assert(std::is_trivially_copyable_v<Result>, "results are copied as bytes");
      static_assert(sizeof(Result) <= kMaxResultBytes, "the result is too large");
      return sizeof(Result);
    }
  }
  template <std::size_t... kI, class... Given>
  static void pack([[maybe_unused]] std::byte* to, std::index_sequence<kI...>,
                   const Given&... given) {
    [[maybe_unused]] const auto put = [&to](const auto& value) {
      std::memcpy(to, &value, sizeof value);
      to += sizeof value;
    };
    (put(static_cast<const std::tuple_element_t<kI, Arguments>&>(given)), ...);
  }
  static std::size_t run(std::byte* object, const std::byte* arguments, std::byte* result) {
    call(*reinterpret_cast<Object*>(object), arguments, result,
         std::make_index_sequence<std::tuple_size_v<Arguments>>());
    return result_bytes();
  }
  template <std::size_t... kI>
  static void call(Object& object, [[maybe_unused]] const std::byte* arguments,
                   [[maybe_unused]] std::byte* result, std::index_sequence<kI...>) {
    // Braces: the arguments are taken from left to right.
    const std::tuple<std::tuple_element_t<kI, Arguments>...> values{
        take<std::tuple_element_t<kI, Arguments>>(arguments)...};
    if constexpr (std::is_void_v<Result>) {
      kFunction(object, std::get<kI>(values)...);
    } else {
      const Result value = kFunction(object, std::get<kI>(values)...);
      std::memcpy(result, &value, sizeof value);
    }
  }
  template <class A>
  static A take(const std::byte*& from) {
    std::array<std::byte, sizeof(A)> bytes;
    std::memcpy(bytes.data(), from, sizeof(A));
    from += sizeof(A);
    return std::bit_cast<A>(bytes);
  }
};

}  // namespace detail
}  // namespace splitc
