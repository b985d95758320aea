#include "am/zero_copy/zero_copy.h"

#include <algorithm>
#include <memory>

#include "am/types/forked.h"
#include "am/zero_copy/engine.h"

namespace am {

ZeroCopy::ZeroCopy(Exchange& job, Bundle& bundle, const Options& options)
    : engine_(std::make_unique<zero_copy::Engine>(
          bundle, zero_copy::Engine::Setup{
                      .pool_bytes = options.pool_bytes,
                      .connect = [&job](Endpoint& endpoint) { job.connect(endpoint); },
                      .exchange = [&job](const auto& card) { return job.exchange(card); }})) {}

ZeroCopy::ZeroCopy(Owned<zero_copy::Engine> engine) : engine_(std::move(engine)) {}

ZeroCopy::~ZeroCopy() = default;

std::span<std::byte> ZeroCopy::alloc(std::size_t bytes, Here where) {
  return engine_->buffers().allocate(bytes, {"ZeroCopy::alloc", where});
}
void ZeroCopy::free(std::span<std::byte> block, Here where) {
  engine_->buffers().release(block, {"ZeroCopy::free", where});
}

void ZeroCopy::add_handler(const HandlerEntry& entry) { engine_->requests().add_handler(entry); }

HandlerIndex ZeroCopy::index_of(void (*invoke)(ZeroCopyRequest&, const std::byte*)) const {
  return engine_->requests().index_of(invoke);
}

HandlerIndex ZeroCopy::add_untyped_handler(UntypedHandler function, void* context) {
  return engine_->requests().add_untyped_handler({nullptr, 0, function, context});
}

void ZeroCopy::request_untyped(std::span<const Rank> to, Payloads payloads, ZeroCopyCallback done,
                               HandlerIndex handler, std::span<const std::uint32_t> words) {
  zero_copy::Announcement announcement{};
  engine_->requests().check_untyped(handler, words.size());
  announcement.handler = handler;
  announcement.words = static_cast<std::uint8_t>(words.size());
  std::ranges::copy(std::as_bytes(words), announcement.arguments);
  announce(to, payloads, std::move(done), announcement);
}

void ZeroCopy::announce(std::span<const Rank> to, Payloads payloads, ZeroCopyCallback done,
                        const zero_copy::Announcement& announcement) {
  engine_->requests().announce(to, payloads, std::move(done), announcement);
}

void ZeroCopy::post(std::uint64_t tag, std::span<std::byte> memory, ZeroCopyCallback done,
                    std::uint64_t reference, Here where) {
  zero_copy::Requests& requests = engine_->requests();
  requests.post(tag, requests.posted_end(memory, std::move(done), reference),
                {"ZeroCopy::post", where});
}

bool ZeroCopy::idle() const noexcept { return engine_->idle(); }
void ZeroCopy::wait(Here where) {
  engine_->bundle().wait_until([this] { return idle(); }, Wake::kRung,
                               [&] {
                                 return Reason{.call = {"ZeroCopy::wait", where},
                                               .needs = "the end of its transfers",
                                               .needs_all = true};
                               });
}
const ZeroCopyStats& ZeroCopy::stats() const noexcept { return engine_->stats(); }

ZeroCopyBuffer::ZeroCopyBuffer(ZeroCopy& zero, std::span<std::byte> memory,
                               ZeroCopyCallback callback, ZeroCopyMode mode, Here where)
    : engine_(zero.engine_.get()), slot_(engine_->slots().open()) {
  if (slot_ == zero_copy::kNone) {
    engine_->bundle().refuse(
        {"ZeroCopyBuffer", where},
        "there are " + std::to_string(zero_copy::kMaxSlots) + " buffers already; end some");
  }
  try {
    init(memory, std::move(callback), mode, where);
  } catch (...) {
    engine_->buffers().close(slot_);
    throw;
  }
}

ZeroCopyBuffer::~ZeroCopyBuffer() {
  if (engine_ != nullptr && !is_forked()) engine_->buffers().close(slot_);
}

ZeroCopyBuffer::ZeroCopyBuffer(ZeroCopyBuffer&& other) noexcept
    : engine_(std::exchange(other.engine_, nullptr)), slot_(other.slot_) {}

ZeroCopyBuffer& ZeroCopyBuffer::operator=(ZeroCopyBuffer&& other) noexcept {
  std::swap(engine_, other.engine_);
  std::swap(slot_, other.slot_);
  return *this;
}

void ZeroCopyBuffer::init(std::span<std::byte> memory, ZeroCopyCallback callback, ZeroCopyMode mode,
                          Here where) {
  engine_->buffers().init(slot_, memory, std::move(callback), mode,
                          {"ZeroCopyBuffer::init", where});
}

void ZeroCopyBuffer::set_reference(std::uint64_t reference) {
  engine_->slots()[slot_].info.reference = reference;
}

ZeroCopyInfo ZeroCopyBuffer::info() const { return engine_->slots()[slot_].info; }

void ZeroCopyBuffer::get(const ZeroCopyInfo& source, Here where) {
  engine_->start(false, slot_, source, {"ZeroCopyBuffer::get", where});
}
void ZeroCopyBuffer::put(const ZeroCopyInfo& destination, Here where) {
  engine_->start(true, slot_, destination, {"ZeroCopyBuffer::put", where});
}

void ZeroCopyBuffer::deregister_memory(Here where) {
  engine_->buffers().unprepare(slot_, {"ZeroCopyBuffer::deregister_memory", where});
}
void ZeroCopyBuffer::register_memory() { engine_->buffers().prepare(slot_); }

bool ZeroCopyBuffer::registered() const { return engine_->slots()[slot_].prepared; }

std::span<std::byte> ZeroCopyBuffer::memory() const { return engine_->slots()[slot_].memory(); }

ZeroCopyMode ZeroCopyBuffer::mode() const { return info().mode; }
std::uint32_t ZeroCopyBuffer::under_way() const { return engine_->slots()[slot_].under_way; }

}  // namespace am
