#include "am/am.h"
#include "benchmarks/channel_pingpong.h"
#include "benchmarks/support/clock.h"
#include "splitc/splitc.h"

namespace channel_pingpong {
namespace {

using bench::Bench;

// The receiver waits for the number of bytes; no handler runs.
double stores(Bench& b, std::size_t bytes, int times) {
  const splitc::global_ptr<std::byte> there(b.pair.other(), b.pair.buffer_offset());
  const auto send = [&] { splitc::bulk_store(there, b.pair.source(), bytes); };
  const bench::Stopwatch watch;
  for (int i = 0; i < times; ++i) {
    if (b.pair.first()) send();
    splitc::store_sync(bytes);
    if (!b.pair.first()) send();
  }
  return watch.ns() / times;
}

}  // namespace

void add_raw(std::vector<Way>& ways, Bench& b, std::size_t bytes) {
  if (!b.pair.near()) {
    ways.push_back(
        {"raw", [&b, bytes](int n) { return b.raw_network->write_data_round_trip(bytes, n); }});
    return;
  }
  ways.push_back({"raw", [&b, bytes](int n) { return b.raw.payload(bytes, n); }});
  ways.push_back({"raw_one_line", [&b, bytes](int n) { return b.raw.payload_one_line(bytes, n); }});
}

void add_messages(std::vector<Way>& ways, Bench& b, std::size_t bytes) {
  ways.push_back({"message", [&b, bytes](int n) {
                    return bytes <= am::max_medium() ? b.messages.medium_round_trip(bytes, n)
                                                     : b.messages.long_round_trip(bytes, n);
                  }});
}

void add_stores(std::vector<Way>& ways, Bench& b, std::size_t bytes) {
  ways.push_back({"bulk_store", [&b, bytes](int n) { return stores(b, bytes, n); }});
}

}  // namespace channel_pingpong
