#include "am/job/bootstrap/packing.h"

#include <algorithm>

namespace am {
namespace {

// A blob is its number of bytes (16 bits, the lower ones first), and then steps until it is whole:
// how many bytes are those of the blob before at the same place, how many follow in the text, and
// these.
constexpr std::size_t kMaxRun = 255;
// Fewer equal bytes among others are not worth a step.
constexpr std::size_t kWorthwhile = 3;

using Blob = std::span<const std::byte>;

// How many bytes from `at` on both have in common.
std::size_t common(Blob blob, Blob before, std::size_t at) {
  std::size_t same = 0;
  const std::size_t end = std::min(blob.size(), before.size());
  while (at + same < end && blob[at + same] == before[at + same]) ++same;
  return same;
}

// How many of `blob` from `at` on are to be written as they are.
std::size_t different(Blob blob, Blob before, std::size_t at) {
  std::size_t end = at;
  while (end < blob.size() && end - at < kMaxRun && common(blob, before, end) < kWorthwhile) ++end;
  return end - at;
}

std::size_t number(std::byte value) { return std::to_integer<std::size_t>(value); }

// Takes bytes from the front of a text, as long as there are any.
class Reader {
 public:
  explicit Reader(Blob text) : rest_(text) {}

  bool has(std::size_t bytes) const { return rest_.size() >= bytes; }
  Blob take(std::size_t bytes) {
    const Blob taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }

 private:
  Blob rest_;
};

bool read_blob(Reader& text, Blob before, std::vector<std::byte>& blob) {
  if (!text.has(2)) return false;
  const Blob head = text.take(2);
  const std::size_t bytes = number(head[0]) | number(head[1]) << 8;
  if (bytes > Bootstrap::kMaxBlob) return false;
  while (blob.size() < bytes) {
    if (!text.has(2)) return false;
    const Blob step = text.take(2);
    const std::size_t same = number(step[0]);
    const std::size_t other = number(step[1]);
    const std::size_t at = blob.size();
    if (same + other == 0 || same + other > bytes - at || !text.has(other)) return false;
    if (same > 0 && (at > before.size() || same > before.size() - at)) return false;
    if (same > 0) blob.insert(blob.end(), &before[at], &before[at] + same);
    const Blob literal = text.take(other);
    blob.insert(blob.end(), literal.begin(), literal.end());
  }
  return true;
}

}  // namespace

void Packer::add(std::span<const std::byte> blob) {
  text_.push_back(static_cast<std::byte>(blob.size() & 0xff));
  text_.push_back(static_cast<std::byte>(blob.size() >> 8));
  for (std::size_t at = 0; at < blob.size();) {
    const std::size_t same = std::min(common(blob, before_, at), kMaxRun);
    at += same;
    const std::size_t other = different(blob, before_, at);
    text_.push_back(static_cast<std::byte>(same));
    text_.push_back(static_cast<std::byte>(other));
    const Blob literal = blob.subspan(at, other);
    text_.insert(text_.end(), literal.begin(), literal.end());
    at += other;
  }
  before_.assign(blob.begin(), blob.end());
}

std::optional<std::vector<std::vector<std::byte>>> unpack(std::span<const std::byte> text,
                                                          std::uint32_t count) {
  Reader reader(text);
  std::vector<std::vector<std::byte>> blobs;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<std::byte> blob;
    if (!read_blob(reader, i == 0 ? Blob() : Blob(blobs.back()), blob)) return std::nullopt;
    blobs.push_back(std::move(blob));
  }
  if (reader.has(1)) return std::nullopt;
  return blobs;
}

}  // namespace am
