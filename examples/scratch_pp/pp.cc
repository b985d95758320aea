#include <chrono>
#include <cstdio>
#include <vector>
#include <cstring>
#include <algorithm>
#include "am/am.h"
#include "shmem/arrivals.h"
using namespace am;
template <class F> double best(F f, int n) { double b = 1e18; for (int r = 0; r < 30; ++r) { auto t = std::chrono::steady_clock::now(); for (int i = 0; i < n; ++i) f(); double d = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - t).count() / n; b = std::min(b, d);} return b; }
int main() {
  Job job; Bundle bundle(job);
  const Rank me = job.rank(), other = 1 - me;
  std::byte* seg = job.router().segment();
  std::byte* peer = job.router().peer(other).segment;
  auto& mine = job.router().self().header->puts;
  auto& theirs = job.router().peer(other).header->puts;
  // layer 0: raw word of arrival line
  {
    auto& in = mine.lines[100].seats[0]; auto& out = theirs.lines[100].seats[0];
    std::uint64_t n = 0;
    auto put = [&] { std::memcpy(peer + 4096*64, seg + 4096*80, 100); out.store(n, std::memory_order_release); };
    auto wait = [&] { Ladder::leave_line(); while (in.load(std::memory_order_acquire) != n) Ladder::pause(); };
    double t = best([&] { ++n; if (me == 0) { put(); wait(); } else { wait(); put(); } }, 2000);
    if (me == 0) std::printf("raw word + 100 B            %6.0f\n", t);
  }
  job.barrier(bundle);
  {
    shmem::Fence fence = job.router().fence();
    shmem::ArrivalSeats seats(theirs); auto seat = seats.take();
    shmem::Arrivals arr(mine, fence); std::uint32_t n = 0, got = 0;
    auto put = [&] { std::memcpy(peer + 4096*64, seg + 4096*80, 100); seat.tell({1, 1, n}, fence); };
    auto wait = [&] { Ladder::leave_line(); while (got != n) { arr.poll([&](shmem::Arrival a) { got = a.count; }); if (got != n) Ladder::pause(); } };
    double t = best([&] { ++n; if (me == 0) { put(); wait(); } else { wait(); put(); } }, 2000);
    if (me == 0) std::printf("Arrivals + 100 B            %6.0f\n", t);
    auto put2 = [&] { put(); job.router().notify(other); };
    t = best([&] { ++n; if (me == 0) { put2(); wait(); } else { wait(); put2(); } }, 2000);
    if (me == 0) std::printf("Arrivals + notify           %6.0f\n", t);
  }
  job.barrier(bundle);
  for (int bytes : {8, 100, 1000}) {
    std::uint64_t arrived = 0, n = 0;
    ReceiveChannel in(bundle, {seg + 4096 * 64, (size_t)bytes}, [&] { ++arrived; });
    auto handles = job.exchange(in.handle());
    SendChannel out(bundle, handles[other]);
    out.associate({seg + 4096 * 80, (size_t)bytes});
    auto wait = [&] { bundle.wait_until([&] { return arrived == n; }); in.ready(); };
    double t = best([&] { ++n; if (me == 0) { out.put(); wait(); } else { wait(); out.put(); } }, 2000);
    if (me == 0) std::printf("channel %5d               %6.0f\n", bytes, t);
    job.barrier(bundle);
    t = best([&] { bundle.poll(); }, 3000);
    if (me == 0) std::printf("poll with active line       %6.1f\n", t);
    job.barrier(bundle);
  }
  job.finish(bundle);
}
