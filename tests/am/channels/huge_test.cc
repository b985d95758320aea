// A put of more than 2^31 bytes. Needs as much memory, once; skipped where there is less.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <string>

#include "tests/support/job_main.h"

namespace am {
namespace {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::rank;

constexpr std::uint64_t kBytes = (std::uint64_t{1} << 31) + 24;
constexpr std::uint64_t kWords = kBytes / 8;
// Words that are not 0: at the ends, and around 2^31.
constexpr std::array<std::uint64_t, 6> kMarked = {0, 1, 4097, kWords / 2, kWords - 4, kWords - 1};

std::uint64_t available_kilobytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t amount = 0;
  while (file >> name >> amount && name != "MemAvailable:") file.ignore(100, '\n');
  return amount;
}

// Memory that takes none until it is written.
class Source {
 public:
  Source() {
    void* const at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw Error("no room for the source");
    words_ = std::span(static_cast<std::uint64_t*>(at), kWords);
    madvise(at, kBytes, MADV_NOHUGEPAGE);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() { munmap(words_.data(), kBytes); }
  std::span<std::uint64_t> words() const { return words_; }

 private:
  std::span<std::uint64_t> words_;
};

TEST(Huge, put_arrives_whole) {
  if (job().exchange(available_kilobytes())[0] < kBytes / 1024 * 3 / 2) {
    GTEST_SKIP() << "too little memory";
  }
  const Source source;
  auto* const target = reinterpret_cast<std::uint64_t*>(job().router().segment());
  std::optional<ReceiveChannel> in;
  ChannelHandle handle;
  if (rank() == 0) {
    in.emplace(bundle(), std::as_writable_bytes(std::span(target, kWords)), [] {});
    handle = in->handle();
  }
  handle = job().exchange(handle)[0];
  if (rank() == job().size() - 1) {
    for (const std::uint64_t i : kMarked) source.words()[i] = i + 1;
    SendChannel out(bundle(), handle);
    out.associate(std::as_bytes(source.words()));
    out.put();
    bundle().wait_until([&] { return out.reusable(); });
  }
  if (rank() == 0) {
    bundle().wait_until([&] { return in->callbacks() == 1; });
    for (const std::uint64_t i : kMarked) {
      EXPECT_EQ(target[i], i + 1);
      target[i] = 0;
    }
    std::uint64_t others = 0;
    for (std::uint64_t i = 0; i < kWords; ++i) others |= target[i];
    EXPECT_EQ(others, 0u);
    EXPECT_EQ(target[kWords], 0u);
  }
  barrier();
}

}  // namespace
}  // namespace am
