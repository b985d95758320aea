// Requests whose payload is not copied, to one process or several. The receiver says where the
// payload goes in the handler, by a tag under which memory is posted before or afterwards, or not
// at all; the memory is as large as the payload, smaller or larger.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "am/am.h"
#include "splitc/splitc.h"
#include "tests/soak/block.h"
#include "tests/soak/families.h"

namespace soak {
namespace offers {

constexpr std::string_view kName = "offers";
constexpr std::uint64_t kPosts = 1 << 20;  // numbers of steps that post begin here

enum class When : std::uint32_t { kInside, kEarly, kLate, kNever, kWhens };

struct Offer {
  std::uint64_t id = 0;
  std::uint32_t who = 0;
  std::uint64_t bytes = 0;
  std::size_t shift = 0;
  Place from = Place::kHeap;
  std::vector<am::Rank> to;
  // Where each takes it, by rank.
  std::vector<When> when;
  std::vector<Place> place;
  std::vector<std::uint64_t> room;

  std::uint64_t taken(std::uint32_t proc) const {
    return when[proc] == When::kNever ? 0 : std::min(bytes, room[proc]);
  }
};

// What this process has of an offer.
struct Taken {
  std::unique_ptr<Block> source;
  std::unique_ptr<Block> memory;
  bool asked = false;  // the handler has run
};

class Offers : public Family {
 public:
  explicit Offers(const Settings&);
  ~Offers() override { current = nullptr; }

  void plan(const Round& round, Schedule& schedule) override;
  bool arrived() override { return awaited_ == 0; }
  void verify(const Round&) override { mine_.clear(); }

  static void on_offer(am::ZeroCopyRequest& request, std::uint64_t id);

 private:
  static inline Offers* current = nullptr;  // of the handler

  void draw(const Round& round, Random& random, std::uint64_t id);
  void send(const Offer& offer);
  void post(const Offer& offer);
  void landed(const Offer& offer, const am::ZeroCopyDone& done);
  am::ZeroCopyCallback on_landed(const Offer& offer) {
    return [this, &offer](const am::ZeroCopyDone& done) { landed(offer, done); };
  }

  const Round* round_ = nullptr;
  am::ZeroCopy zero_{splitc::world().job(), splitc::world().bundle()};
  std::vector<Offer> offers_;  // of this round, of all, by id
  std::vector<Taken> mine_;    // by id
  std::uint64_t awaited_ = 0;  // handlers and callbacks that have not run here
};

Offers::Offers(const Settings&) {
  current = this;
  zero_.add_handlers<&Offers::on_offer>();
}

void Offers::send(const Offer& offer) {
  Taken& mine = mine_[offer.id];
  mine.source = std::make_unique<Block>(zero_, offer.from, offer.bytes, offer.shift);
  fill(mine.source->bytes(), round_->key(kName, offer.id));
  zero_.request_zero_copy<&Offers::on_offer>(
      offer.to, mine.source->bytes(),
      [this, &offer, &mine](const am::ZeroCopyDone& done) {
        std::uint64_t least = offer.bytes;
        for (const am::Rank proc : offer.to) least = std::min(least, offer.taken(proc));
        if (!done.source || done.bytes != least || !mine.source) {
          round_->fail(kName, offer.id,
                       "the callback of its sender says that " + std::to_string(done.bytes) +
                           " bytes were taken, not " + std::to_string(least));
        }
        mine.source->scribble();
        --awaited_;
      },
      offer.id);
}

void Offers::post(const Offer& offer) {
  zero_.post(offer.id, mine_[offer.id].memory->bytes(), on_landed(offer), offer.id);
}

void Offers::on_offer(am::ZeroCopyRequest& request, std::uint64_t id) {
  Offers& self = *current;
  const Round& round = *self.round_;
  if (id >= self.offers_.size() || self.mine_[id].asked ||
      request.source() != self.offers_[id].who || request.bytes() != self.offers_[id].bytes) {
    round.fail(kName, id, "a request that was not expected, or came twice");
  }
  const Offer& offer = self.offers_[id];
  Taken& mine = self.mine_[id];
  mine.asked = true;
  --self.awaited_;
  switch (offer.when[round.me()]) {
    case When::kInside: request.receive(mine.memory->bytes(), self.on_landed(offer), id); break;
    case When::kEarly:
    case When::kLate: request.match(id); break;
    default: break;
  }
}

void Offers::landed(const Offer& offer, const am::ZeroCopyDone& done) {
  const std::uint64_t bytes = offer.taken(round_->me());
  if (done.source || done.bytes != bytes || done.peer != offer.who ||
      done.buffer.reference != offer.id) {
    round_->fail(kName, offer.id,
                 std::to_string(done.bytes) + " and not " + std::to_string(bytes) +
                     " bytes are said to have come");
  }
  round_->expect(mine_[offer.id].memory->difference(round_->key(kName, offer.id), bytes), kName,
                 offer.id, "a payload");
  --awaited_;
}

void Offers::draw(const Round& round, Random& random, std::uint64_t id) {
  Offer offer{.id = id,
              .who = random.below(round.procs()),
              .bytes = random.size(round.settings().max_bytes),
              .shift = random.below(std::uint64_t{16}),
              .from = static_cast<Place>(random.below(kPlaces)),
              .to = {},
              .when = {},
              .place = {},
              .room = {}};
  const bool many = random.one_in(3);
  const std::uint32_t one = random.below(round.procs());
  for (std::uint32_t proc = 0; proc < round.procs(); ++proc) {
    if (many ? random.one_in(2) : proc == one) offer.to.push_back(proc);
    offer.when.push_back(static_cast<When>(random.below(static_cast<std::uint32_t>(When::kWhens))));
    offer.place.push_back(static_cast<Place>(random.below(kPlaces)));
    const std::uint64_t other = random.below(offer.bytes + 100);
    offer.room.push_back(random.one_in(3) ? other : offer.bytes);
  }
  if (offer.to.empty()) offer.to.push_back(one);
  offers_.push_back(std::move(offer));
}

void Offers::plan(const Round& round, Schedule& schedule) {
  round_ = &round;
  offers_.clear();
  awaited_ = 0;
  Random random = round.for_all(kName);
  const std::uint64_t count = std::uint64_t{round.operations(random)} * round.procs() / 2;
  for (std::uint64_t id = 0; id < count; ++id) draw(round, random, id);
  mine_.clear();
  mine_.resize(count);
  for (const Offer& offer : offers_) {
    const std::uint64_t id = offer.id;
    if (offer.who == round.me()) {
      ++awaited_;
      schedule.add_once(kName, id, [this, &offer] { send(offer); });
    }
    if (std::ranges::find(offer.to, round.me()) == offer.to.end()) continue;
    ++awaited_;
    const When when = offer.when[round.me()];
    if (when == When::kNever) continue;
    ++awaited_;
    mine_[id].memory = std::make_unique<Block>(zero_, offer.place[round.me()],
                                               offer.room[round.me()], offer.shift);
    if (when == When::kEarly) post(offer);
    if (when != When::kLate) continue;
    schedule.add(kName, kPosts + id, [this, &offer] {
      if (!mine_[offer.id].asked) return false;
      post(offer);
      return true;
    });
  }
}

}  // namespace offers

std::unique_ptr<Family> make_offers(const Settings& settings) {
  return std::make_unique<offers::Offers>(settings);
}

}  // namespace soak
