#include "tests/am/job/large_job.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <random>
#include <span>
#include <string>

#include "am/am.h"
#include "am/job/bootstrap/bootstrap.h"
#include "am/job/card.h"
#include "am/job/config/config.h"
#include "am/job/config/out_of_band.h"
#include "am/link/card.h"

namespace am::test {
namespace {

constexpr std::uint32_t kMostNear = 8;
constexpr std::size_t kRecord = sizeof(std::uint32_t) + Bootstrap::kMaxBlob;

// As the link's.
struct LinkCard {
  static constexpr std::uint32_t kMagic = 0x6b6e696c;

  std::uint32_t magic;
  std::uint32_t address_bytes;
  std::uint64_t token;
  std::uint64_t base;
  std::uint64_t key;
  std::uint32_t unused;
  std::uint32_t check;
};

// Between the processes that exist.
struct Shared {
  pthread_barrier_t barrier;
  std::array<std::array<std::byte, kRecord>, kMostNear> records;
  std::array<Used, kMostNear> used;
};

template <class T>
T at(std::span<const std::byte> bytes, std::size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size())
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
void put(std::span<std::byte> bytes, std::size_t offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

class Pretence {
 public:
  Pretence(Shared& shared, std::uint32_t near) : shared_(shared), near_(near) {}

  OutOfBand others(Rank rank, std::uint32_t size) {
    return {.name = "a pretended runtime",
            .rank = rank,
            .size = size,
            .allgather =
                [this, rank, size](const void* mine, std::size_t bytes, void* all) {
                  std::memcpy(shared_.records[rank].data(), mine, bytes);
                  meet();
                  for (Rank other = 0; other < size; ++other) {
                    auto* const to = static_cast<std::byte*>(all) + other * bytes;
                    std::memcpy(to, shared_.records[other % near_].data(), bytes);
                    if (other >= near_) make_up(other, {to, bytes});
                  }
                  meet();
                  ++exchanges_;
                },
            .barrier = [this] { meet(); },
            .release = [] {},
            .abort = {}};
  }
  void meet() { pthread_barrier_wait(&shared_.barrier); }

 private:
  // The same in all processes.
  void make_up(Rank rank, std::span<std::byte> record) {
    std::mt19937_64 random(std::uint64_t{rank} << 32 | exchanges_);
    const std::span<std::byte> blob =
        record.subspan(sizeof(std::uint32_t), at<std::uint32_t>(record, 0));
    constexpr std::size_t kOffer = sizeof(shmem::Region::Address);
    if (blob.size() == sizeof(Card)) {
      put(blob, offsetof(Card, pretended), static_cast<std::int32_t>(1 + rank / near_));
    } else if (at<std::uint32_t>(blob, kOffer) == LinkCard::kMagic) {
      make_up_link(rank, blob.subspan(kOffer), random);
    } else if (exchanges_ > kExchangesOfStart) {
      Name name = at<Name>(blob, 0);
      name.rank = rank;
      name.mailbox.pid = static_cast<std::int32_t>(random() % 4'000'000);
      name.mailbox.inode = random() % 1'000'000;
      put(blob, 0, name);
    }
  }

  // On hosts of one network: tokens are random, segments somewhere.
  static void make_up_link(Rank rank, std::span<std::byte> blob, std::mt19937_64& random) {
    auto card = at<LinkCard>(blob, 0);
    const std::span<std::byte> address = blob.subspan(sizeof card);
    card.token = random();
    if (card.base != 0) card.base = (random() & 0xff'ffff'f000) | 0x7f00'0000'0000;
    put(address, 2, static_cast<std::uint16_t>(random()));
    put(address, 5,
        std::array<std::uint8_t, 3>{static_cast<std::uint8_t>(rank >> 16),
                                    static_cast<std::uint8_t>(rank >> 8),
                                    static_cast<std::uint8_t>(rank)});
    card.check = 0;
    card.check = link::checksum(std::as_bytes(std::span(&card, 1)), address);
    put(blob, 0, card);
  }

  static constexpr std::uint32_t kExchangesOfStart = 2;  // cards, networks; then those of links

  Shared& shared_;
  const std::uint32_t near_;
  std::uint32_t exchanges_ = 0;
};

std::uint64_t kilobytes(const std::string& file, const std::string& line) {
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    std::uint64_t number = 0;
    if (word == line && in >> number) return number;
  }
  return 0;
}

Used now() {
  malloc_trim(0);  // what only the start needed
  const std::string file = "/proc/self/smaps_rollup";
  return {1024 * kilobytes(file, "Pss_Anon:"), 1024 * kilobytes(file, "Pss_Shmem:")};
}

void run(Shared& shared, Rank rank, std::uint32_t size, std::uint32_t near) {
  Pretence pretence(shared, near);
  Config config = read_config();
  config.segment_bytes = std::uint64_t{4} << 20;
  config.out_of_band = pretence.others(rank, size);
  const Used before = now();
  Job job(config);
  Bundle bundle(job);
  Endpoint endpoint(bundle);
  job.connect(endpoint);
  pretence.meet();
  const Used after = now();
  shared.used[rank] = {after.own - before.own, after.shared - before.shared};
  pretence.meet();  // so that shared pages have as many users for all
  if (endpoint.translation_name(size - 1).rank != size - 1) _exit(2);
  _exit(0);  // the others will not come to an end
}

// Those that this process has started and not waited for.
void kill_children(const std::vector<pid_t>& children) {
  for (const pid_t child : children) kill(child, SIGKILL);
}

// Whether all have ended well. If one has not, the others would wait for it for ever.
bool wait_for(std::vector<pid_t> children) {
  bool well = true;
  while (!children.empty()) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended < 0) return false;  // none is left
    if (std::erase(children, ended) == 0 || status == 0) continue;
    well = false;
    kill_children(children);
  }
  return well;
}

}  // namespace

std::vector<Used> memory_of_job(std::uint32_t size, std::uint32_t near) {
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& shared = *new (memory) Shared{};
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared.barrier, &attributes, near);
  std::vector<pid_t> children;
  for (Rank rank = 0; rank < near; ++rank) {
    const pid_t child = fork();
    if (child > 0) children.push_back(child);
    if (child < 0) {  // never among the children: kill(-1) is everybody
      kill_children(children);
      throw Error("no process for the pretended job");
    }
    if (child != 0) continue;
    try {
      run(shared, rank, size, near);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(1);
  }
  const bool failed = !wait_for(children);
  std::vector<Used> used(shared.used.begin(), shared.used.begin() + near);
  munmap(memory, sizeof(Shared));
  if (failed) throw Error("a process of the pretended job has failed");
  return used;
}

}  // namespace am::test
