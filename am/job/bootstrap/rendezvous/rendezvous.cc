#include "am/job/bootstrap/rendezvous/rendezvous.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "am/job/bootstrap/endings.h"
#include "am/job/bootstrap/packing.h"
#include "am/job/bootstrap/rendezvous/messages.h"
#include "am/sodium/sodium.h"

namespace am {
namespace {

std::vector<Met> meet(const MeetingPlace& place) {
  try {
    if (place.size > 1) Sodium::get();
  } catch (const Error& error) {
    throw Error(meeting_prefix(place.where, place.rank) + error.what());
  }
  if (place.rank == 0) return meet_others(place);
  std::vector<Met> met;
  met.push_back({0, meet_first(place)});
  return met;
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

// Zeros where that is none.
template <class T>
T value_of(std::span<const std::byte> bytes) {
  T value{};
  if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

BootstrapRendezvous::BootstrapRendezvous(Rank rank, std::uint32_t size, const Rendezvous& where,
                                         std::chrono::milliseconds patience)
    : rank_(rank),
      size_(size),
      relays_(Relays::star(rank, size)),
      watch_(rank, size, meet({where, rank, size, std::chrono::steady_clock::now() + patience})) {
  barrier();  // nobody can fail before all are there to be told
  if (size > Relays::kStar) {
    join_relays({where, rank, size, std::chrono::steady_clock::now() + patience / 3});
  }
  if (size_ == 1) return;
  expect_no_exit([this](int code) {
    const std::string sentence = early_exit_sentence(rank_, code);
    if (code <= 0) print_sentence(sentence);
    watch_.end_others(code <= 0 ? 1 : code, sentence);
  });
}

BootstrapRendezvous::~BootstrapRendezvous() {
  if (finished_ || size_ == 1) return;
  // The others notice that the connections close.
  expect_no_exit([rank = rank_](int code) {
    if (code <= 0) print_sentence(early_exit_sentence(rank, code));
  });
}

// Makes the connections of the tree, which all use then, or nobody.
void BootstrapRendezvous::join_relays(const MeetingPlace& place) {
  std::optional<std::vector<Met>> met;
  if (rank_ == 0) {
    door_of_parent({});
    met.emplace();
  } else {
    RelayMeeting meeting(place, watch_.here(0));
    const Door parent = door_of_parent(meeting.door());
    if (parent.family != 0) met = meeting.meet(parent);
  }
  if (!passes(met.has_value())) return;
  watch_.add(std::move(*met));
  relays_ = Relays::tree(rank_, size_);
}

// Where the process is that this one's parent is in the tree. Its family is 0 if there is to be no
// tree.
Door BootstrapRendezvous::door_of_parent(const Door& mine) {
  const auto blobs = collect(bytes_of(mine));
  if (rank_ != 0) return value_of<Door>(watch_.receive(0).bytes);
  std::vector<Door> doors;
  doors.reserve(blobs.size());
  for (const auto& blob : blobs) doors.push_back(value_of<Door>(blob));
  const bool possible = can_meet(std::span(doors).subspan(1));
  doors[0] = doors[1];  // of those that have a connection to it already
  for (Rank rank = 1; rank < size_; ++rank) {
    const Door parent = possible ? doors[Relays::tree(rank, size_).parent] : Door{};
    watch_.send(rank, FrameKind::kAll, bytes_of(parent));
  }
  return {};
}

// Whether it is true for all.
bool BootstrapRendezvous::passes(bool mine) {
  const auto others = collect(bytes_of(mine));
  const bool all = std::ranges::all_of(others, [](const auto& one) { return value_of<bool>(one); });
  const auto verdict = bytes_of(all);
  return value_of<bool>(spread({verdict.begin(), verdict.end()}));
}

std::vector<std::vector<std::byte>> BootstrapRendezvous::exchange(std::span<const std::byte> mine) {
  check_blob(mine);
  Packer packer;
  for (const std::vector<std::byte>& blob : collect(mine)) packer.add(blob);
  auto all = unpack(spread(packer.take()), size_);
  if (!all) {
    throw Error("rank " + std::to_string(rank_) + ": what rank 0 sent of the others is damaged");
  }
  return std::move(*all);
}

// At rank 0 what all say, by rank; elsewhere nothing.
std::vector<std::vector<std::byte>> BootstrapRendezvous::collect(std::span<const std::byte> mine) {
  if (rank_ != 0) {
    watch_.send(0, FrameKind::kMine, mine);
    return {};
  }
  std::vector<std::vector<std::byte>> all;
  all.emplace_back(mine.begin(), mine.end());
  for (Rank rank = 1; rank < size_; ++rank) {
    all.push_back(watch_.receive(rank).bytes);
    if (all.back().size() > kMaxBlob) {
      throw Error("rank 0: what rank " + std::to_string(rank) + " sent is damaged");
    }
  }
  return all;
}

// What rank 0 has said to all.
std::vector<std::byte> BootstrapRendezvous::spread(std::vector<std::byte> said) {
  if (rank_ != 0) said = watch_.receive(relays_.parent).bytes;
  const Awaited& children = relays_.children;
  for (std::uint32_t i = 0; i < children.count; ++i) {
    watch_.send(children.first + i, FrameKind::kAll, said);
  }
  return said;
}

void BootstrapRendezvous::barrier() {
  collect({});
  spread({});
}

void BootstrapRendezvous::finished() {
  watch_.finish();
  finished_ = true;
  permit_exit();
}

void BootstrapRendezvous::report_abort(int exit_code, std::string_view sentence) {
  print_sentence(sentence);
  watch_.end_others(exit_code, sentence);
}

}  // namespace am
