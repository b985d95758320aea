#include "splitc/team/mail.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "am/core/endpoint.h"
#include "am/core/token.h"
#include "am/types/types.h"
#include "splitc/world/place.h"

namespace splitc::detail {

void Letter::drop() noexcept {
  constexpr std::size_t kKept = 4096;
  call = 0;
  if (bytes.capacity() > kKept) std::vector<std::byte>().swap(bytes);
}

TeamMail::TeamMail(am::Endpoint& endpoint) : endpoint_(endpoint) {
  endpoint.add_handlers<&TeamMail::on_empty, &TeamMail::on_short, &TeamMail::on_long,
                        &TeamMail::on_data>(*this);
}

Letter& TeamBox::letter(std::uint32_t call, std::uint32_t round) {
  std::vector<Letter>& all = letters[call % 2];
  if (round >= all.size()) [[unlikely]]
    all.resize(round + 1);
  return all[round];
}

TeamBox& TeamMail::box(std::uint64_t team) {
  if (latest_box_ == nullptr || latest_ != team) {
    latest_box_ = &boxes_[team];
    latest_ = team;
  }
  return *latest_box_;
}

void TeamMail::end_box(std::uint64_t team) noexcept {
  boxes_.erase(team);
  latest_box_ = nullptr;
}

bool TeamMail::try_send(std::uint32_t proc, const Head& head, std::span<const std::byte> bytes,
                        std::size_t& done) {
  if (bytes.empty()) return endpoint_.try_request<&TeamMail::on_empty>(proc, head);
  if (bytes.size() <= kShort) {
    Short copy{};
    std::memcpy(copy.bytes.data(), bytes.data(), bytes.size());
    return endpoint_.try_request<&TeamMail::on_short>(proc, head, copy);
  }
  while (done < bytes.size()) {
    const auto piece =
        bytes.subspan(done, std::min<std::size_t>(am::max_medium(), bytes.size() - done));
    if (!endpoint_.try_request_medium<&TeamMail::on_long>(proc, piece, head,
                                                          static_cast<std::uint32_t>(done))) {
      return false;
    }
    done += piece.size();
  }
  return true;
}

bool TeamMail::try_send(std::uint32_t proc, const Piece& piece, std::span<const std::byte> bytes) {
  return endpoint_.try_request_medium<&TeamMail::on_data>(proc, bytes, piece);
}

// Pieces of one letter come in any order.
Letter& TeamMail::letter_of(const Head& head) {
  ++arrivals_;
  Letter& letter = box(head.team).letter(head.call, head.digest % kDiffers);
  if (letter.call != head.call) {
    letter.call = head.call;
    letter.arrived = 0;
    letter.length = head.length;
    letter.differs = (head.digest & kDiffers) != 0;
    letter.digest = head.digest & kDigest;
    letter.bytes.resize(head.length);
  }
  return letter;
}

void TeamMail::on_empty(am::OneWay, Head head) { letter_of(head); }

void TeamMail::on_short(am::OneWay, Head head, Short bytes) {
  Letter& letter = letter_of(head);
  std::memcpy(letter.bytes.data(), bytes.bytes.data(), head.length);
  letter.arrived = head.length;
}

void TeamMail::on_long(am::OneWay, std::span<const std::byte> bytes, Head head, std::uint32_t at) {
  Letter& letter = letter_of(head);
  std::memcpy(letter.bytes.data() + at, bytes.data(), bytes.size());
  letter.arrived += static_cast<std::uint32_t>(bytes.size());
}

// Its sender knows that this process is in the call.
void TeamMail::on_data(am::OneWay message, std::span<const std::byte> bytes, Piece piece) {
  TeamBox& box = this->box(piece.team);
  if (box.landings == nullptr || box.open != piece.call_and_step / 2) {
    refuse("team", "rank " + std::to_string(message.source()) +
                       " is in a call of a team that an exception has left here; let what handlers "
                       "throw leave the program");
  }
  Landing& landing = (*box.landings)[piece.call_and_step % 2];
  const std::size_t begin =
      landing.begin != nullptr ? landing.begin[piece.source] : piece.source * landing.stride;
  std::memcpy(landing.base + begin + piece.at, bytes.data(), bytes.size());
  landing.arrived += bytes.size();
  ++arrivals_;
}

}  // namespace splitc::detail
