#include "am/job/bootstrap/rendezvous/rendezvous.h"

#include <utility>

#include "am/job/bootstrap/early_exit.h"
#include "am/job/bootstrap/last_words.h"
#include "am/job/bootstrap/rendezvous/greeting.h"
#include "am/sodium/sodium.h"

namespace am {
namespace {

std::vector<Connection> meet(const MeetingPlace& place) {
  try {
    if (place.size > 1) Sodium::get();
  } catch (const Error& error) {
    throw Error(meeting_prefix(place.where, place.rank) + error.what());
  }
  if (place.rank == 0) return meet_others(place);
  std::vector<Connection> connections(place.size);
  connections[0] = meet_first(place);
  return connections;
}

}  // namespace

BootstrapRendezvous::BootstrapRendezvous(Rank rank, std::uint32_t size, const Rendezvous& where,
                                         std::chrono::milliseconds patience)
    : rank_(rank),
      size_(size),
      watch_(rank, meet({where, rank, size, std::chrono::steady_clock::now() + patience})) {
  barrier();  // nobody can fail before all are there to be told
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

std::vector<std::vector<std::byte>> BootstrapRendezvous::exchange(std::span<const std::byte> mine) {
  check_blob(mine);
  const std::vector<std::byte> gathered = gather(mine);
  auto all = read_blobs(gathered, size_);
  if (!all) {
    throw Error("rank " + std::to_string(rank_) + ": what rank 0 sent of the others is damaged");
  }
  return std::move(*all);
}

// Everybody's blob behind its number of bytes.
std::vector<std::byte> BootstrapRendezvous::gather(std::span<const std::byte> mine) {
  if (rank_ != 0) {
    watch_.send(0, FrameKind::kMine, mine);
    return watch_.receive(0).bytes;
  }
  std::vector<std::byte> all;
  append_blob(all, mine);
  for (Rank rank = 1; rank < size_; ++rank) append_blob(all, watch_.receive(rank).bytes);
  for (Rank rank = 1; rank < size_; ++rank) watch_.send(rank, FrameKind::kAll, all);
  return all;
}

void BootstrapRendezvous::barrier() { gather({}); }

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
