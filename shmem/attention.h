#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shmem/doorbell.h"
#include "shmem/flag.h"

// Which of many places a receiver polls: the active ones, where something came lately. All others
// cost it nothing, however many there are and whatever the active ones do.
//
// Every place has one sender and one bit, in memory that both map. A place whose bit is set is
// polled; one whose bit has been cleared, for kSweep polls more.
//
//   Sender:                              Receiver, once in kSweep polls:
//     write the message                    those whose bits the last sweep cleared: something came?
//     fence.light()                          set the bit again, else poll it no longer
//     bit set? else raise() it             clear the bits of places where nothing came since the
//                                            last sweep
//                                          fence.heavy()
//
// Invariants:
//  * Either the sender finds its bit cleared, or a poll after heavy() finds the message: each has a
//    fence between its store and its load. There are kSweep such polls, some 20 us or more, as
//    heavy() may miss a sender for a moment (shmem/doorbell.h).
//  * A bit that is set belongs to an active place, or the summary says that its word has bits which
//    the receiver has not seen: raise() sets the bit first, and the receiver takes the summary
//    before it reads the words.
//  * Only the receiver clears bits, and only those of places that it polls.
//
// tests/shmem/model checks this in all states that two senders can bring about, and that none of
// the fences, orders and second checks can be left out.

namespace shmem {

// The shared half: all zero is nothing active.
template <std::uint32_t kPlaces>
struct AttentionBits {
  static constexpr std::uint32_t kWords = (kPlaces + 63) / 64;
  static constexpr std::uint32_t kGroup = (kWords + 63) / 64;  // words to a bit of the summary

  std::atomic<std::uint64_t>& word_of(std::uint32_t place) noexcept { return words[place / 64]; }
  static constexpr std::uint64_t bit_of(std::uint32_t place) noexcept {
    return std::uint64_t{1} << place % 64;
  }

  // By the sender of `place`, after Fence::light().
  // pairs with: Attention::sweep(), through Fence::heavy()
  bool raised(std::uint32_t place) noexcept {
    return (word_of(place).load(std::memory_order_relaxed) & bit_of(place)) != 0;
  }
  // Makes the receiver poll `place`. Any process.
  void raise(std::uint32_t place) noexcept {
    // pairs with: Attention::activate(), which sees the bit when it has seen the summary
    word_of(place).fetch_or(bit_of(place), std::memory_order_seq_cst);
    summary.fetch_or(std::uint64_t{1} << place / 64 / kGroup, std::memory_order_seq_cst);
  }

  alignas(kCacheLine) std::atomic<std::uint64_t> summary;  // groups of words with unseen bits
  alignas(kCacheLine) std::atomic<std::uint64_t> words[kWords];
};

// The receiver's half. `Place` is what the receiver needs to know of an active place. A poll visits
// active places until it has visited all of them, or found nothing at kVain of them: first where it
// found something last, then on from where the last poll stopped. So with a small kVain its cost
// does not grow with the active places, but with what has come, and what comes to one of n of them
// is found after n / (kVain - 1) polls.
//
// Thread rule: one thread at a time; but others may come in while poll_shared() visits a place.
template <std::uint32_t kPlaces, class Place, std::uint32_t kVain = kPlaces>
class Attention {
 public:
  // Of the first `places`. What the receiver before has left active is active again.
  Attention(AttentionBits<kPlaces>& bits, Fence fence, std::uint32_t places = kPlaces)
      : bits_(bits), fence_(fence), known_((places + 63) / 64) {
    // pairs with: activate()
    bits_.summary.fetch_or(~std::uint64_t{0}, std::memory_order_seq_cst);
  }

  // Polls the active places: `visit(place)` returns how many messages it took, and may throw. Those
  // raised meanwhile are active from the next poll on, which visits them first. `make(place
  // number)` makes a Place.
  template <class Make, class Visit>
  int poll(Make&& make, Visit&& visit) {
    int count = 0;
    const auto look = [&](Active& active) {
      const int taken = visit(active.place);
      active.used |= taken != 0;
      count += taken;
      return taken != 0;
    };
    const std::size_t fresh = active_.size();
    // pairs with: AttentionBits::raise(); what is seen late is seen by a later poll
    if (bits_.summary.load(std::memory_order_relaxed) != 0) [[unlikely]]
      activate(make);
    if (kVain >= kPlaces || active_.size() <= kVain) [[likely]] {
      for (std::size_t i = 0; i < active_.size(); ++i) look(active_[i]);
    } else {
      poll_some(fresh, look);
    }
    // By then every active place has been visited twice since the last sweep, and the second time
    // long after its fence.
    if (++polls_ >= kSweep && polls_ >= 2 * active_.size()) [[unlikely]]
      sweep();
    return count;
  }

  // What a visit of poll_shared() returns of a place that another thread is visiting: it has taken
  // nothing, but the place is in use.
  static constexpr int kBusy = -1;

  // A poll() whose `visit` may let other threads in. They may poll, too, so that places come and go
  // meanwhile; what is passed over here is there in the next poll.
  template <class Make, class Visit>
  int poll_shared(Make&& make, Visit&& visit) {
    // pairs with: AttentionBits::raise()
    if (bits_.summary.load(std::memory_order_relaxed) != 0) [[unlikely]]
      activate(make);
    int count = 0;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const Active visited = active_[i];
      const int taken = visit(visited.place);
      // A place stays while somebody visits it, as all polls find it busy; perhaps elsewhere.
      const auto same = [&](const Active& one) { return one.number == visited.number; };
      if (taken != 0) {
        std::size_t now = i < active_.size() && same(active_[i]) ? i : 0;
        while (now < active_.size() && !same(active_[now])) ++now;
        if (now < active_.size()) active_[now].used = true;
      }
      if (taken > 0) count += taken;
    }
    if (++polls_ >= kSweep) [[unlikely]]
      sweep();
    return count;
  }

  // Whether poll() would find something: whether `pending(place)` says so of one of them.
  template <class Make, class Pending>
  bool any(Make&& make, Pending&& pending) {
    // pairs with: AttentionBits::raise()
    if (bits_.summary.load(std::memory_order_acquire) != 0) activate(make);
    for (const Active& active : active_) {
      if (pending(active.place)) return true;
    }
    return false;
  }

  // How many places are active: poll() visits each of them.
  std::size_t active() const noexcept { return active_.size(); }
  // None, and none was raised: poll() would do nothing, not even count.
  bool idle() const noexcept {
    // pairs with: AttentionBits::raise(); what is seen late is seen by a later poll
    return bits_.summary.load(std::memory_order_relaxed) == 0 && active_.empty();
  }

 private:
  static constexpr std::uint32_t kSweep = 4096;  // polls

  struct Active {
    std::uint32_t number;
    bool used;     // something came since the last sweep
    bool leaving;  // the last sweep cleared its bit
    Place place;
  };

  // Those from `fresh` on have been activated now.
  template <class Look>
  void poll_some(std::size_t fresh, Look& look) {
    for (std::size_t i = fresh; i < active_.size(); ++i) look(active_[i]);
    std::uint32_t vain = 0;
    if (last_ < fresh && !look(active_[last_])) ++vain;
    for (std::size_t left = fresh; left > 0 && vain < kVain; --left) {
      if (next_ >= active_.size()) next_ = 0;
      if (look(active_[next_])) {
        last_ = next_;
      } else {
        ++vain;
      }
      ++next_;
    }
  }

  template <class Make>
  [[gnu::noinline]] void activate(Make& make) {
    // pairs with: AttentionBits::raise()
    std::uint64_t groups = bits_.summary.exchange(0, std::memory_order_seq_cst);
    for (; groups != 0; groups &= groups - 1) {
      const auto first = static_cast<std::size_t>(std::countr_zero(groups)) * bits_.kGroup;
      const std::size_t end =
          first + bits_.kGroup < known_.size() ? first + bits_.kGroup : known_.size();
      for (std::size_t word = first; word < end; ++word) activate_word(word, make);
    }
  }
  template <class Make>
  void activate_word(std::size_t word, Make& make) {
    // pairs with: AttentionBits::raise()
    const std::uint64_t raised = bits_.words[word].load(std::memory_order_acquire);
    for (std::uint64_t fresh = raised & ~known_[word]; fresh != 0; fresh &= fresh - 1) {
      const auto number = static_cast<std::uint32_t>(word * 64) +
                          static_cast<std::uint32_t>(std::countr_zero(fresh));
      active_.push_back({number, true, false, make(number)});
    }
    known_[word] |= raised;
  }

  [[gnu::noinline]] void sweep() {
    polls_ = 0;
    std::erase_if(active_,
                  [this](const Active& active) { return active.leaving && leaves(active); });
    bool any_idle = false;
    for (Active& active : active_) {
      if (active.leaving) stay(active);
      if (!active.used) {
        any_idle = active.leaving = true;
        // pairs with: AttentionBits::raised()
        bits_.word_of(active.number)
            .fetch_and(~bits_.bit_of(active.number), std::memory_order_seq_cst);
      }
      active.used = false;
    }
    if (any_idle) fence_.heavy();  // see above
  }
  // Whether a place whose bit was cleared is polled no longer. One that is raised from here on is
  // fresh to activate(), which follows the summary.
  bool leaves(const Active& active) {
    const std::uint64_t bit = bits_.bit_of(active.number);
    // pairs with: AttentionBits::raise()
    const std::uint64_t word = bits_.word_of(active.number).load(std::memory_order_acquire);
    if (active.used || (word & bit) != 0) return false;
    known_[active.number / 64] &= ~bit;
    return true;
  }
  void stay(Active& active) {
    active.leaving = false;
    // No partner: the place is polled anyway.
    bits_.word_of(active.number).fetch_or(bits_.bit_of(active.number), std::memory_order_relaxed);
  }

  // Constant after construction.
  AttentionBits<kPlaces>& bits_;
  const Fence fence_;
  // Owned by the receiving thread.
  std::vector<Active> active_;
  std::vector<std::uint64_t> known_;  // the bits of active_, in the shape of AttentionBits::words
  std::uint32_t polls_ = 0;           // since the last sweep
  std::size_t next_ = 0;              // of active_, to be visited
  std::size_t last_ = 0;              // of active_, where something was found, and may be again
};

}  // namespace shmem
