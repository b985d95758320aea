#include "am/job/bootstrap_rendezvous.h"

#include <cstdio>
#include <cstring>
#include <utility>

namespace am {
namespace {

std::vector<Connection> meet(const MeetingPlace& place) {
  if (place.rank == 0) return meet_others(place);
  std::vector<Connection> connections(place.size);
  connections[0] = meet_first(place);
  return connections;
}

void append(std::vector<std::byte>& all, std::span<const std::byte> blob) {
  const auto bytes = static_cast<std::uint32_t>(blob.size());
  const auto head = std::as_bytes(std::span(&bytes, 1));
  all.insert(all.end(), head.begin(), head.end());
  all.insert(all.end(), blob.begin(), blob.end());
}

}  // namespace

BootstrapRendezvous::BootstrapRendezvous(Rank rank, std::uint32_t size, const Rendezvous& where,
                                         std::chrono::milliseconds patience)
    : rank_(rank),
      size_(size),
      watch_(rank, meet({where, rank, size, std::chrono::steady_clock::now() + patience})) {
  barrier();  // nobody can fail before all are there to be told
}

std::vector<std::vector<std::byte>> BootstrapRendezvous::exchange(std::span<const std::byte> mine) {
  check_blob(mine);
  const std::vector<std::byte> gathered = gather(mine);
  std::vector<std::vector<std::byte>> all;
  all.reserve(size_);
  for (std::span<const std::byte> rest = gathered; all.size() < size_;) {
    std::uint32_t bytes = 0;
    if (rest.size() >= sizeof(bytes)) {
      std::memcpy(&bytes, rest.data(), sizeof(bytes));
      rest = rest.subspan(sizeof(bytes));
    }
    if (rest.size() < bytes) {
      throw Error("rank " + std::to_string(rank_) + ": what rank 0 sent of the others is damaged");
    }
    all.emplace_back(rest.begin(), rest.begin() + bytes);
    rest = rest.subspan(bytes);
  }
  return all;
}

// Everybody's blob behind its number of bytes.
std::vector<std::byte> BootstrapRendezvous::gather(std::span<const std::byte> mine) {
  if (rank_ != 0) {
    watch_.send(0, FrameKind::kMine, mine);
    return watch_.receive(0).bytes;
  }
  std::vector<std::byte> all;
  append(all, mine);
  for (Rank rank = 1; rank < size_; ++rank) append(all, watch_.receive(rank).bytes);
  for (Rank rank = 1; rank < size_; ++rank) watch_.send(rank, FrameKind::kAll, all);
  return all;
}

void BootstrapRendezvous::barrier() { gather({}); }

void BootstrapRendezvous::finished() { watch_.finish(); }

void BootstrapRendezvous::report_abort(int exit_code, std::string_view sentence) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(sentence.size()), sentence.data());
  watch_.end_others(exit_code, sentence);
}

}  // namespace am
