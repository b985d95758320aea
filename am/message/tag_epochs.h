#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "am/types/types.h"

namespace am {

// Short numbers ("epochs") for the tags that an endpoint has had, so that a request to another node
// can say with which tag it was made, and its reply can repeat that. Pure logic.
//
// An epoch is given again only when no reply that repeats it is to come. Epoch 0 is kTagNone.
template <class Number>
class BasicTagEpochs {
 public:
  using Epoch = Number;

  Epoch current() const noexcept { return now_.epoch; }

  // The tag is another now. False, and no change: all epochs belong to requests without reply.
  [[nodiscard]] bool change(Tag tag) {
    if (tag == now_.tag) return true;
    Entry next{0, tag, 0};
    const auto former = std::ranges::find(former_, tag, &Entry::tag);
    if (former != former_.end()) {
      next = *former;
    } else if (tag != kTagNone) {
      if (in_use() == std::numeric_limits<Epoch>::max()) return false;
      do {
        ++last_;
      } while (last_ == 0 || last_ == now_.epoch || find(last_) != former_.end());
      next.epoch = last_;
    }
    if (former != former_.end()) former_.erase(former);
    if (now_.awaited != 0) former_.push_back(now_);
    now_ = next;
    return true;
  }

  // A request has been sent, whose reply repeats current().
  void sent() noexcept { ++now_.awaited; }

  // A reply has come: the tag with which its request was made; nullopt if there is no such request.
  std::optional<Tag> answered(Epoch epoch) {
    if (epoch == now_.epoch) [[likely]] {
      if (now_.awaited == 0) return std::nullopt;
      --now_.awaited;
      return now_.tag;
    }
    const auto former = find(epoch);
    if (former == former_.end()) return std::nullopt;
    const Tag tag = former->tag;
    if (--former->awaited == 0) former_.erase(former);
    return tag;
  }

 private:
  struct Entry {
    Epoch epoch;
    Tag tag;
    std::uint64_t awaited;  // replies
  };

  // Epochs but 0 that cannot be given.
  std::size_t in_use() const noexcept {
    const auto formers =
        std::ranges::count_if(former_, [](const Entry& e) { return e.epoch != 0; });
    return static_cast<std::size_t>(formers) + (now_.epoch != 0 ? 1 : 0);
  }
  auto find(Epoch epoch) noexcept { return std::ranges::find(former_, epoch, &Entry::epoch); }

  Entry now_{0, kTagNone, 0};
  Epoch last_ = 0;             // the last that was new
  std::vector<Entry> former_;  // those with replies to come; all epochs and all tags are different
};

using TagEpochs = BasicTagEpochs<std::uint16_t>;

}  // namespace am
