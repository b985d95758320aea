#include "am/core/endpoint.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "am/core/far/far.h"
#include "am/core/process.h"
#include "am/message/caller.h"
#include "am/route/process_stat.h"
#include "am/route/router.h"
#include "am/types/forked.h"
#include "shmem/error.h"

namespace am {
namespace {

static_assert(Endpoint::kMaxTranslations == link::kMaxIndices);

std::uint32_t inbox_count(std::uint32_t asked, std::uint32_t processes) {
  // Four endpoints a process may map this one before anybody has to think about it.
  const std::uint32_t count = asked != 0 ? asked : std::max(16u, 4 * processes);
  return std::min(count, shmem::kMaxInboxes);
}

void check_translations(const Bundle& bundle, std::uint32_t count, const char* call) {
  if (count != 0 && count <= Endpoint::kMaxTranslations) return;
  bundle.refuse(call, std::to_string(count) + " translations asked for; 1 to " +
                          std::to_string(Endpoint::kMaxTranslations) + " are possible");
}

// Before anything is allocated for them.
Bundle& checked(Bundle& bundle, const Endpoint::Options& options) {
  check_not_forked("Endpoint");
  check_translations(bundle, options.translations, "Endpoint");
  if (options.inboxes > shmem::kMaxInboxes) {
    bundle.refuse("Endpoint", std::to_string(options.inboxes) + " inboxes asked for; at most " +
                                  std::to_string(shmem::kMaxInboxes) +
                                  " are possible, so let senders unmap what they no longer use");
  }
  return bundle;
}

}  // namespace

Endpoint::Endpoint(Bundle& bundle)
    : Endpoint(bundle, {.translations = std::max(256u, bundle.router().size())}) {}

Endpoint::Endpoint(Bundle& bundle, const Options& options)
    : bell_(bundle.router().self().header->bell),
      bundle_(&checked(bundle, options)),
      extent_{0, bundle.router().segment_bytes()},
      mailbox_(inbox_count(options.inboxes, bundle.router().options().near),
               bundle.router().fence()),
      boxes_(options.translations),
      alerts_scanned_(bell_.alerts()),
      alerts_seen_(alerts_scanned_),
      translations_(options.translations),
      correspondents_(inbox_count(options.inboxes, bundle.router().options().near)) {
  name_ = {bundle.router().rank(), bundle.process().next_serial(), mailbox_.address()};
  set_segment({bundle.router().segment(), bundle.router().segment_bytes()});
  if (FarMessages* const far = bundle.process().far_messages()) {
    far_ = std::make_unique<Far>(*this, *far);
  }
  suit_threads();
  const Bundle::Locked inside(bundle);
  bundle.endpoints_.push_back(this);
}

Endpoint::~Endpoint() {
  if (is_forked()) return;
  leave_bundle();
  bundle_->process().retire(stats_.messages());
  publish([](PublishedAdmission& admission) { admission.set_gone(); });
  for (const std::uint32_t to : connected_) {
    if (boxes_[to]->gone()) drop_sent(*boxes_[to]);
    boxes_[to]->close();
  }
  close_mailbox();
}

template <class Change>
void Endpoint::publish(Change&& change) noexcept {
  change(admission());
  for (const std::uint32_t to : connected_) change(admission_at(to));
}

PublishedAdmission& Endpoint::admission_at(std::uint32_t to) noexcept {
  return reinterpret_cast<Caller*>(boxes_[to]->caller())->admission;
}

void Endpoint::set_tag(Tag tag) {
  const Quiet quiet(*this, "Endpoint::set_tag");
  if (tag == tag_) return;
  if (far_ && !far_->change_tag(tag)) {
    bundle_->refuse("Endpoint::set_tag",
                    "replies to requests that were made under 65535 other tags are still to come; "
                    "poll until some have");
  }
  const Tag former = tag_.exchange(tag, std::memory_order_relaxed);
  for (Correspondent& from : correspondents_) {
    from.admitted = admits(from.tag);
    from.barrier = request_barrier(from.admitted);
  }
  admission().set_tag(tag);
  for (const std::uint32_t to : connected_) retag(to, former);
  if (far_) far_->tag_changed();
}

// Remembers with which tag the requests were made whose replies are to come.
void Endpoint::retag(std::uint32_t to, Tag former) {
  Near& near = *translations_[to].near;
  Near::Former now{former, {}};
  std::uint64_t any = 0;
  for (std::uint32_t lane = 0; lane < shmem::kLanes; ++lane) {
    now.slots[lane] = near.box->awaited_slots(lane);
    for (const Near::Former& earlier : near.retagged) now.slots[lane] &= ~earlier.slots[lane];
    any |= now.slots[lane];
  }
  if (any != 0) near.retagged.push_back(now);
  near.peer.barrier = reply_barrier(!near.retagged.empty());
  publish_retagged(to);
}

void Endpoint::publish_retagged(std::uint32_t to) {
  std::uint64_t refused[shmem::kLanes] = {};
  for (const Near::Former& former : translations_[to].near->retagged) {
    if (admits_reply(former.tag)) continue;
    for (std::uint32_t lane = 0; lane < shmem::kLanes; ++lane) refused[lane] |= former.slots[lane];
  }
  admission_at(to).set_retagged(refused);
}

// The request in that slot has been answered. Whether its reply may be delivered.
bool Endpoint::settle_tag(std::uint32_t to, std::uint32_t lane, std::uint32_t slot) {
  Near& near = *translations_[to].near;
  const std::uint64_t bit = std::uint64_t{1} << slot;
  const auto former = std::ranges::find_if(
      near.retagged, [&](const Near::Former& one) { return (one.slots[lane] & bit) != 0; });
  if (former == near.retagged.end()) return true;
  const bool admitted = admits_reply(former->tag);
  former->slots[lane] &= ~bit;
  if ((former->slots[0] | former->slots[1] | former->slots[2]) == 0) near.retagged.erase(former);
  near.peer.barrier = reply_barrier(!near.retagged.empty());
  publish_retagged(to);
  return admitted;
}

std::uint32_t Endpoint::translations() const noexcept {
  const Locked inside(*this);
  return translations_.size();
}

void Endpoint::resize_translations(std::uint32_t count) {
  check_translations(*bundle_, count, "Endpoint::resize_translations");
  const Locked inside(*this);
  for (std::uint32_t index = count; index < translations_.size(); ++index) {
    if (!translations_.is_used(index)) continue;
    bundle_->refuse("Endpoint::resize_translations",
                    "translation " + std::to_string(index) + " is in use, and a table of " +
                        std::to_string(count) + " has no place for it; unmap it first");
  }
  // The table itself last: if there is no memory, nothing has changed that is looked at.
  if (far_) far_->resize(count);
  boxes_.resize(count);
  suit_threads();
  translations_.resize(count);
}

const Translation& Endpoint::translation(std::uint32_t index, const char* call) const {
  if (index >= translations_.size()) {
    bundle_->refuse(call, "there is no translation " + std::to_string(index) + ": the table has " +
                              std::to_string(translations_.size()) +
                              " places; ask for more in Endpoint::Options");
  }
  return translations_.entry(index);
}

void Endpoint::map(std::uint32_t index, const Name& name, Tag tag) {
  const Locked inside(*this);
  bind(index, name, tag);
}

void Endpoint::check_free(std::uint32_t index) const {
  if (index < translations_.size() && !translations_.is_used(index)) return;
  translation(index, "Endpoint::map");  // throws if there is none
  bundle_->refuse("Endpoint::map", "translation " + std::to_string(index) +
                                       " is in use; unmap it first or use map_any");
}

void Endpoint::bind(std::uint32_t index, const Name& name, Tag tag) {
  check_free(index);
  if (name.rank >= bundle_->router().size()) {
    bundle_->refuse("Endpoint::map", "the name says rank " + std::to_string(name.rank) +
                                         ", but the job has " +
                                         std::to_string(bundle_->router().size()) +
                                         " processes; the name was not made by this job");
  }
  translations_.bind(index, name, tag);
}

void Endpoint::bind_all(NodeRows names, Tag tag) {
  const Locked inside(*this);
  for (std::uint32_t index = 0; index < names.rows(); ++index) check_free(index);
  translations_.bind_all(std::move(names), tag);
}

std::uint32_t Endpoint::map_any(const Name& name, Tag tag) {
  const Locked inside(*this);
  const std::uint32_t index = translations_.lowest_free();
  bind(index, name, tag);
  return index;
}

bool Endpoint::mapped(std::uint32_t index) const noexcept {
  const Locked inside(*this);
  return index < translations_.size() && translations_.is_used(index);
}

Name Endpoint::translation_name(std::uint32_t index) const {
  const Locked inside(*this);
  return used_translation(index, "Endpoint::translation_name").name;
}

const Translation& Endpoint::used_translation(std::uint32_t index, const char* call) const {
  const Translation& entry = translation(index, call);
  if (!entry.used) refuse_unmapped(index, call);
  return entry;
}

void Endpoint::refuse_unmapped(std::uint32_t index, const char* call) const {
  bundle_->refuse(call, "translation " + std::to_string(index) + " is not mapped");
}

Tag Endpoint::translation_tag(std::uint32_t index) const {
  const Locked inside(*this);
  return used_translation(index, "Endpoint::translation_tag").tag;
}

Owned<shmem::Outbox> Endpoint::try_open_outbox(const Translation& to) {
  const Caller caller{name_, to.tag, admission()};
  Router& router = bundle_->router();
  shmem::Doorbell& bell = router.peer(to.name.rank).header->bell;
  if (router.is_dead(to.name.rank)) return shmem::Outbox::to_nobody(bell, router.fence());
  try {
    return shmem::Outbox::try_open(to.name.mailbox, std::as_bytes(std::span(&caller, 1)), bell,
                                   router.fence());
  } catch (const shmem::Error& error) {
    // What has ended may be the endpoint alone, or its process, of which nobody has said so yet.
    const bool dead = router.deaths() != nullptr && has_ended(to.name.mailbox.pid);
    if (dead) router.note_death(to.name.rank, to.name.mailbox.pid);
    if (!dead && dynamic_cast<const shmem::Gone*>(&error) == nullptr) throw;
    return shmem::Outbox::to_nobody(bell, router.fence());
  }
}

shmem::Outbox* Endpoint::connect(std::uint32_t to, const char* call) {
  check_not_forked(call);
  const bool locked = bundle_->access() == Access::kParallel;
  return locked || traced_ ? nullptr : connect_near(to, call);
}

shmem::Outbox* Endpoint::connect_near(std::uint32_t to, const char* call) {
  if (!translation(to, call).used || translations_[to].closing) {
    bundle_->refuse(call, "translation " + std::to_string(to) +
                              " is not mapped; give it a name and a tag with Endpoint::map");
  }
  const Translation& entry = translations_[to];
  const Peer& process = bundle_->router().peer(entry.name.rank);
  if (process.segment == nullptr) return nullptr;
  auto near = std::make_unique<Near>();
  try {
    near->box = try_open_outbox(entry);
  } catch (const shmem::Error& error) {
    bundle_->refuse(call, "no way to the endpoint of rank " + std::to_string(entry.name.rank) +
                              " at translation " + std::to_string(to) + ": " + error.what());
  }
  if (!near->box) return nullptr;
  near->peer = {entry.name, entry.tag, true, nullptr, process.segment, {}, reply_barrier(false)};
  connected_.push_back(to);
  // It may have been closed before it knew of us: then nobody has raised an alert.
  if (near->box->gone()) {
    gone_.push_back(to);
    alerts_seen_ = kNoAlert;
  }
  boxes_[to] = near->box.get();
  translations_.connect(to, std::move(near));
  return boxes_[to];
}

void Endpoint::unmap(To to) {
  const std::uint32_t index = to.index;
  if (bundle_->handling()) bundle_->refuse("Endpoint::unmap", "a handler may not unmap");
  if (bundle_->access() == Access::kParallel) return unmap_among_threads(to);
  used_translation(index, "Endpoint::unmap");
  if (boxes_[index] != nullptr) {
    say_farewell(to, "unmap");
    wait_until(to, "unmap", detail::kAnswer, [&] { return boxes_[index]->awaited() == 0; });
    disconnect(index);
  }
  if (far_) far_->close(to);
  translations_.unbind(index);
}

// Gives the inbox back, whatever is in flight.
void Endpoint::disconnect(std::uint32_t index) noexcept {
  boxes_[index]->close();
  boxes_[index] = nullptr;
  std::erase(connected_, index);
  std::erase(awaiting_, index);
  std::erase(gone_, index);
}

HandlerIndex Endpoint::find_handler(Invoke invoke) const {
  const HandlerIndex found = handlers_.find(invoke);
  if (found == 0) {
    bundle_->refuse("Endpoint",
                    "this handler is not in the endpoint's table; call add_handlers "
                    "or set_handler with it first, in every process");
  }
  return found;
}

void Endpoint::check_user_index(HandlerIndex index) const {
  if (index == 0) {
    bundle_->refuse("Endpoint::set_handler",
                    "index 0 is reserved for returned messages; use on_returned");
  }
}

HandlerIndex Endpoint::set_handler_at(HandlerIndex index, const HandlerEntry& entry, bool replace) {
  const Quiet quiet(*this, "Endpoint::set_handler");
  const HandlerIndex place = index != 0 ? index : handlers_.lowest_free();
  if (place == 0) bundle_->refuse("Endpoint::add_handlers", "all 255 places are in use");
  if (handlers_.has(place) && !replace) {
    bundle_->refuse("Endpoint::set_handler",
                    "index " + std::to_string(place) + " is in use; say `replace` to overwrite it");
  }
  const bool admits_others = takes_long(entry.shape) || takes_long(handlers_[place].shape);
  handlers_.set(place, entry);
  if (far_ && admits_others) far_->announce();
  publish([&](PublishedAdmission& admission) { admission.set_shape(place, entry.shape); });
  return place;
}

void Endpoint::on_returned(Function<void(const Returned&)> handler) {
  const Quiet quiet(*this, "Endpoint::on_returned");
  on_returned_ = std::move(handler);
}

std::span<std::byte> Endpoint::segment() const noexcept {
  const Locked inside(*this);
  return segment_;
}

Stats Endpoint::stats() const noexcept {
  const Locked inside(*this);
  return stats_;
}

Reason Endpoint::reason(const To& to, const char* call, const char* needs) const noexcept {
  const Locked inside(*this);
  const bool known = to.index < translations_.size();
  return {.call = call,
          .where = to.where,
          .needs = needs,
          .peer = known ? translations_.entry(to.index).name.rank : kNobody};
}

void Endpoint::set_segment(std::span<std::byte> bytes) {
  const Router& router = bundle_->router();
  const std::uint64_t offset = bytes.empty() ? 0 : router.segment_offset(bytes.data());
  const bool inside =
      offset <= router.segment_bytes() && bytes.size() <= router.segment_bytes() - offset;
  const Quiet quiet(*this, "Endpoint::set_segment");
  segment_ = bytes;
  extent_ = {offset, bytes.size()};
  if (!inside) extent_ = {Extent::kElsewhere, std::min(bytes.size(), Extent::kMostElsewhere)};
  publish([this](PublishedAdmission& admission) { admission.set_extent(extent_); });
  if (far_) far_->announce();
}

}  // namespace am
