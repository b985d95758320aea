// Transfers of more than 2^31 bytes. Needs three times as much memory; skipped where there is less.
#include <sys/mman.h>

#include <fstream>
#include <string>

#include "tests/am/zero_copy/support.h"

namespace am::zero_copy_test {
namespace {

constexpr std::size_t kBytes = (std::size_t{1} << 31) + 24;
constexpr std::size_t kGuard = 64;  // bytes of 0 on both sides
constexpr std::size_t kAll = kBytes + 2 * kGuard;

std::uint64_t available_kilobytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t amount = 0;
  while (file >> name >> amount && name != "MemAvailable:") file.ignore(100, '\n');
  return amount;
}

// kBytes of a kind of memory whose words tell where they are and which turn it is. The memory of
// the segment is given back, too.
class Large {
 public:
  Large(ZeroCopy& zero, Place place) : zero_(zero), place_(place) {
    switch (place) {
      case Place::kHeap: begin_ = map(); break;
      case Place::kSegment: begin_ = job().router().segment(); break;
      case Place::kPool: begin_ = zero.alloc(kAll).data(); break;
    }
  }
  ~Large() {
    if (place_ == Place::kHeap) munmap(begin_, kAll);
    if (place_ == Place::kSegment) madvise(begin_, (kAll + 4095) / 4096 * 4096, MADV_REMOVE);
    if (place_ == Place::kPool) zero_.free({begin_, kAll});
  }
  Large(const Large&) = delete;
  Large& operator=(const Large&) = delete;

  std::span<std::byte> bytes() const { return {begin_ + kGuard, kBytes}; }
  void fill(std::uint64_t turn) {
    auto* const words = reinterpret_cast<std::uint64_t*>(begin_ + kGuard);
    for (std::size_t i = 0; i < kBytes / 8; ++i) words[i] = expected(i, turn);
  }
  // Everything is as fill(turn) makes it, and nothing beyond is touched. Does fill(turn + 1) at the
  // same time, as looking takes long.
  testing::AssertionResult holds_and_fills_next(std::uint64_t turn) {
    auto* const words = reinterpret_cast<std::uint64_t*>(begin_ + kGuard);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < kBytes / 8; ++i) {
      wrong += words[i] != expected(i, turn);
      words[i] = expected(i, turn + 1);
    }
    std::byte beyond{};
    for (std::size_t i = 0; i < kGuard; ++i) beyond |= begin_[i] | begin_[kGuard + kBytes + i];
    if (wrong == 0 && beyond == std::byte{}) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "turn " << turn << ": " << wrong << " words are wrong"
                                       << (beyond == std::byte{} ? "" : ", and bytes beyond");
  }

 private:
  static std::uint64_t expected(std::size_t i, std::uint64_t turn) {
    return i * 0x9e3779b97f4a7c15u + turn;
  }
  static std::byte* map() {
    void* const at = mmap(nullptr, kAll, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw Error("no room for the memory of the test");
    return static_cast<std::byte*>(at);
  }

  ZeroCopy& zero_;
  const Place place_;
  std::byte* begin_ = nullptr;
};

// Where the payload of a request goes, and what the callback there is told.
std::span<std::byte> room;
Notes* landed = nullptr;

void on_payload(ZeroCopyRequest& request) {
  EXPECT_EQ(request.bytes(), kBytes);
  request.receive(room, landed->callback());
}

class Huge : public testing::TestWithParam<Place> {};

// The last process moves to and from memory of the first one: put, get, request.
TEST_P(Huge, transfers_are_whole) {
  if (job().exchange(available_kilobytes())[0] < kBytes / 1024 * 7 / 2) {
    GTEST_SKIP() << "too little memory";
  }
  const Place place = GetParam();
  ZeroCopy zero(job(), bundle(), {.pool_bytes = place == Place::kPool ? kAll + 4096 : 4096});
  zero.add_handlers<&on_payload>();
  const bool owner = me() == 0;
  Large memory(zero, owner ? place : Place::kHeap);
  Notes notes;
  const ZeroCopyMode mode = !owner || place == Place::kSegment ? ZeroCopyMode::kUnreg
                            : place == Place::kPool            ? ZeroCopyMode::kPrereg
                                                               : ZeroCopyMode::kReg;
  ZeroCopyBuffer buffer(zero, memory.bytes(), notes.callback(), mode);
  const ZeroCopyInfo remote = show(buffer.info())[0];
  room = memory.bytes();
  landed = &notes;
  const auto await = [&](std::size_t turn) {
    bundle().wait_until([&] { return notes.all.size() == turn; });
    EXPECT_EQ(notes.last().bytes, kBytes);
    // Who has been written is the next source.
    if (!notes.last().source) {
      EXPECT_TRUE(memory.holds_and_fills_next(turn));
    }
    barrier();
  };
  if (!owner) memory.fill(1);
  if (!owner) buffer.put(remote);
  await(1);
  if (!owner) buffer.get(remote);
  await(2);
  if (!owner) zero.request_zero_copy<&on_payload>(0, memory.bytes(), notes.callback());
  await(3);
  settle(zero);
}

INSTANTIATE_TEST_SUITE_P(OfMemory, Huge,
                         testing::Values(Place::kSegment, Place::kHeap, Place::kPool),
                         [](const auto& info) {
                           return info.param == Place::kSegment ? "segment"
                                  : info.param == Place::kHeap  ? "heap"
                                                                : "pool";
                         });

}  // namespace
}  // namespace am::zero_copy_test
