// What stores, gets and bulk transfers cost by each of the ways that Split-C has been built:
//   SPLITC_WAY=messages splitcrun -n 2 ways        (or specialised, datagram, memory)
// benchmarks/ways.sh runs all four in turn and prints one table.

#include <memory>
#include <string>

#include "am/am.h"
#include "am/route/port.h"
#include "benchmarks/support/access.h"
#include "benchmarks/support/compiler.h"
#include "benchmarks/support/program.h"
#include "benchmarks/support/raw_udp.h"
#include "splitc/splitc.h"

namespace {

using bench::Bench;
using Word = std::uint64_t;

constexpr std::size_t kBulk = std::size_t{64} << 10;
constexpr int kWords = 512;
constexpr int kPlaces = 8;  // of bulk, in turn

std::shared_ptr<void> prepare(Bench& b) {
  auto meeting = std::make_shared<bench::RawUdp>(b.job, b.pair);
  if (b.job.rank() < 2 && !b.pair.near()) {
    b.pair.meet_over([udp = meeting.get()](const auto& meanwhile) { udp->meet(meanwhile); });
  }
  am::Port* const port = b.job.router().port();
  b.report.say(port == nullptr ? "shared memory" : port->link().can().description);
  return meeting;
}

splitc::global_ptr<std::byte> place(Bench& b, int i) {
  return splitc::global_ptr<std::byte>(
      bench::opaque(1u), b.pair.buffer_offset() + static_cast<std::size_t>(i % kPlaces) * kBulk);
}

bench::Samples samples(Bench& b, int reps, const bench::Pair::Contender& contender) {
  return b.pair.interleave(b.reps(reps), {contender}).front();
}

void stores(Bench& b) {
  const auto p = bench::far_words(b);
  const int n = b.count(4000);
  b.report.add_time("store", sizeof(Word), samples(b, 100, [&] {
                      return bench::until_stored(b, n, sizeof(Word), [&](int i) {
                        splitc::store(p + i % kWords, static_cast<Word>(i));
                      });
                    }));
}

void gets(Bench& b) {
  const auto p = bench::far_words(b);
  const int n = b.count(2000);
  auto local = std::make_unique<Word[]>(kWords);
  b.report.add_time("get", sizeof(Word), samples(b, 100, [&] {
                      return bench::until_synced(b, n, [&](int i) {
                        splitc::get(local[static_cast<std::size_t>(i % kWords)], p + i % kWords);
                      });
                    }));
}

void reads(Bench& b) {
  const auto p = bench::far_words(b);
  const int n = b.count(100);
  b.report.add_time("read", sizeof(Word), samples(b, 200, [&] {
                      return bench::until_synced(b, n, [&](int) { bench::keep<Word>(*p); });
                    }));
}

void bulk_stores(Bench& b) {
  const int n = b.count(64);
  b.report.add_time("bulk_store", kBulk, samples(b, 60, [&] {
                      return bench::until_stored(b, n, kBulk, [&](int i) {
                        splitc::bulk_store(place(b, i), b.pair.source(), kBulk);
                      });
                    }));
}

void bulk_gets(Bench& b) {
  const int n = b.count(64);
  b.report.add_time("bulk_get", kBulk, samples(b, 60, [&] {
                      return bench::until_synced(b, n, [&](int i) {
                        splitc::bulk_get(b.pair.source(), place(b, i), kBulk);
                      });
                    }));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program(argc, argv,
                            {.name = "ways",
                             .what = "stores and gets by the way that SPLITC_WAY says",
                             .measurements =
                                 {
                                     {"store", "8 bytes, of many", stores},
                                     {"get", "8 bytes, of many", gets},
                                     {"read", "8 bytes, one by one", reads},
                                     {"bulk_store", "64 KiB, of many", bulk_stores},
                                     {"bulk_get", "64 KiB, of many", bulk_gets},
                                 },
                             .route = "way",
                             .anywhere = true,
                             .prepare = prepare});
}
