// What processes tell one another at the start of a job: cards, and the networks that they have.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/card.h"
#include "am/types/types.h"
#include "rdma/choose.h"
#include "rdma/error.h"
#include "tests/am/fuzz/fuzz.h"

namespace am::fuzz {
namespace {

Card card(std::uint64_t node, std::int32_t pretended) {
  Card made{};
  made.version = Card::kVersion;
  made.pretended = pretended;
  made.segment_bytes = 1 << 20;
  made.node.boot[0] = static_cast<char>(node);
  made.processors[0] = 3;
  made.enrolled = 1;
  return made;
}

// Other processes, whose blobs are given.
class Others final : public Bootstrap {
 public:
  explicit Others(const Records& blobs) : blobs_(blobs) {}
  Rank rank() const override { return 0; }
  std::uint32_t size() const override { return static_cast<std::uint32_t>(blobs_.size() + 1); }
  std::string launcher() const override { return "none"; }
  std::vector<Bytes> exchange(std::span<const std::byte> mine) override {
    std::vector<Bytes> all = {{mine.begin(), mine.end()}};
    all.insert(all.end(), blobs_.begin(), blobs_.end());
    return all;
  }
  void barrier() override {}
  void finished() override {}

 private:
  void report_abort(int, std::string_view) override {}
  const Records& blobs_;
};

constexpr std::size_t kWays = 2;  // of each process

Bytes with_ways(const Card& card, std::array<std::uint64_t, kWays> ways) {
  Bytes bytes = bytes_of(ways);
  const Bytes more = bytes_of(card);
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

bool lays_out(const Records& input) {
  Others others(input);
  const std::vector<Card> cards = exchange_cards(others, card(1, -1));
  const Layout layout = lay_out(cards, 0);
  return !layout.near.empty() && layout.near[0] == 0 && layout.near.size() <= layout.here &&
         layout.here <= cards.size() && layout.node < layout.leaders.size() &&
         layout.leaders[layout.node] == 0;
}

}  // namespace

const int kUsualCases = 20'000;

// A record: which ways there are, then a card.
std::vector<Records> valid_inputs() {
  return {{with_ways(card(1, -1), {0x180000001, 0x200000002}),
           with_ways(card(2, -1), {0x200000002, 0x180000005}),
           with_ways(card(2, 1), {0x180000003, 0x200000002})}};
}

bool decode(const Records& input) {
  std::vector<std::vector<rdma::Way>> lists = {{{0x180000001}, {0x180000003}, {0x200000002}}};
  Records cards;
  for (const Bytes& record : input) {
    const auto ways = value_of<std::array<rdma::Way, kWays>>(record);
    auto& list = lists.emplace_back();
    if (record.size() >= sizeof ways) list.assign(ways.begin(), ways.end());
    const auto card = std::span(record).subspan(std::min(record.size(), sizeof ways));
    cards.emplace_back(card.begin(), card.end());
  }
  try {
    if (!lays_out(cards)) std::abort();
    rdma::common_way(lists);
  } catch (const Error&) {
    return false;
  } catch (const rdma::Error&) {
    return false;
  }
  return true;
}

}  // namespace am::fuzz
