// A random permutation, by darts: each number is thrown at a random slot of a board of twice as
// many, until it hits one that is empty. Then the numbers are in the order of their slots.
#include <functional>
#include <utility>

#include "examples/bale/input.h"
#include "examples/bale/kernel.h"

namespace bale {
namespace {

using namespace splitc;

constexpr std::uint32_t kEmpty = UINT32_MAX;

struct Dart {
  std::uint32_t number;
  std::uint32_t throws;  // so far
};

class RandomPermutation final : public Kernel {
 public:
  explicit RandomPermutation(const Problem& problem)
      : seed_(problem.seed), board_(2 * std::size_t{problem.all()}), order_(problem.all()) {}

  std::uint64_t updates() const override { return order_.size(); }

  void run(const Way& way) override {
    std::ranges::fill(board_.mine(), kEmpty);
    std::vector<Dart> darts;
    for (std::uint32_t mine = 0; mine < order_.mine().size(); ++mine) {
      darts.push_back({global(mine), 0});
    }
    barrier();
    if (way.style == Style::kPlain) {
      throw_plainly(std::move(darts));
      return list_plainly();
    }
    throw_by_senders(way, std::move(darts));
    list_by_senders(way);
  }

  // Each number is there once. Their order depends on which process throws first.
  Verdict check() override {
    spread_array<std::uint32_t> times(order_.size());
    for (std::uint32_t& number : order_.mine()) {
      if (number < order_.size()) fetch_and_add(times.pointer(number), 1u);
      number = kEmpty;
    }
    barrier();
    std::uint64_t wrong = 0;
    for (const std::uint32_t count : times.mine()) wrong += count != 1 ? 1u : 0u;
    return {all_reduce(wrong, std::plus()), order_.size()};
  }

 private:
  // The slot that its next throw hits.
  std::uint32_t aim(Dart& dart) const {
    const std::uint64_t at = (std::uint64_t{dart.throws++} << 32) + dart.number;
    return below(mix_bits(seed_ ^ at), static_cast<std::uint32_t>(board_.size()));
  }

  void throw_plainly(std::vector<Dart> darts) {
    std::vector<std::uint32_t> before(kAhead);
    std::vector<Dart> missed;
    for (std::size_t first = 0; first < darts.size();) {
      const std::size_t count = std::min(kAhead, darts.size() - first);
      for (std::size_t i = 0; i < count; ++i) {
        Dart& dart = darts[first + i];
        start_cmp_and_swap(before[i], board_.pointer(aim(dart)), kEmpty, dart.number);
      }
      sync();
      // Those that missed are thrown behind the others.
      for (std::size_t i = 0; i < count; ++i) {
        if (before[i] != kEmpty) missed.push_back(darts[first + i]);
      }
      darts.insert(darts.end(), missed.begin(), missed.end());
      missed.clear();
      first += count;
    }
    barrier();
  }

  // Darts that miss are thrown again by the process whose slot they missed.
  struct Board {
    std::span<std::uint32_t> slots;
    std::vector<Dart> missed;
  };
  struct Throw {
    Dart dart;
    std::uint32_t local_slot;
  };
  void throw_by_senders(const Way& way, std::vector<Dart> darts) {
    dist_object<Board> board(Board{board_.mine(), {}});
    const auto hit = [](Board& mine, const Throw& one) {
      std::uint32_t& slot = mine.slots[one.local_slot];
      if (slot != kEmpty) return mine.missed.push_back(one.dart);
      slot = one.dart.number;
    };
    with_sender<Throw>(way, board, hit, [&](auto& sender) {
      while (all_reduce(darts.size(), std::plus()) != 0) {
        for (Dart& dart : darts) {
          const std::uint32_t slot = aim(dart);
          sender.send(owner(slot), {dart, local(slot)});
        }
        sender.flush_all();
        darts = std::exchange(board->missed, {});
      }
    });
  }

  // Calls f(place, number) for the numbers on this process's part of the board.
  template <class F>
  void for_each_hit(F&& f) const {
    std::uint32_t hits = 0;
    for (const std::uint32_t number : board_.mine()) hits += number != kEmpty ? 1u : 0u;
    std::uint32_t next = all_scan(hits, std::plus()) - hits;
    for (const std::uint32_t number : board_.mine()) {
      if (number != kEmpty) f(next++, number);
    }
  }
  void list_plainly() {
    for_each_hit([&](std::uint32_t at, std::uint32_t number) { put(order_.pointer(at), number); });
    sync();
    barrier();
  }
  struct Listed {
    std::uint32_t local_place;
    std::uint32_t number;
  };
  void list_by_senders(const Way& way) {
    dist_object<Part<std::uint32_t>> parts(Part<std::uint32_t>{order_.mine()});
    const auto list = [](Part<std::uint32_t>& part, const Listed& one) {
      part.mine[one.local_place] = one.number;
    };
    with_sender<Listed>(way, parts, list, [&](auto& sender) {
      for_each_hit([&](std::uint32_t at, std::uint32_t number) {
        sender.send(owner(at), {local(at), number});
      });
      sender.flush_all();
    });
  }

  std::uint64_t seed_;
  spread_array<std::uint32_t> board_;
  spread_array<std::uint32_t> order_;
};

}  // namespace

std::unique_ptr<Kernel> make_random_permutation(const Problem& problem) {
  return std::make_unique<RandomPermutation>(problem);
}

}  // namespace bale
