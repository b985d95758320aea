#include "am/job/bootstrap/rendezvous/frame.h"

#include <algorithm>
#include <cstring>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/bootstrap/packing.h"

namespace am {

std::vector<std::byte> frame_bytes(FrameKind kind, std::span<const std::byte> bytes) {
  const FrameHead head{kind, static_cast<std::uint32_t>(bytes.size())};
  std::vector<std::byte> all(sizeof head + bytes.size());
  std::memcpy(all.data(), &head, sizeof head);
  if (!bytes.empty()) std::memcpy(all.data() + sizeof head, bytes.data(), bytes.size());
  return all;
}

std::vector<std::byte> end_frame(int exit_code, std::string_view why) {
  std::vector<std::byte> bytes(1 + why.size());
  bytes[0] = static_cast<std::byte>(exit_code);  // that is all exit() keeps
  if (!why.empty()) std::memcpy(bytes.data() + 1, why.data(), why.size());
  return frame_bytes(FrameKind::kEnd, bytes);
}

End read_end(const Frame& frame) {
  if (frame.bytes.empty()) return {1, ""};
  const int code = std::to_integer<int>(frame.bytes[0]);
  const auto* text = reinterpret_cast<const char*>(frame.bytes.data());
  return {code == 0 ? 1 : code, std::string(text + 1, frame.bytes.size() - 1)};
}

FrameReader::FrameReader(std::uint32_t processes)
    : max_bytes_(
          std::max<std::size_t>(2 * Bootstrap::kMaxSentence, processes * Packer::kMaxPacked)) {}

bool FrameReader::add(std::span<const std::byte> bytes, std::vector<Frame>& frames) {
  rest_.insert(rest_.end(), bytes.begin(), bytes.end());
  std::size_t at = 0;
  while (rest_.size() - at >= sizeof(FrameHead)) {
    FrameHead head;
    std::memcpy(&head, &rest_[at], sizeof(head));
    if (head.kind < FrameKind::kMine || head.kind > FrameKind::kEnd) return false;
    if (head.bytes > max_bytes_) return false;
    if (rest_.size() - at - sizeof(head) < head.bytes) break;
    const auto begin = rest_.begin() + static_cast<std::ptrdiff_t>(at + sizeof(head));
    frames.push_back({head.kind, {begin, begin + head.bytes}});
    at += sizeof(head) + head.bytes;
  }
  rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

}  // namespace am
