#include "splitc/allocate.h"

#include <exception>
#include <string>

#include "splitc/world.h"

namespace splitc {
namespace detail {

std::uint64_t local_bytes(std::size_t count, std::size_t bytes, Call call) {
  return product(count, "elements", bytes, "bytes", call);
}

std::uint64_t spread_bytes(std::size_t count, std::size_t bytes, Call call) {
  return local_bytes(count / procs() + (count % procs() != 0 ? 1 : 0), bytes, call);
}

std::uint64_t all_allocate(std::uint64_t bytes, Call call, std::uint64_t kind) {
  return world().heap().all_allocate(bytes, call, kind);
}

void all_free(std::uint32_t proc, std::uint64_t offset, Call call) {
  if (proc != 0) {
    refuse(call, "the pointer is to process " + std::to_string(proc) +
                     "; free the memory by the address of its first element, on process 0");
  }
  world().heap().all_free(offset, call);
}

void at_end(const std::function<void()>& call) noexcept {
  if (std::uncaught_exceptions() > 0) return;
  if (place.bases == nullptr) return;  // the world has gone, and its memory with it
  try {
    call();
  } catch (const Error& error) {
    world().job().abort(1, without_rank(error.what()));
  }
}

void all_free_at_end(std::uint64_t offset, Call call) noexcept {
  at_end([=] { world().heap().all_free(offset, call); });
}

void* allocate(std::uint64_t bytes, Call call) {
  return mapped(my_proc(), world().heap().allocate(bytes, call));
}

}  // namespace detail

void local_free(void* p) {
  if (p == nullptr) return;
  world().heap().free(detail::offset_of(p, my_proc(), "local_free"), "local_free");
}

}  // namespace splitc
