#include "am/core/endpoint.h"

#include <sched.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "am/core/endpoint_threads.h"
#include "am/core/far/far.h"
#include "am/core/parts.h"
#include "am/core/process.h"
#include "am/observe/observers.h"
#include "am/route/router.h"
#include "am/types/forked.h"

namespace am {
namespace {

static_assert(Endpoint::kMaxTranslations == link::kMaxIndices);

std::uint32_t inbox_count(std::uint32_t asked, std::uint32_t processes) {
  // Four endpoints a process may map this one before anybody has to think about it.
  const std::uint32_t count = asked != 0 ? asked : std::max(16u, 4 * processes);
  return std::min(count, shmem::kMaxInboxes);
}

void check_translations(const Bundle& bundle, std::uint32_t count, Call call) {
  if (count != 0 && count <= Endpoint::kMaxTranslations) return;
  bundle.refuse(call, std::to_string(count) + " translations asked for; 1 to " +
                          std::to_string(Endpoint::kMaxTranslations) + " are possible");
}

// Before anything is allocated for them.
Bundle& checked(Bundle& bundle, const Endpoint::Options& options, Call call) {
  check_not_forked(call);
  check_translations(bundle, options.translations, call);
  if (options.inboxes > shmem::kMaxInboxes) {
    bundle.refuse(call, std::to_string(options.inboxes) + " inboxes asked for; at most " +
                            std::to_string(shmem::kMaxInboxes) +
                            " are possible, so let senders unmap what they no longer use");
  }
  return bundle;
}

// To all who may write to the endpoint's segment.
template <class Change>
void publish(EndpointParts& parts, Change&& change) noexcept {
  change(parts.incoming.admission());
  for (const std::uint32_t to : parts.outgoing.connected()) change(parts.outgoing.admission_at(to));
}

}  // namespace

EndpointParts::EndpointParts(Endpoint& of, Bundle& in, std::uint32_t table_size,
                             std::uint32_t inboxes)
    : endpoint(of),
      bundle(&in),
      admission{.traced = active_trace() != nullptr},
      translations(in.router(), table_size),
      incoming(*this, inboxes, in.router().fence()),
      outgoing(*this, table_size),
      alerts(*this, in.router().self().header->bell) {
  name = {in.router().rank(), in.process().next_serial(), incoming.mailbox().address()};
}

EndpointParts::~EndpointParts() = default;

Endpoint::Endpoint(Bundle& bundle, Here where)
    : Endpoint(bundle, {.translations = std::max(256u, bundle.router().size())}, where) {}

Endpoint::Endpoint(Bundle& bundle, const Options& options, Here where)
    : parts_(*this, checked(bundle, options, {"Endpoint", where}), options.translations,
             inbox_count(options.inboxes, bundle.router().options().near)) {
  set_segment({bundle.router().segment(), bundle.router().segment_bytes()});
  if (FarMessages* const far = bundle.process().far_messages()) {
    parts_.far = std::make_unique<FarEndpoint>(parts_, *far);
  }
  parts_.suit_bundle();
  bundle.join(*this);
}

Endpoint::~Endpoint() {
  if (is_forked()) return;
  parts_.leave_bundle();
  bundle().process().retire(parts_.stats.messages());
  publish(parts_, [](PublishedAdmission& admission) { admission.set_gone(); });
  parts_.outgoing.close();
  parts_.incoming.close();
}

void Endpoint::set_tag(Tag tag, Here where) {
  const Call call("Endpoint::set_tag", where);
  const ExclusiveLock lock(parts_, call);
  if (tag == this->tag()) return;
  if (parts_.far && !parts_.far->change_tag(tag)) {
    bundle().refuse(call,
                    "replies to requests that were made under 65535 other tags are still to come; "
                    "poll until some have");
  }
  const Tag former = parts_.admission.own_tag.exchange(tag, std::memory_order_relaxed);
  parts_.incoming.tag_changed();
  for (const std::uint32_t to : parts_.outgoing.connected()) parts_.outgoing.retag(to, former);
  if (parts_.far) parts_.far->tag_changed();
}

void Incoming::tag_changed() noexcept {
  for (Correspondent& from : correspondents_) {
    from.admitted = parts_.admission.admits(from.tag);
    from.barrier = parts_.admission.request_barrier(from.admitted);
  }
  admission().set_tag(parts_.admission.tag());
}

std::uint32_t Endpoint::translations() const noexcept {
  const EndpointLock lock(parts_);
  return parts_.translations.size();
}

void Endpoint::resize_translations(std::uint32_t count, Here where) {
  const Call call("Endpoint::resize_translations", where);
  check_not_forked(call);
  check_translations(bundle(), count, call);
  const EndpointLock lock(parts_);
  for (std::uint32_t index = count; index < parts_.translations.size(); ++index) {
    if (!parts_.translations.is_used(index)) continue;
    bundle().refuse(call, "translation " + std::to_string(index) + " is in use, and a table of " +
                              std::to_string(count) + " has no place for it; unmap it first");
  }
  // The table itself last: if there is no memory, nothing has changed that is looked at.
  if (parts_.far) parts_.far->resize(count);
  parts_.outgoing.resize(count);
  parts_.suit_bundle();
  parts_.translations.resize(count);
}

void Endpoint::map(To index, const Name& name, Tag tag) {
  const EndpointLock lock(parts_);
  parts_.translations.bind(index.value, name, tag, {"Endpoint::map", index.where});
}

std::uint32_t Endpoint::map_any(const Name& name, Tag tag, Here where) {
  const EndpointLock lock(parts_);
  const std::uint32_t index = parts_.translations.lowest_free();
  parts_.translations.bind(index, name, tag, {"Endpoint::map_any", where});
  return index;
}

bool Endpoint::mapped(std::uint32_t index) const noexcept {
  const EndpointLock lock(parts_);
  return index < parts_.translations.size() && parts_.translations.is_used(index);
}

Name Endpoint::translation_name(To index) const {
  const EndpointLock lock(parts_);
  return parts_.translations.used(index.value, {"Endpoint::translation_name", index.where}).name;
}

Tag Endpoint::translation_tag(To index) const {
  const EndpointLock lock(parts_);
  return parts_.translations.used(index.value, {"Endpoint::translation_tag", index.where}).tag;
}

HandlerIndex Endpoint::find_handler(Invoke invoke, Call call) const {
  const HandlerIndex found = parts_.handlers.find(invoke);
  if (found == 0) {
    bundle().refuse(call,
                    "this handler is not in the endpoint's table; call add_handlers "
                    "or set_handler with it first, in every process");
  }
  return found;
}

void Endpoint::check_user_index(HandlerIndex index, Call call) const {
  if (index == 0) {
    bundle().refuse(call, "index 0 is reserved for returned messages; use on_returned");
  }
}

HandlerIndex Endpoint::set_handler_at(HandlerIndex index, const HandlerEntry& entry, bool replace,
                                      Call call) {
  const ExclusiveLock lock(parts_, call);
  const HandlerIndex place = index != 0 ? index : parts_.handlers.lowest_free();
  if (place == 0) bundle().refuse(call, "all 255 places are in use");
  if (parts_.handlers.has(place) && !replace) {
    bundle().refuse(call,
                    "index " + std::to_string(place) + " is in use; say `replace` to overwrite it");
  }
  const bool admits_others = takes_long(entry.shape) || takes_long(parts_.handlers[place].shape);
  parts_.handlers.set(place, entry);
  if (parts_.far && admits_others) parts_.far->announce();
  publish(parts_, [&](PublishedAdmission& admission) { admission.set_shape(place, entry.shape); });
  return place;
}

void Endpoint::on_returned(Function<void(const Returned&)> handler, Here where) {
  const ExclusiveLock lock(parts_, {"Endpoint::on_returned", where});
  parts_.on_returned = std::move(handler);
}

std::span<std::byte> Endpoint::segment() const noexcept {
  const EndpointLock lock(parts_);
  return parts_.admission.segment;
}

Stats Endpoint::stats() const noexcept {
  const EndpointLock lock(parts_);
  return parts_.stats;
}

void Endpoint::set_segment(std::span<std::byte> bytes, Here where) {
  const Router& router = bundle().router();
  const std::uint64_t offset = bytes.empty() ? 0 : router.segment_offset(bytes.data());
  const bool inside =
      offset <= router.segment_bytes() && bytes.size() <= router.segment_bytes() - offset;
  const ExclusiveLock lock(parts_, {"Endpoint::set_segment", where});
  Extent& extent = parts_.admission.extent;
  parts_.admission.segment = bytes;
  extent = {offset, bytes.size()};
  if (!inside) extent = {Extent::kElsewhere, std::min(bytes.size(), Extent::kMostElsewhere)};
  publish(parts_, [&](PublishedAdmission& admission) { admission.set_extent(extent); });
  if (parts_.far) parts_.far->announce();
}

// Another thread may move the endpoint to another bundle until that is locked.
EndpointLock::EndpointLock(const EndpointParts& parts) noexcept {
  for (;;) {
    Bundle* const bundle = parts.bundle.get();
    Monitor* const monitor = bundle->monitor_.get();
    if (monitor == nullptr) return;
    static_cast<unique_lock&>(*this) = unique_lock(*monitor);
    if (parts.bundle.get() == bundle) return;
    unlock();
  }
}

PauseGuard::PauseGuard(EndpointParts& parts) noexcept : parts_(parts) {
  const EndpointLock lock(parts_);
  ++parts_.threads.holds;
}

PauseGuard::~PauseGuard() {
  const EndpointLock lock(parts_);
  --parts_.threads.holds;
}

ExclusiveLock::ExclusiveLock(EndpointParts& parts, Call call) {
  check_not_forked(call);
  if (parts.bundle->access() == Access::kSequential) return;
  pause_.emplace(parts);
  for (;; sched_yield()) {
    lock_.emplace(parts);
    if (parts.threads.visits == 0) return;
    lock_.reset();
    if (!Bundle::handling()) continue;
    parts.bundle->refuse(call,
                         "a handler or callback may not do this to an endpoint of a parallel "
                         "bundle whose handlers run, as it waits for them; let it return first");
  }
}

// From here on other threads leave alone what has come for it.
void EndpointParts::leave_bundle() {
  if (threads.left || is_forked()) return;
  const bool waits = bundle->access() == Access::kParallel && !bundle->is_active(endpoint);
  if (waits) {
    const PauseGuard pause(*this);
    for (;; sched_yield()) {
      const EndpointLock lock(*this);
      if (threads.visits != 0) continue;
      threads.left = true;
      return bundle->leave(endpoint);
    }
  }
  threads.left = true;
  bundle->leave(endpoint);
}

void EndpointParts::suit_bundle() {
  outgoing.suit_bundle();
  incoming.suit_bundle();
}

void Incoming::suit_bundle() {
  for (Correspondent& from : correspondents_) suit_bundle(from);
}

// In a parallel bundle handlers of two kinds of messages of one sender may reply at the same time.
void Incoming::suit_bundle(Correspondent& from) const {
  const bool in_use = from.admission != nullptr;
  if (parts_.bundle->access() == Access::kSequential || !in_use || !from.reply_offsets.empty()) {
    return;
  }
  from.reply_offsets.resize(shmem::kLanes);
}

}  // namespace am
