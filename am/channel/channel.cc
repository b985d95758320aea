#include "am/channel/channel.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "am/channel/channels.h"
#include "am/core/bundle.h"
#include "am/types/forked.h"

namespace am {
namespace {

// Bytes of a row that is written by itself, to another node: from there on a write, with a system
// call at either end, takes less than packets, which are copied there. Of 8 rows of 64 KiB 0.71 of
// the time, of 32 KiB 0.94, of 16 KiB 1.5 (net).
constexpr std::uint64_t kWrittenRow = 32'768;

// Throws Error unless all bytes of `shape` from `first` on are of this process's segment; returns
// the offset of the first.
std::uint64_t place_of(Bundle& bundle, const std::byte* first, const Strided& shape) {
  const Router& router = bundle.router();
  const std::uint64_t offset = router.segment_offset(first);
  const std::uint64_t room = router.segment_bytes() - offset;
  if (shape.fits(room)) return offset;
  bundle.refuse("ReceiveChannel",
                "the buffer is not, or not all, in this process's segment, which others write "
                "to; take it from there (Router::segment(), or splitc's all_spread_malloc)");
}

void check_shape(Bundle& bundle, const char* call, const Strided& shape) {
  const bool overlap = (shape.rows > 1 && shape.row_stride < shape.run) ||
                       (shape.planes > 1 && shape.plane_stride < shape.run);
  if (shape.rows != 0 && shape.planes != 0 && !overlap) return;
  bundle.refuse(call, "the shape has " + std::to_string(shape.rows) + " rows and " +
                          std::to_string(shape.planes) + " planes, of runs of " +
                          std::to_string(shape.run) + " bytes at distances of " +
                          std::to_string(shape.row_stride) + " and " +
                          std::to_string(shape.plane_stride) +
                          "; there is at least one of each, and runs do not overlap");
}

}  // namespace

ReceiveChannel::ReceiveChannel(Bundle& bundle, std::span<std::byte> buffer,
                               Function<void()> callback)
    : ReceiveChannel(bundle, buffer.data(), Strided::contiguous(buffer.size()),
                     std::move(callback)) {}

ReceiveChannel::ReceiveChannel(Bundle& bundle, std::byte* first, const Strided& shape,
                               Function<void()> callback)
    : channels_(&channels_of(bundle)), end_(std::make_unique<detail::ReceiveEnd>()) {
  if (!callback) bundle.refuse("ReceiveChannel", "the callback is empty; pass a function");
  check_shape(bundle, "ReceiveChannel", shape);
  ChannelHandle& handle = end_->handle;
  handle.magic = ChannelHandle::kMagic;
  handle.rank = bundle.router().rank();
  handle.node = bundle.router().options().node;
  handle.offset = place_of(bundle, first, shape);
  handle.shape = shape;
  end_->first = first;
  end_->callback = std::move(callback);
  channels_->receivers.open(*end_);
}

ReceiveChannel::ReceiveChannel(ReceiveChannel&& other) noexcept = default;
ReceiveChannel& ReceiveChannel::operator=(ReceiveChannel&& other) noexcept {
  close();
  channels_ = other.channels_;
  end_ = std::move(other.end_);
  return *this;
}
ReceiveChannel::~ReceiveChannel() { close(); }

void ReceiveChannel::close() noexcept {
  if (end_) channels_->receivers.close(std::move(end_));
}

const ChannelHandle& ReceiveChannel::handle() const noexcept { return end_->handle; }
bool ReceiveChannel::in_use() const noexcept { return end_->phase.in_use(); }
std::uint64_t ReceiveChannel::callbacks() const noexcept { return end_->callbacks; }

void ReceiveChannel::ready(CheckedCall call) {
  channels_->receivers.mark(*end_, call);
  channels_->receivers.arm(*end_, call);
}
void ReceiveChannel::ready_mark(CheckedCall call) { channels_->receivers.mark(*end_, call); }
void ReceiveChannel::ready_poll(CheckedCall call) { channels_->receivers.arm(*end_, call); }

SendChannel::SendChannel(Bundle& bundle, const ChannelHandle& handle)
    : bundle_(&bundle), channels_(&channels_of(bundle)), end_(std::make_unique<detail::SendEnd>()) {
  end_->handle = handle;
  channels_->senders.open(*end_);
}

SendChannel::SendChannel(SendChannel&& other) noexcept = default;
SendChannel& SendChannel::operator=(SendChannel&& other) noexcept {
  leave();
  bundle_ = other.bundle_;
  channels_ = other.channels_;
  end_ = std::move(other.end_);
  return *this;
}
SendChannel::~SendChannel() { leave(); }

// Somebody else's exception, or being in a callback, must not leave a put without its source.
void SendChannel::leave() noexcept {
  if (is_forked()) return;
  try {
    close();
  } catch (const std::exception& error) {
    bundle_->router().fatal(error.what());
  }
}

void SendChannel::close() {
  if (end_) channels_->senders.close(*end_);
  end_.reset();
}

void SendChannel::set_source(std::uint32_t index, const std::byte* first, const Strided& shape,
                             const char* call) {
  check_shape(*bundle_, call, shape);
  if (shape.bytes() != end_->handle.shape.bytes()) {
    bundle_->refuse(call, detail::describe(end_->handle) + ": the source has " +
                              std::to_string(shape.bytes()) +
                              " bytes; it must have as many as the receiver's buffer");
  }
  if (!reusable()) {
    bundle_->refuse(call, detail::describe(end_->handle) +
                              ": a put has not left its source yet; wait until reusable()");
  }
  detail::SendEnd::Source& source = end_->sources[index] = {first, shape};
  end_->source_count = index + 1;
  if (end_->bytes == 0) return;
  const std::uint64_t row = std::min(shape.piece_at(0).bytes, end_->handle.shape.piece_at(0).bytes);
  source.in_one_piece = row == end_->bytes;
  source.in_long_rows = !source.in_one_piece && row >= kWrittenRow;
}

void SendChannel::associate(std::span<const std::byte> source) {
  associate(source.data(), Strided::contiguous(source.size()));
}
void SendChannel::associate(const std::byte* first, const Strided& shape) {
  set_source(0, first, shape, "associate");
  end_->first_put = end_->puts;
}
void SendChannel::alternate(std::span<const std::byte> source) {
  alternate(source.data(), Strided::contiguous(source.size()));
}
void SendChannel::alternate(const std::byte* first, const Strided& shape) {
  if (end_->source_count == 0) {
    bundle_->refuse("alternate", detail::describe(end_->handle) + ": associate() comes first");
  }
  set_source(1, first, shape, "alternate");
}

void SendChannel::put(CheckedCall call) { channels_->senders.put(*end_, call); }
bool SendChannel::reusable() const noexcept { return end_->near() || end_->all_left(); }
std::uint64_t SendChannel::puts() const noexcept { return end_->puts; }
std::span<const std::byte> SendChannel::next_source() const noexcept {
  if (end_->source_count == 0) return {};
  const detail::SendEnd::Source& source = end_->source_of(end_->puts);
  return {source.first, source.shape.extent()};
}

}  // namespace am
