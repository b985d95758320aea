#pragma once

#include <cstddef>
#include <cstdint>

#include "am/collective/choice.h"
#include "am/types/types.h"
#include "splitc/world/place.h"

// What a collective call of some processes is to the library: its name, what it moves, and from
// where to where.

namespace splitc::detail {

// A name of a call, with a number made of it when compiling.
struct CallName {
  consteval CallName(const char* name) : text(name), hash(hash_of(name)) {}
  // A name that is known at run time.
  explicit constexpr CallName(Call call) noexcept : text(call.name), hash(hash_of(call.name)) {}

  static constexpr std::uint64_t hash_of(const char* name) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (; *name != '\0'; ++name) {
      hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3;
    }
    return hash;
  }
  const char* text;
  std::uint64_t hash;
};
// A call of the program to a group.
struct GroupCall {
  GroupCall(CallName called, const am::SourceLocation& here) noexcept : name(called), where(here) {}
  explicit GroupCall(Call call) noexcept : name(call), where(call.where) {}
  operator Call() const noexcept { return {name.text, where}; }
  CallName name;
  am::SourceLocation where;
};

// Combines elements by an operation of the program. Nothing is aligned.
struct Combine {
  // `to` becomes `to` op `from`, element by element; or, `before`, `from` op `to`.
  void (*run)(void* op, std::byte* to, const std::byte* from, std::size_t count, bool before);
  void* op;
  std::size_t element;  // bytes
  std::uint64_t kind;   // of element

  void operator()(std::byte* to, const std::byte* from, std::size_t count) const {
    run(op, to, from, count, false);
  }
};

// What a call does. Memory is the caller's until it has ended.
struct GroupPlan {
  bool is_a_barrier() const noexcept {
    return schedule == nullptr && am::schedule::is_a_barrier(call.operation);
  }
  // Whether each member needs something of all others.
  bool needs_all() const noexcept {
    return call.bytes != 0 && am::schedule::is_a_barrier(call.operation);
  }

  am::schedule::Call call;
  std::uint64_t kind = 0;  // what else must agree at all members: type and root
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  const Combine* combine = nullptr;
  const am::schedule::Schedule* schedule = nullptr;  // nullptr: the one that is chosen for `call`
  // Bytes that errors name, instead of those of `call`; they must agree, too.
  std::uint64_t about = 0;
};

}  // namespace splitc::detail
