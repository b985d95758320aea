// What it costs to let other nodes access memory outside the segment: the first time, and later.
#include <sys/mman.h>

#include <cstddef>
#include <span>

#include "am/am.h"
#include "am/route/port.h"
#include "benchmarks/network.h"
#include "benchmarks/support/clock.h"

namespace network {
namespace {

// Memory that nobody has registered, and that is there.
class Fresh {
 public:
  explicit Fresh(std::size_t bytes)
      : memory_(static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)),
                bytes) {
    if (memory_.data() == MAP_FAILED) throw am::Error("no memory to register");
  }
  ~Fresh() { munmap(memory_.data(), memory_.size()); }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;

  std::span<std::byte> memory() const noexcept { return memory_; }

 private:
  const std::span<std::byte> memory_;
};

}  // namespace

void registrations(bench::Bench& b) {
  am::Port* const port = b.bundle.router().port();
  if (port == nullptr) return;
  am::link::Registrar* const registrar = port->link().can().registrar;
  if (registrar == nullptr) return;
  // ns each.
  const auto register_times = [&](int times, std::span<std::byte> memory) {
    const bench::Stopwatch watch;
    for (int i = 0; i < times; ++i) registrar->register_memory(memory);
    return watch.ns() / times;
  };
  const int n = b.count(50);
  for (const std::size_t bytes : {4u << 10, 64u << 10, 1u << 20, 16u << 20}) {
    const Fresh kept(bytes);
    const auto samples =
        b.pair.interleave(b.reps(50), {[&] { return register_times(1, Fresh(bytes).memory()); },
                                       [&] { return register_times(n, kept.memory()); }});
    b.report.add_time("register_first", bytes, samples[0]);
    b.report.add_time("register_later", bytes, samples[1]);
  }
}

}  // namespace network
