#include "am/endpoint.h"

#include <algorithm>
#include <cstring>

#include "am/bounce.h"
#include "am/caller.h"
#include "am/far.h"
#include "shmem/error.h"

namespace am {
namespace {

constexpr std::uint32_t kMaxTranslations = 1 << 16;  // on one node

std::uint32_t inbox_count(std::uint32_t asked, std::uint32_t processes) {
  // Four endpoints a process may map this one before anybody has to think about it.
  const std::uint32_t count = asked != 0 ? asked : std::max(16u, 4 * processes);
  return std::min(count, shmem::kMaxInboxes);
}

}  // namespace

Endpoint::Endpoint(Bundle& bundle, const Options& options)
    : bundle_(&bundle),
      extent_{0, bundle.router().segment_bytes()},
      mailbox_(inbox_count(options.inboxes, bundle.router().options().near),
               bundle.router().fence()),
      boxes_(options.translations, nullptr),
      translations_(options.translations),
      correspondents_(inbox_count(options.inboxes, bundle.router().options().near)) {
  if (options.translations == 0 || options.translations > kMaxTranslations) {
    bundle.refuse("Endpoint", std::to_string(options.translations) +
                                  " translations asked for; 1 to " +
                                  std::to_string(kMaxTranslations) + " are possible");
  }
  name_ = {bundle.router().rank(), bundle.router().next_serial(), mailbox_.address()};
  set_segment({bundle.router().segment(), bundle.router().segment_bytes()});
  if (Port* const port = bundle.router().port()) far_ = std::make_unique<Far>(*this, *port);
  bundle.endpoints_.push_back(this);
}

Endpoint::~Endpoint() { bundle_->leave(*this); }

void Endpoint::set_tag(Tag tag) noexcept {
  tag_ = tag;
  for (Correspondent& from : correspondents_) from.admitted = admits(from.tag);
  if (far_) far_->set_tag();
}

std::uint32_t Endpoint::translations() const noexcept {
  return static_cast<std::uint32_t>(translations_.size());
}

const Endpoint::Translation& Endpoint::translation(std::uint32_t index, const char* call) const {
  if (index >= translations_.size()) {
    bundle_->refuse(call, "there is no translation " + std::to_string(index) + ": the table has " +
                              std::to_string(translations_.size()) +
                              " places; ask for more in Endpoint::Options");
  }
  return translations_[index];
}

void Endpoint::map(std::uint32_t index, const Name& name, Tag tag) {
  if (translation(index, "Endpoint::map").used) {
    bundle_->refuse("Endpoint::map", "translation " + std::to_string(index) +
                                         " is in use; unmap it first or use map_any");
  }
  if (name.rank >= bundle_->router().size()) {
    bundle_->refuse("Endpoint::map", "the name says rank " + std::to_string(name.rank) +
                                         ", but the job has " +
                                         std::to_string(bundle_->router().size()) +
                                         " processes; the name was not made by this job");
  }
  Translation& entry = translations_[index];
  entry.used = true;
  entry.name = name;
  entry.tag = tag;
}

std::uint32_t Endpoint::map_any(const Name& name, Tag tag) {
  const auto free = std::find_if(translations_.begin(), translations_.end(),
                                 [](const Translation& entry) { return !entry.used; });
  const auto index = static_cast<std::uint32_t>(free - translations_.begin());
  map(index, name, tag);
  return index;
}

bool Endpoint::mapped(std::uint32_t index) const noexcept {
  return index < translations_.size() && translations_[index].used;
}

const Name& Endpoint::translation_name(std::uint32_t index) const {
  const Translation& entry = translation(index, "Endpoint::translation_name");
  if (!entry.used) {
    bundle_->refuse("Endpoint::translation_name",
                    "translation " + std::to_string(index) + " is not mapped");
  }
  return entry.name;
}

Tag Endpoint::translation_tag(std::uint32_t index) const {
  translation_name(index);
  return translations_[index].tag;
}

std::unique_ptr<shmem::Outbox> Endpoint::open_outbox(const Name& name, Tag tag) {
  Caller caller{name_, tag, {}};
  caller.extent.publish(extent_);
  const Router& router = bundle_->router();
  return std::make_unique<shmem::Outbox>(name.mailbox, std::as_bytes(std::span(&caller, 1)),
                                         router.peer(name.rank).header->bell, router.fence());
}

shmem::Outbox* Endpoint::connect(std::uint32_t to, const char* call) {
  if (!translation(to, call).used) {
    bundle_->refuse(call, "translation " + std::to_string(to) +
                              " is not mapped; give it a name and a tag with Endpoint::map");
  }
  Translation& entry = translations_[to];
  const Peer& process = bundle_->router().peer(entry.name.rank);
  if (process.segment == nullptr) return nullptr;
  auto near = std::make_unique<Near>();
  try {
    near->box = open_outbox(entry.name, entry.tag);
  } catch (const shmem::Error& error) {
    bundle_->refuse(call, "no way to the endpoint of rank " + std::to_string(entry.name.rank) +
                              " at translation " + std::to_string(to) + ": " + error.what());
  }
  near->peer = {entry.name, entry.tag, true, nullptr, process.segment};
  boxes_[to] = near->box.get();
  entry.near = std::move(near);
  return boxes_[to];
}

void Endpoint::unmap(std::uint32_t index) {
  if (bundle_->handling()) bundle_->refuse("Endpoint::unmap", "a handler may not unmap");
  if (!translation(index, "Endpoint::unmap").used) {
    bundle_->refuse("Endpoint::unmap", "translation " + std::to_string(index) + " is not mapped");
  }
  if (boxes_[index] != nullptr) {
    say_farewell(index);
    boxes_[index]->close();
    boxes_[index] = nullptr;
  }
  if (far_) far_->close(index);
  translations_[index] = {};
}

// One last request in each lane that is not empty: its answer says that all before it was read.
void Endpoint::say_farewell(std::uint32_t to) {
  shmem::Outbox& box = *boxes_[to];
  bundle_->wait_until([this] { return bounces_.empty(); });
  const auto last = [&]<Kind kKind>() {
    constexpr shmem::Lane kLane = packet::lane_of(kKind);
    if (box.in_flight<kLane>() == 0) return;
    shmem::Room room;
    bundle_->wait_until([&] { return box.try_claim<kLane>(room); });
    const auto form = static_cast<unsigned>(packet::Form::kFarewell);
    send<kKind>(to, room, packet::make_mark(0, 0, form), Role::kRequest);
    --stats_[kKind].requests_sent;  // not the user's, and not counted there
  };
  last.template operator()<Kind::kShort>();
  last.template operator()<Kind::kMedium>();
  last.template operator()<Kind::kLong>();
  bundle_->wait_until([&] { return box.awaited() == 0; });
  std::erase(awaiting_, to);
}

HandlerIndex Endpoint::find_handler(const HandlerEntry& entry) const {
  const auto found = std::find_if(handlers_.begin(), handlers_.end(),
                                  [&](const HandlerEntry& e) { return e.invoke == entry.invoke; });
  if (found == handlers_.end()) {
    bundle_->refuse("Endpoint",
                    "this handler is not in the endpoint's table; call add_handlers "
                    "or set_handler with it first, in every process");
  }
  return static_cast<HandlerIndex>(found - handlers_.begin());
}

void Endpoint::check_user_index(HandlerIndex index) const {
  if (index == 0) {
    bundle_->refuse("Endpoint::set_handler",
                    "index 0 is reserved for returned messages; use on_returned");
  }
}

void Endpoint::set_handler_at(HandlerIndex index, const HandlerEntry& entry, bool replace) {
  int at = index;
  if (at == 0) {
    at = 1;
    while (at < kHandlers && handlers_[at].invoke != nullptr) ++at;
    if (at == kHandlers) bundle_->refuse("Endpoint::add_handlers", "all 255 places are in use");
  } else if (handlers_[at].invoke != nullptr && !replace) {
    bundle_->refuse("Endpoint::set_handler",
                    "index " + std::to_string(at) + " is in use; say `replace` to overwrite it");
  }
  handlers_[at] = entry;
}

void Endpoint::on_returned(std::function<void(const Returned&)> handler) {
  on_returned_ = std::move(handler);
}

void Endpoint::set_segment(std::span<std::byte> bytes) {
  const Router& router = bundle_->router();
  const std::uint64_t offset = bytes.empty() ? 0 : router.segment_offset(bytes.data());
  if (offset > router.segment_bytes() || bytes.size() > router.segment_bytes() - offset) {
    bundle_->refuse("Endpoint::set_segment",
                    std::to_string(bytes.size()) +
                        " bytes are not all part of this process's "
                        "segment of " +
                        std::to_string(router.segment_bytes()) +
                        " bytes, so no other process could write there; allocate them in the "
                        "segment, or enlarge it with SPLITC_SEGMENT");
  }
  extent_ = {offset, bytes.size()};
  reinterpret_cast<PublishedExtent*>(mailbox_.owner_page())->publish(extent_);
  for (shmem::Outbox* box : boxes_) {
    if (box != nullptr) reinterpret_cast<Caller*>(box->caller())->extent.publish(extent_);
  }
  if (far_) far_->set_extent();
}

std::span<std::byte> Endpoint::segment() const noexcept {
  return {bundle_->router().segment() + extent_.offset, extent_.bytes};
}

}  // namespace am
