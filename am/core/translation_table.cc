#include "am/core/translation_table.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace am {

Translation& TranslationTable::entry(std::uint32_t index) const noexcept {
  Translation& place = places_.data()[index];
  if (place.used || !is_used(index)) return place;
  everyone_.read(index, std::as_writable_bytes(std::span(&place.name, 1)));
  place.name.rank = index;
  place.tag = everyones_tag_;
  place.used = true;
  return place;
}

std::uint32_t TranslationTable::lowest_free() const noexcept {
  std::uint32_t index = 0;
  while (index < size() && is_used(index)) ++index;
  return index;
}

void TranslationTable::bind(std::uint32_t index, const Name& name, Tag tag) noexcept {
  Translation& place = places_[index];
  place.used = true;
  place.name = name;
  place.tag = tag;
}

void TranslationTable::bind_all(NodeRows names, Tag tag) noexcept {
  everyone_ = std::move(names);
  everyones_tag_ = tag;
  everyones_ = static_cast<std::uint32_t>(everyone_.rows());
  for (std::uint32_t index = 0; index < everyones_; ++index) {
    if (places_[index].unmapped) places_[index].unmapped = false;
  }
}

void TranslationTable::unbind(std::uint32_t index) noexcept {
  if (const Near* const near = places_[index].near) {
    std::erase_if(near_, [near](const Owned<Near>& one) { return one.get() == near; });
  }
  places_[index] = {.used = false,
                    .unmapped = true,
                    .closing = false,
                    .name = {},
                    .tag = kTagNone,
                    .near = nullptr};
}

void TranslationTable::connect(std::uint32_t index, Owned<Near> near) {
  near_.push_back(std::move(near));
  places_[index].near = near_.back().get();
}

void TranslationTable::resize(std::uint32_t size) {
  places_.resize(size);
  everyones_ = std::min(everyones_, size);  // a place that comes again does not know of unbind()
}

}  // namespace am
