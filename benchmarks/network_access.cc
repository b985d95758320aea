#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/network.h"
#include "benchmarks/support/access.h"
#include "benchmarks/support/compiler.h"
#include "splitc/splitc.h"

namespace network {
namespace {

using bench::Bench;
using Word = std::uint64_t;
using Done = bench::RawNetwork::Done;

constexpr std::size_t kPlaces = 8;  // written in turn, as buffers of a stream are
constexpr int kWords = 512;

void bulk_of(Bench& b, std::size_t bytes) {
  const int n = b.count(static_cast<int>(std::clamp<std::size_t>((8u << 20) / bytes, 8, 4000)));
  std::byte* const local = b.pair.source();
  const splitc::global_ptr<std::byte> far(1u, b.pair.buffer_offset());
  const auto at = [=](int i) {
    return far + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) % kPlaces * bytes);
  };
  const Kind kind = bytes < 4096 ? Kind::kRate : Kind::kBandwidth;
  beside(
      b, {"bulk_get", bytes, kind}, 80,
      [&] {
        return bench::until_synced(b, n, [&](int i) { splitc::bulk_get(local, at(i), bytes); });
      },
      "fi_read", [&] { return b.raw_network->stream_read(bytes, n, kPlaces); });
  beside(
      b, {"bulk_put", bytes, kind}, 80,
      [&] {
        return bench::until_synced(b, n, [&](int i) { splitc::bulk_put(at(i), local, bytes); });
      },
      "fi_write, delivered",
      [&] { return b.raw_network->stream_write(bytes, n, kPlaces, Done::kDelivered); });
}

// Each waited for.
template <class Start>
double waited_for(Bench& b, int count, Start&& start) {
  return bench::until_synced(b, count, [&](int) {
    start();
    splitc::sync();
  });
}

double stores_of(Bench& b, int count) {
  const auto p = bench::far_words(b);
  return bench::until_stored(b, count, sizeof(Word),
                             [&](int i) { splitc::store(p + i % kWords, static_cast<Word>(i)); });
}

}  // namespace

void reads_and_writes(Bench& b) {
  const auto p = bench::far_words(b);
  const int n = b.count(50);
  beside(
      b, {"read_*p", 8}, 400,
      [&] { return bench::until_synced(b, n, [&](int) { bench::keep<Word>(*p); }); }, "fi_read",
      [&] { return b.raw_network->read(8, n); });
  beside(
      b, {"write_*p", 8}, 400,
      [&] { return bench::until_synced(b, n, [&](int i) { *p = static_cast<Word>(i); }); },
      "fi_write, delivered", [&] { return b.raw_network->write(8, n, Done::kDelivered); });
  beside(
      b, {"write_*p_unconfirmed", 8}, 400,
      [&] { return bench::until_synced(b, n, [&](int i) { *p = static_cast<Word>(i); }); },
      "fi_write", [&] { return b.raw_network->write(8, n, Done::kLocal); });
}

void atomics(Bench& b) {
  const auto p = bench::far_words(b);
  const int n = b.count(50);
  beside(
      b, {"fetch_and_add", 8}, 300,
      [&] {
        return bench::until_synced(b, n, [&](int) { bench::keep(splitc::fetch_and_add(p, 1)); });
      },
      "fi_send, fi_recv", [&] { return b.raw_network->round_trip(8, n); });
}

void bulk(Bench& b) {
  std::vector<std::size_t> sizes{8, 4u << 10, 64u << 10, 1u << 20, 4u << 20};
  if (b.options.full)
    sizes = {8, 64, 512, 4u << 10, 16u << 10, 64u << 10, 256u << 10, 1u << 20, 4u << 20};
  for (const std::size_t bytes : sizes) bulk_of(b, bytes);
}

// A thousand words of rank 1 that lie apart, beside as many that do not.
void apart(Bench& b) {
  constexpr std::uint32_t kApart = 64;  // words from one to the next: a column of a matrix
  constexpr std::uint32_t kCount = 1000;
  constexpr std::size_t kBytes = kCount * sizeof(Word);
  const splitc::strided column{.rows = kCount, .row_stride = kApart};
  const splitc::global_ptr<Word> far = bench::far_words(b);
  const std::span<Word> local(reinterpret_cast<Word*>(b.pair.source()), kCount);
  std::vector<std::uint32_t> indices(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) indices[i] = i * 7919 % kCount * kApart;
  const int n = b.count(50);
  const auto get = [&] { return waited_for(b, n, [&] { splitc::bulk_get(local, far); }); };
  const auto put = [&] { return waited_for(b, n, [&] { splitc::bulk_put(far, local); }); };
  const auto beside_bulk = [&](const char* name, auto&& start, const char* bulk, auto&& whole) {
    beside(
        b, {name, kBytes}, 200, [&] { return waited_for(b, n, start); }, bulk, whole);
  };
  beside_bulk(
      "get_strided", [&] { splitc::get_strided(local, far, column); }, "bulk_get", get);
  beside_bulk(
      "get_indexed", [&] { splitc::get_indexed(local, far, std::span(indices)); }, "bulk_get", get);
  beside_bulk(
      "put_strided", [&] { splitc::put_strided(far, column, local); }, "bulk_put", put);
  beside_bulk(
      "put_indexed", [&] { splitc::put_indexed(far, std::span(indices), local); }, "bulk_put", put);
}

void stores(Bench& b) {
  const int n = b.count(20'000);
  beside(
      b, {"store", 8, Kind::kRate}, 30, [&] { return stores_of(b, n); }, "fi_inject_write",
      [&] { return b.raw_network->inject_writes(n); });
}

}  // namespace network
