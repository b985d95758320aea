#include "tests/am/fuzz/fake_link.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace am::fuzz {
namespace {

class FakeRegistration final : public link::Registration {
 public:
  FakeRegistration(std::span<std::byte> range, link::RemoteKey key) : Registration(range, key) {}
  void revoke() noexcept override {}
};

}  // namespace

FakeLink::FakeLink(const Options& options) {
  can_.emulated = options.emulated;
  can_.rma = options.rma;
  can_.ordered_write = options.rma && options.in_order ? ~std::size_t{0} : 0;
  can_.notified_write = options.rma ? 1 << 20 : 0;
  can_.registrar = this;
}

void FakeLink::put(Rank from, std::span<const std::byte> packet) {
  std::vector<std::uint64_t> words((packet.size() + 7) / 8);
  std::memcpy(words.data(), packet.data(), packet.size());
  arrived_.emplace_back(from, std::move(words));
}

std::byte* FakeLink::claim(Rank, std::uint32_t bytes) {
  if (bytes % 8 != 0 || bytes < sizeof(link::PacketHeader) || bytes > link::kMaxPacket)
    std::abort();
  claimed_.assign(bytes / 8, 0);
  claimed_bytes_ = bytes;
  return reinterpret_cast<std::byte*>(claimed_.data());
}

link::Tail* FakeLink::commit(Rank to, link::Next) {
  const auto bytes = std::as_bytes(std::span(claimed_));
  if (value_of<link::PacketHeader>(bytes).bytes != claimed_bytes_) std::abort();
  sent_.push_back({to, {bytes.begin(), bytes.end()}});
  return nullptr;
}

int FakeLink::take(link::PacketSink& sink, bool keeping) {
  if (keeping) return static_cast<int>(!arrived_.empty());
  int count = 0;
  for (std::size_t left = done_.size(); left != 0; --left, ++count) {
    link::Completion& next = *done_.front();
    done_.pop_front();
    link::complete(next);
  }
  while (!arrived_.empty()) {
    const auto [from, words] = std::move(arrived_.front());
    arrived_.pop_front();
    ++count;
    sink.deliver(from, *reinterpret_cast<const link::PacketHeader*>(words.data()));
  }
  return count;
}

// So that a sanitizer sees whose memory it is.
void FakeLink::look_at(std::span<const std::byte> bytes) {
  looked_at_.assign(bytes.begin(), bytes.end());
}

bool FakeLink::try_access(const link::RmaAccess& access, link::Completion& done) {
  if (access.kind == link::RmaAccess::kRead) {
    std::ranges::fill(access.local, std::byte{0x5a});
  } else {
    look_at(access.local);
  }
  if (access.kind == link::RmaAccess::kWriteAndNotify) {
    link::complete(done);
    return true;
  }
  done_.push_back(&done);
  return true;
}

std::unique_ptr<link::Registration> FakeLink::register_memory(std::span<std::byte> range) {
  return std::make_unique<FakeRegistration>(range, link::RemoteKey{0, range.size()});
}

}  // namespace am::fuzz
