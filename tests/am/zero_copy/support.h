// What the tests of zero-copy buffers share: memory with guards around it, infos sent by messages,
// and notes of what callbacks received.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "am/am.h"
#include "tests/support/job_main.h"

namespace am::zero_copy_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;

inline Rank me() { return job().rank(); }
inline Rank after(std::uint32_t steps) { return (me() + steps) % job().size(); }
inline Rank before(std::uint32_t steps) { return (me() + job().size() - steps) % job().size(); }
inline bool near(Rank rank) { return job().router().is_near(rank); }

enum class Place { kHeap, kSegment, kPool };

// `bytes` of memory with guard bytes on both sides; ends before its ZeroCopy.
class Memory {
 public:
  static constexpr std::size_t kGuard = 64;

  Memory(ZeroCopy& zero, Place place, std::size_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::span<std::byte> bytes() const { return all_.subspan(kGuard, all_.size() - 2 * kGuard); }
  // Byte i becomes a function of i and `salt`; anew() clears everything, guards included.
  void fill(std::uint64_t salt);
  void anew();
  // The first `count` are as fill(salt) makes them; all others, guards included, as anew() does.
  testing::AssertionResult holds(std::uint64_t salt, std::size_t count) const;

 private:
  ZeroCopy& zero_;
  const Place place_;
  std::unique_ptr<std::byte[]> heap_;
  std::span<std::byte> all_;
};

// What a callback has received.
struct Notes {
  ZeroCopyCallback callback() {
    return [this](const ZeroCopyDone& done) { all.push_back(done); };
  }
  const ZeroCopyDone& last() const { return all.back(); }

  std::vector<ZeroCopyDone> all;
};

// The infos that the processes show each other, by rank. Collective.
std::vector<ZeroCopyInfo> show(const ZeroCopyInfo& mine);

// Polls until all that this process has started is through, and all processes are here; and then
// for a while, in which nothing more may come.
void settle(ZeroCopy& zero);

// What the Error says that `call`, or polling after it, throws. "": none comes.
template <class Call>
std::string error_of(ZeroCopy& zero, Call&& call) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  try {
    call();
    zero.wait();
    while (std::chrono::steady_clock::now() < give_up) bundle().poll();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace am::zero_copy_test
