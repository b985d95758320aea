// Performs the schedules of all members of a team in one process, in an order that is drawn: values
// are not numbers but say where they come from, so that nothing that is lost, doubled, or combined
// in the wrong order can look right. Of what is published much is read where it lies, or was copied
// when it was published, as is drawn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "am/collective/schedule.h"

namespace schedule_test {

using am::schedule::Buffer;
using am::schedule::Range;
using am::schedule::Schedule;
using am::schedule::Step;

// Stands for one byte: that at place `at` of what some members gave, combined in that order.
// Nobody: it has not been written.
struct Value {
  std::string members;  // a letter each
  std::uint64_t at = 0;

  bool operator==(const Value&) const = default;
};
inline void PrintTo(const Value& value, std::ostream* out) {
  *out << '"' << value.members << "\" at " << value.at;
}
using Values = std::vector<Value>;

class Team {
 public:
  // Of each member its schedule, its input, and how much output it expects. `waits`: a send ends
  // only when it has been received.
  Team(std::vector<Schedule> schedules, std::vector<Values> inputs,
       std::vector<std::size_t> outputs, bool in_place, bool waits, std::uint64_t seed)
      : waits_(waits), random_(seed) {
    for (std::size_t i = 0; i < schedules.size(); ++i) {
      Performer& one = all_.emplace_back();
      one.schedule = std::move(schedules[i]);
      one.input = std::move(inputs[i]);
      one.output = in_place ? one.input : Values(outputs[i]);
      one.scratch.resize(one.schedule.scratch_bytes());
      one.in_place = in_place;
    }
  }

  // What is wrong; "" if all have come to their end and nothing is left over.
  std::string perform() {
    for (std::size_t in_vain = 0; in_vain < 64 * all_.size();) {
      const auto who = static_cast<std::uint32_t>(random_() % all_.size());
      in_vain = advance(who) ? 0 : in_vain + 1;
      if (!wrong_.empty()) return wrong_;
    }
    for (std::size_t who = 0; who < all_.size(); ++who) {
      if (all_[who].round != all_[who].schedule.rounds()) {
        return "member " + std::to_string(who) + " waits for ever in round " +
               std::to_string(all_[who].round);
      }
    }
    for (const auto& [ends, letters] : under_way_) {
      if (!letters.empty()) return "a message to " + std::to_string(ends.second) + " is left over";
    }
    for (std::uint32_t who = 0; who < all_.size(); ++who) {
      if (waits_for_ever(who)) return "a member for which an item is published does not read it";
    }
    if (publishers_differ()) return "an item has more or fewer publishers than it says";
    return items_differ() ? "members of a node publish different items" : "";
  }

  const Values& output(std::size_t who) const { return all_[who].output; }
  // Else all are on one.
  void set_nodes(std::vector<std::uint64_t> node_of) { node_of_ = std::move(node_of); }

 private:
  struct Item {
    std::uint32_t reader;
    Range from;
    bool is_copied = false;
    Values copy = {};
  };
  struct Performer {
    Schedule schedule;
    Values input, output, scratch;
    bool in_place = false;
    std::size_t round = 0;
    std::vector<bool> done;  // messages and reads of this round; empty: they have not begun
    std::map<std::uint8_t, Item> items;  // that it has published
  };
  struct Letter {
    std::uint64_t number;
    Range from;
    bool taken = false;
  };

  Values& buffer(Performer& one, Buffer which) {
    if (which == Buffer::kScratch) return one.scratch;
    return which == Buffer::kOutput || one.in_place ? one.output : one.input;
  }
  bool outside(Performer& one, const Range& range) {
    if (range.offset + range.bytes <= buffer(one, range.buffer).size()) return false;
    wrong_ = "bytes outside a buffer";
    return true;
  }
  Values read(Performer& one, const Range& range) {
    if (range.bytes == 0 || outside(one, range)) return {};
    const Values& all = buffer(one, range.buffer);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(range.offset);
    Values some(begin, begin + static_cast<std::ptrdiff_t>(range.bytes));
    for (const Value& value : some) {
      if (value.members.empty()) wrong_ = "bytes are used that nobody has written";
    }
    return some;
  }
  void write(Performer& one, const Range& range, const Values& values) {
    if (range.bytes != values.size()) {
      wrong_ = "a receive of " + std::to_string(range.bytes) + " bytes gets " +
               std::to_string(values.size());
      return;
    }
    if (range.bytes == 0 || outside(one, range)) return;
    if (range.buffer == Buffer::kInput) wrong_ = "the input is written to";
    for (std::size_t i = 0; i < values.size(); ++i) {
      buffer(one, range.buffer)[range.offset + i] = values[i];
    }
  }

  bool is_near(std::uint32_t a, std::uint32_t b) const {
    return node_of_.empty() || node_of_[a] == node_of_[b];
  }
  // Whether as many members of each node publish an item as is said.
  bool publishers_differ() const {
    for (std::uint32_t who = 0; who < all_.size(); ++who) {
      const auto items = all_[who].schedule.items();
      for (std::uint8_t item = 0; item < items.size(); ++item) {
        std::uint32_t count = 0;
        for (std::uint32_t other = 0; other < all_.size(); ++other) {
          if (is_near(who, other) && all_[other].items.contains(item)) ++count;
        }
        if (items[item].publishers != 0 && items[item].publishers != count) return true;
      }
    }
    return false;
  }
  // Whether somebody for whom a member waits, until what is not copied has been read, reads nothing
  // of that item.
  bool waits_for_ever(std::uint32_t who) const {
    for (const auto& [number, item] : all_[who].items) {
      if (all_[who].schedule.items()[number].most <= Schedule::kCopied) continue;
      for (std::uint32_t other = 0; other < all_.size(); ++other) {
        const bool is_for_it =
            item.reader == am::schedule::kAllMembers ? is_near(who, other) : item.reader == other;
        if (other != who && is_for_it && !reads(other, number)) return true;
      }
    }
    return false;
  }
  bool reads(std::uint32_t who, std::uint8_t item) const {
    const Schedule& schedule = all_[who].schedule;
    for (std::size_t round = 0; round < schedule.rounds(); ++round) {
      for (const Step& step : schedule.round(round)) {
        if (step.is_read() && step.item == item) return true;
      }
    }
    return false;
  }
  bool items_differ() const {
    for (std::uint32_t a = 0; a < all_.size(); ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        const auto mine = all_[a].schedule.items(), theirs = all_[b].schedule.items();
        if (is_near(a, b) && !std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end())) {
          return true;
        }
      }
    }
    return false;
  }

  // One thing that member `who` can do, if there is any.
  bool advance(std::uint32_t who) {
    Performer& one = all_[who];
    if (one.round == one.schedule.rounds()) return false;
    const auto steps = one.schedule.round(one.round);
    if (one.done.empty()) return begin(who, one);
    const std::size_t first = random_() % steps.size();
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const std::size_t i = (first + k) % steps.size();
      if (!one.done[i] && try_end(who, one, i)) return true;
    }
    for (const bool done : one.done) {
      if (!done) return false;
    }
    for (const Step& step : steps) perform_here(one, step);
    one.done.clear();
    ++one.round;
    return true;
  }

  bool begin(std::uint32_t who, Performer& one) {
    one.done.resize(one.schedule.round(one.round).size());
    for (std::size_t i = 0; i < one.done.size(); ++i) {
      const Step& step = one.schedule.round(one.round)[i];
      one.done[i] = !step.is_message() && !step.is_read();
      if (step.kind == Step::Kind::kPublish) publish(one, step);
      if (step.kind != Step::Kind::kSend) continue;
      if (step.peer >= all_.size() || step.peer == who) wrong_ = "a send to nobody, or to itself";
      under_way_[{who, step.peer}].push_back({step_number(one, i), step.from});
    }
    return true;
  }
  void publish(Performer& one, const Step& step) {
    if (step.item >= one.schedule.items().size() || one.items.contains(step.item) ||
        step.from.bytes > one.schedule.items()[step.item].most) {
      wrong_ = "an item that there is not, or that is published already, or too large";
      return;
    }
    const bool few = one.schedule.items()[step.item].most <= Schedule::kCopied;
    Item& item = one.items[step.item] = {step.peer, step.from, few || random_() % 2 == 0};
    if (item.is_copied) item.copy = read(one, step.from);
  }
  bool try_read(std::uint32_t who, Performer& one, const Step& step) {
    if (!is_near(who, step.peer)) wrong_ = "a read from another node";
    Performer& peer = all_[step.peer];
    const auto found = peer.items.find(step.item);
    if (found == peer.items.end()) return false;
    const Item& item = found->second;
    if (item.reader != am::schedule::kAllMembers && item.reader != who && who != step.peer) {
      wrong_ = "a read of what is for another member";
    }
    if (step.from.offset + step.from.bytes > item.from.bytes) wrong_ = "a read beyond an item";
    if (!wrong_.empty() || step.to.bytes == 0) return true;
    Values bytes;
    if (item.is_copied) {
      const auto begin = item.copy.begin() + static_cast<std::ptrdiff_t>(step.from.offset);
      bytes.assign(begin, begin + static_cast<std::ptrdiff_t>(step.from.bytes));
    } else {
      bytes = read(peer, item.from.part(step.from.offset, step.from.bytes));
    }
    if (step.kind == Step::Kind::kRead) {
      write(one, step.to, bytes);
    } else {
      combine(one, step.to, bytes, false);
    }
    return true;
  }

  static std::uint64_t step_number(const Performer& one, std::size_t step) {
    return one.round << 32 | step;
  }

  // The bytes are read when they arrive: who changes them before that is caught.
  bool try_end(std::uint32_t who, Performer& one, std::size_t i) {
    const Step& step = one.schedule.round(one.round)[i];
    if (step.is_read()) {
      for (std::size_t k = 0; k < i; ++k) {
        if (one.schedule.round(one.round)[k].is_read() && !one.done[k]) return false;
      }
      return one.done[i] = try_read(who, one, step);
    }
    if (step.kind == Step::Kind::kSend) {
      auto& letters = under_way_[{who, step.peer}];
      for (Letter& letter : letters) {
        if (letter.number != step_number(one, i)) continue;
        if (waits_) return false;
        letter.taken = true;  // into memory of the network
        taken_[{who, letter.number}] = read(one, letter.from);
      }
      one.done[i] = true;
      return true;
    }
    auto& letters = under_way_[{step.peer, who}];
    // Receives of one round from one member are in the order of its sends.
    for (std::size_t k = 0; k < i; ++k) {
      const Step& earlier = one.schedule.round(one.round)[k];
      if (earlier.kind == Step::Kind::kReceive && earlier.peer == step.peer && !one.done[k])
        return false;
    }
    if (letters.empty()) return false;
    const Letter letter = letters.front();
    letters.pop_front();
    write(one, step.to,
          letter.taken ? taken_[{step.peer, letter.number}] : read(all_[step.peer], letter.from));
    one.done[i] = true;
    return true;
  }

  void combine(Performer& one, const Range& range, Values from, bool before) {
    const Values to = read(one, range);
    if (to.size() != from.size()) {
      wrong_ = "lengths differ";
      return;
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i].at != to[i].at) wrong_ = "bytes of two places are combined";
      from[i].members = before ? from[i].members + to[i].members : to[i].members + from[i].members;
    }
    write(one, range, from);
  }

  void perform_here(Performer& one, const Step& step) {
    if (!step.is_local()) return;
    const Values from = read(one, step.from);
    if (step.kind == Step::Kind::kCopy) return write(one, step.to, from);
    combine(one, step.to, from, step.kind == Step::Kind::kCombineBefore);
  }

  const bool waits_;
  std::mt19937_64 random_;
  std::vector<std::uint64_t> node_of_;
  std::vector<Performer> all_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<Letter>> under_way_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Values> taken_;
  std::string wrong_;
};

}  // namespace schedule_test
