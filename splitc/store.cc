#include "splitc/store.h"

#include "splitc/allocate.h"
#include "splitc/sync.h"

namespace splitc {

store_counter::store_counter()
    : offset_(world().heap().all_allocate(sizeof(StoreLine) * procs(), "store_counter")),
      in_heap_(true) {}

store_counter::store_counter(InWorld) : offset_(0), in_heap_(false) {}

store_counter::~store_counter() {
  if (in_heap_) detail::all_free_at_end(offset_, "store_counter");
}

std::uint64_t store_counter::arrived() const noexcept {
  std::uint64_t sum = 0;
  const StoreLine* const lines = own_lines();
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    // pairs with: count()
    sum += lines[proc].bytes.load(std::memory_order_acquire);
  }
  return sum;
}

std::uint64_t store_counter::available() const { return arrived() - consumed_; }

bool store_counter::try_wait(std::uint64_t bytes) {
  if (available() < bytes) return false;
  consumed_ += bytes;
  return true;
}

void store_counter::wait(std::uint64_t bytes) {
  world().bundle().wait_until([&] { return available() >= bytes; });
  consumed_ += bytes;
}

void store_counter::reset() { consumed_ = arrived(); }

void store_counter::wait_all() {
  // Everybody says how much it has stored so far, in one of two marks by turns: a process that is
  // already in its next round writes the other one, and cannot come to the round after that before
  // this process has entered it.
  const unsigned parity = round_++ % 2;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    StoreLine& line = line_at(proc);
    const std::uint64_t bytes = line.bytes.load(std::memory_order_relaxed);
    if (line.marks[parity].load(std::memory_order_relaxed) != bytes) {
      line.marks[parity].store(bytes, std::memory_order_relaxed);
    }
  }
  barrier();
  std::uint64_t sum = 0;
  const StoreLine* const lines = own_lines();
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    sum += lines[proc].marks[parity].load(std::memory_order_relaxed);
  }
  consumed_ = sum;
}

void all_store_sync() {
  sync();
  store_counter::default_counter().wait_all();
}

}  // namespace splitc
