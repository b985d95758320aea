#include "am/core/translation_table.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "am/route/router.h"

namespace am {

Translation& TranslationTable::entry(std::uint32_t index) const noexcept {
  Translation& place = places_.data()[index];
  if (place.used || !is_used(index)) return place;
  everyone_.read(index, std::as_writable_bytes(std::span(&place.name, 1)));
  place.name.rank = index;
  place.tag = everyones_tag_;
  place.used = true;
  written_ = true;
  return place;
}

std::uint32_t TranslationTable::lowest_free() const noexcept {
  std::uint32_t index = 0;
  while (index < size() && is_used(index)) ++index;
  return index;
}

const Translation& TranslationTable::checked(std::uint32_t index, Call call) const {
  if (index >= size()) {
    router_.refuse(call, "there is no translation " + std::to_string(index) + ": the table has " +
                             std::to_string(size()) + " places; ask for more in Endpoint::Options");
  }
  return entry(index);
}

const Translation& TranslationTable::used(std::uint32_t index, Call call) const {
  const Translation& place = checked(index, call);
  if (!place.used) refuse_unmapped(index, call);
  return place;
}

void TranslationTable::refuse_unmapped(std::uint32_t index, Call call) const {
  router_.refuse(call, "translation " + std::to_string(index) + " is not mapped");
}

void TranslationTable::check_free(std::uint32_t index, Call call) const {
  if (index < size() && !is_used(index)) return;
  checked(index, call);  // throws if there is none
  router_.refuse(
      call, "translation " + std::to_string(index) + " is in use; unmap it first or use map_any");
}

void TranslationTable::bind(std::uint32_t index, const Name& name, Tag tag, Call call) {
  check_free(index, call);
  if (name.rank >= router_.size()) {
    router_.refuse(call, "the name says rank " + std::to_string(name.rank) + ", but the job has " +
                             std::to_string(router_.size()) +
                             " processes; the name was not made by this job");
  }
  written_ = true;
  Translation& place = places_[index];
  place.used = true;
  place.name = name;
  place.tag = tag;
}

void TranslationTable::bind_all(NodeRows names, Tag tag, Call call) {
  // Places that nobody has written to are not read either, which would take their memory where the
  // kernel has no page of zeros to share.
  const bool fresh = !written_ && everyones_ == 0 && names.rows() <= size();
  for (std::uint32_t index = 0; !fresh && index < names.rows(); ++index) check_free(index, call);
  everyone_ = std::move(names);
  everyones_tag_ = tag;
  everyones_ = static_cast<std::uint32_t>(everyone_.rows());
  for (std::uint32_t index = 0; !fresh && index < everyones_; ++index) {
    if (places_[index].unmapped) places_[index].unmapped = false;
  }
}

void TranslationTable::unbind(std::uint32_t index) noexcept {
  if (const Near* const near = places_[index].near) {
    std::erase_if(near_, [near](const Owned<Near>& one) { return one.get() == near; });
  }
  written_ = true;
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
