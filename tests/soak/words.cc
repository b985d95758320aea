// Atomic operations of all processes on the same words: sums, tickets of which nobody gets the same
// one twice, chains of exchanges in which no value is lost, increments by cmp_and_swap, and
// test_and_set, which lets exactly one through.

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "splitc/splitc.h"
#include "tests/soak/families.h"

namespace soak {
namespace words {

constexpr std::string_view kName = "words";
constexpr std::uint32_t kWords = 3;    // of each kind in every process
constexpr std::uint32_t kSlots = 256;  // for tickets, of each word

enum class Op : std::uint32_t { kAdd, kAddHalf, kTicket, kExchange, kIncrement, kTestAndSet, kOps };

// The words of one process.
struct Board {
  std::uint64_t sums[kWords];
  std::uint32_t halves[kWords];
  std::uint64_t tickets[kWords];
  std::uint32_t slots[kWords][kSlots];  // who has the ticket of that number
  std::uint64_t chains[kWords];
  std::uint32_t counts[kWords];
  std::uint32_t gates[kWords];
};

struct Act {
  Op op = Op::kAdd;
  std::uint32_t who = 0;
  std::uint32_t proc = 0;
  std::uint32_t word = 0;
  std::uint64_t id = 0;
  std::uint64_t value = 0;
};

class Words : public Family {
 public:
  explicit Words(const Settings&) : boards_(splitc::procs()) {}

  void plan(const Round& round, Schedule& schedule) override;
  void verify(const Round& round) override;

 private:
  template <class M>
  auto at(const Act& act, M Board::*field) const {
    using Word = std::remove_extent_t<M>;
    const auto all = boards_.on(act.proc).member(field);
    return splitc::global_ptr<Word>(all) + act.word;
  }
  bool attempt(const Act& act);
  void draw_ticket(const Act& act) const;
  bool increment(const Act& act);
  void expect_all(const Round& round, Random random) const;
  void expect(const Round& round, const char* what, std::uint32_t word, std::uint64_t is,
              std::uint64_t should) const;

  const Round* round_ = nullptr;
  splitc::spread_array<Board> boards_;
  std::vector<Act> acts_;                   // of this round, of all
  std::vector<std::uint32_t> guesses_;      // by word of all processes, for cmp_and_swap
  std::vector<std::uint64_t> exchanged_;    // by the same: the xor of all given and taken
  std::vector<std::uint64_t> let_through_;  // by the same
};

void Words::draw_ticket(const Act& act) const {
  const std::uint64_t ticket = splitc::fetch_and_add(at(act, &Board::tickets), 1);
  if (ticket >= kSlots) round_->fail(kName, act.id, "ticket " + std::to_string(ticket));
  const splitc::global_ptr<std::uint32_t> slots(boards_.on(act.proc).member(&Board::slots));
  const auto slot = slots + static_cast<std::ptrdiff_t>(act.word * kSlots + ticket);
  const std::uint32_t before = splitc::exchange(slot, round_->me() + 1);
  if (before == 0) return;
  round_->fail(kName, act.id,
               "ticket " + std::to_string(ticket) + " was process " + std::to_string(before - 1) +
                   "'s already");
}

// One attempt, with what the last one saw.
bool Words::increment(const Act& act) {
  std::uint32_t& guess = guesses_[act.proc * kWords + act.word];
  const std::uint32_t before = splitc::cmp_and_swap(at(act, &Board::counts), guess, guess + 1);
  const bool done = before == guess;
  guess = done ? guess + 1 : before;
  return done;
}

bool Words::attempt(const Act& act) {
  const std::uint32_t index = act.proc * kWords + act.word;
  switch (act.op) {
    case Op::kAdd: splitc::fetch_and_add(at(act, &Board::sums), act.value); return true;
    case Op::kAddHalf:
      splitc::fetch_and_add(at(act, &Board::halves), static_cast<std::uint32_t>(act.value));
      return true;
    case Op::kTicket: draw_ticket(act); return true;
    case Op::kExchange:
      exchanged_[index] ^= act.value ^ splitc::exchange(at(act, &Board::chains), act.value);
      return true;
    case Op::kIncrement: return increment(act);
    default: let_through_[index] += splitc::test_and_set(at(act, &Board::gates)) == 0; return true;
  }
}

void Words::plan(const Round& round, Schedule& schedule) {
  round_ = &round;
  boards_.mine()[0] = Board{};
  acts_.clear();
  guesses_.assign(round.procs() * kWords, 0);
  exchanged_.assign(round.procs() * kWords, 0);
  let_through_.assign(round.procs() * kWords, 0);
  Random random = round.for_all(kName);
  const std::uint32_t count = round.operations(random) * round.procs();
  std::vector<std::uint32_t> tickets(round.procs() * kWords);
  for (std::uint64_t id = 0; id < count; ++id) {
    Act act{static_cast<Op>(random.below(static_cast<std::uint32_t>(Op::kOps))),
            random.below(round.procs()),
            random.below(round.procs()),
            random.below(kWords),
            id,
            random.next()};
    if (act.op == Op::kTicket && tickets[act.proc * kWords + act.word]++ >= kSlots) continue;
    acts_.push_back(act);
  }
  for (const Act& act : acts_) {
    if (act.who == round.me()) schedule.add(kName, act.id, [this, &act] { return attempt(act); });
  }
}

void Words::expect(const Round& round, const char* what, std::uint32_t word, std::uint64_t is,
                   std::uint64_t should) const {
  if (is == should) return;
  round.fail(kName, word,
             std::string(what) + " of this number is " + std::to_string(is) + ", and should be " +
                 std::to_string(should));
}

void Words::verify(const Round& round) {
  std::array<std::uint64_t, kWords> sums{};
  std::array<std::uint32_t, kWords> halves{};
  std::array<std::array<std::uint64_t, kWords>, static_cast<std::size_t>(Op::kOps)> counts{};
  for (const Act& act : acts_) {
    if (act.proc != round.me()) continue;
    ++counts[static_cast<std::size_t>(act.op)][act.word];
    if (act.op == Op::kAdd) sums[act.word] += act.value;
    if (act.op == Op::kAddHalf) halves[act.word] += static_cast<std::uint32_t>(act.value);
  }
  const auto total = [&](const std::vector<std::uint64_t>& own, auto op) {
    std::vector<std::uint64_t> all(own.size() * round.procs());
    splitc::all_gather(std::span(own), std::span(all));
    std::vector<std::uint64_t> result(own.size());
    for (std::size_t i = 0; i < all.size(); ++i) op(result[i % own.size()], all[i]);
    return result;
  };
  const auto exchanged = total(exchanged_, [](std::uint64_t& a, std::uint64_t b) { a ^= b; });
  const auto let_through = total(let_through_, [](std::uint64_t& a, std::uint64_t b) { a += b; });
  const auto count = [&](Op op, std::uint32_t word) {
    return counts[static_cast<std::size_t>(op)][word];
  };
  const Board& board = boards_.mine()[0];
  for (std::uint32_t word = 0; word < kWords; ++word) {
    const std::uint32_t index = round.me() * kWords + word;
    expect(round, "the sum", word, board.sums[word], sums[word]);
    expect(round, "the sum of 4 bytes", word, board.halves[word], halves[word]);
    expect(round, "the ticket counter", word, board.tickets[word], count(Op::kTicket, word));
    expect(round, "the chain of exchanges", word, board.chains[word], exchanged[index]);
    expect(round, "the count", word, board.counts[word], count(Op::kIncrement, word));
    const bool tried = count(Op::kTestAndSet, word) != 0;
    expect(round, "the gate", word, board.gates[word], tried);
    expect(round, "how many passed the gate", word, let_through[index], tried);
  }
}

}  // namespace words

std::unique_ptr<Family> make_words(const Settings& settings) {
  return std::make_unique<words::Words>(settings);
}

}  // namespace soak
