// Zero-copy buffers: one process sends what names its buffer, and another gets from there or puts
// to there, up to three times. Memory of every kind, registered in every mode, in two bundles.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "am/am.h"
#include "splitc/splitc.h"
#include "tests/soak/block.h"
#include "tests/soak/families.h"

namespace soak {
namespace zero_copy {

constexpr std::string_view kName = "zero_copy";
constexpr std::uint64_t kInitiators = 1 << 20;  // numbers of steps of initiators begin here

// One end of a transfer.
struct End {
  std::uint32_t proc = 0;
  Place place = Place::kHeap;
  bool registered = false;  // beforehand
  std::size_t shift = 0;

  am::ZeroCopyMode mode() const {
    if (place == Place::kPool) return am::ZeroCopyMode::kPrereg;
    return registered ? am::ZeroCopyMode::kReg : am::ZeroCopyMode::kUnreg;
  }
};

struct Transfer {
  std::uint64_t id = 0;
  std::uint32_t zero = 0;  // which ZeroCopy
  bool get = false;
  std::uint64_t times = 1;
  std::uint64_t bytes = 0;
  std::uint64_t more = 0;  // bytes that the destination has
  End owner;
  End initiator;
};

// What this process has of a transfer.
struct Side {
  std::unique_ptr<Block> block;
  std::optional<am::ZeroCopyBuffer> buffer;
  std::optional<am::ZeroCopyInfo> info;  // of the owner's buffer, at the initiator
  bool shown = false;
  std::uint64_t started = 0;
  std::uint64_t done = 0;  // callbacks

  void end() {
    buffer.reset();  // before its memory
    block.reset();
  }
};

class Transfers : public Family {
 public:
  explicit Transfers(const Settings&);
  ~Transfers() override { current = nullptr; }

  void plan(const Round& round, Schedule& schedule) override;
  void end() override;

  static void on_info(am::OneWay message, std::uint64_t id, am::ZeroCopyInfo info);

 private:
  static inline Transfers* current = nullptr;  // of the handler

  void open(const Transfer& transfer, Side& side, bool own);
  void called(const Transfer& transfer, Side& side, bool own, const am::ZeroCopyDone& done);
  bool serve(const Transfer& transfer, Side& side);
  bool move(const Transfer& transfer, Side& side);

  const Round* round_ = nullptr;
  am::Bundle bundle_{splitc::world().job()};
  am::ZeroCopy zero_[2];
  am::Endpoint endpoint_{splitc::world().bundle()};
  std::vector<Transfer> transfers_;  // of this round, of all, by id
  std::vector<Side> owners_;         // by id
  std::vector<Side> initiators_;
};

Transfers::Transfers(const Settings&)
    : zero_{am::ZeroCopy(splitc::world().job(), splitc::world().bundle()),
            am::ZeroCopy(splitc::world().job(), bundle_)} {
  current = this;
  endpoint_.add_handlers<&Transfers::on_info>();
  splitc::world().job().connect(endpoint_);
}

void Transfers::end() {
  for (std::uint32_t proc = 0; proc < splitc::procs(); ++proc) endpoint_.unmap(proc);
}

void Transfers::on_info(am::OneWay message, std::uint64_t id, am::ZeroCopyInfo info) {
  Transfers& self = *current;
  if (id >= self.transfers_.size() || self.transfers_[id].owner.proc != message.source() ||
      self.transfers_[id].initiator.proc != self.round_->me() || self.initiators_[id].info) {
    self.round_->fail(kName, id, "a message that was not expected");
  }
  self.initiators_[id].info = info;
}

// Makes the owner's end, or the initiator's.
void Transfers::open(const Transfer& transfer, Side& side, bool own) {
  const End& end = own ? transfer.owner : transfer.initiator;
  const bool source = own == transfer.get;
  const std::uint64_t bytes = transfer.bytes + (source ? 0 : transfer.more);
  am::ZeroCopy& zero = zero_[transfer.zero];
  side.block = std::make_unique<Block>(zero, end.place, bytes, end.shift);
  if (source) fill(side.block->bytes(), round_->key(kName, transfer.id));
  side.buffer.emplace(
      zero, side.block->bytes(),
      [this, &transfer, &side, own](const am::ZeroCopyDone& done) {
        called(transfer, side, own, done);
      },
      end.mode());
  side.buffer->set_reference(transfer.id);
}

void Transfers::called(const Transfer& transfer, Side& side, bool own,
                       const am::ZeroCopyDone& done) {
  const bool source = own == transfer.get;
  const std::uint32_t peer = own ? transfer.initiator.proc : transfer.owner.proc;
  if (done.source != source || done.peer != peer || done.bytes != transfer.bytes ||
      done.buffer.reference != transfer.id || ++side.done > transfer.times) {
    round_->fail(kName, transfer.id, "a callback that came too often, or of another transfer");
  }
  if (source) return;
  round_->expect(side.block->difference(round_->key(kName, transfer.id), transfer.bytes), kName,
                 transfer.id, own ? "what was put here" : "what was got");
  if (!own) side.block->scribble();
}

bool Transfers::serve(const Transfer& transfer, Side& side) {
  if (!side.block) open(transfer, side, true);
  if (!side.shown) {
    side.shown = endpoint_.try_request<&Transfers::on_info>(transfer.initiator.proc, transfer.id,
                                                            side.buffer->info());
  }
  if (side.done != transfer.times) return false;
  side.end();
  return true;
}

bool Transfers::move(const Transfer& transfer, Side& side) {
  if (!side.info || side.done != side.started) return false;
  if (!side.block) open(transfer, side, false);
  if (side.started == transfer.times) {
    side.end();
    return true;
  }
  ++side.started;
  if (transfer.get) {
    side.buffer->get(*side.info);
  } else {
    side.buffer->put(*side.info);
  }
  return false;
}

void Transfers::plan(const Round& round, Schedule& schedule) {
  round_ = &round;
  schedule.poll_also(bundle_);
  transfers_.clear();
  Random random = round.for_all(kName);
  const std::uint64_t count = std::uint64_t{round.operations(random)} * round.procs();
  const auto end = [&] {
    return End{random.below(round.procs()), static_cast<Place>(random.below(kPlaces)),
               random.one_in(2), random.below(std::uint64_t{16})};
  };
  for (std::uint64_t id = 0; id < count; ++id) {
    transfers_.push_back({.id = id,
                          .zero = random.below(2u),
                          .get = random.one_in(2),
                          .times = random.between(1, 3),
                          .bytes = random.size(round.settings().max_bytes),
                          .more = random.one_in(3) ? random.below(std::uint64_t{100}) : 0,
                          .owner = end(),
                          .initiator = end()});
  }
  owners_.clear();
  initiators_.clear();
  owners_.resize(count);
  initiators_.resize(count);
  for (const Transfer& transfer : transfers_) {
    const std::uint64_t id = transfer.id;
    if (transfer.owner.proc == round.me()) {
      schedule.add(kName, id, [=, this, &transfer] { return serve(transfer, owners_[id]); });
    }
    if (transfer.initiator.proc == round.me()) {
      schedule.add(kName, kInitiators + id,
                   [=, this, &transfer] { return move(transfer, initiators_[id]); });
    }
  }
}

}  // namespace zero_copy

std::unique_ptr<Family> make_zero_copy(const Settings& settings) {
  return std::make_unique<zero_copy::Transfers>(settings);
}

}  // namespace soak
