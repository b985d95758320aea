// Split-phase accesses: get, put and their bulk forms, completed by sync() and try_sync(), of
// everything or of one. Behind a sync() that completed a put a third process is asked to read what
// was put, and must find it.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "am/am.h"
#include "splitc/splitc.h"
#include "tests/soak/families.h"
#include "tests/soak/field.h"
#include "tests/soak/objects.h"

namespace soak {
namespace split {

constexpr std::string_view kName = "split";
constexpr std::uint64_t kGets = 1 << 20;       // numbers of operations that get begin here
constexpr std::uint64_t kSyncs = 1 << 21;      // ... that wait
constexpr std::uint64_t kWitnesses = 1 << 22;  // ... that read what others have put

struct Put {
  Range range;
  std::uint32_t who = 0;
  std::uint32_t witness = 0;  // who shall read it as well; who itself: nobody
  bool object = false;
  std::uint32_t type = 0;  // of the object
  std::size_t shift = 0;
};

// What has been started and is not known to be complete.
struct Flight {
  splitc::handle handle;
  Range range;
  const Put* put = nullptr;  // else it is a get
  Local local;               // its source or destination
};

class Split : public Family {
 public:
  explicit Split(const Settings& settings);
  ~Split() override { current = nullptr; }

  void plan(const Round& round, Schedule& schedule) override;
  void conclude(const Round& round) override;
  void verify(const Round& round) override {
    written_.verify(round);
    read_.verify(round);
  }
  void end() override;

  static void on_put(am::OneWay message, std::uint64_t put);

 private:
  static inline Split* current = nullptr;  // of on_put()

  void plan_put(const Round& round, Schedule& schedule, Random& random, std::uint64_t id);
  void plan_get(const Round& round, Schedule& schedule, Random& random, std::uint64_t id);
  void add_put(Schedule& schedule, const Put& put);
  void start_put(const Put& put);
  void start_get(const Range& range, std::size_t shift);
  void start_get_object(const Range& range, std::uint32_t type);
  void complete_some(std::uint64_t how, Random& random);
  bool complete_one(Random& random);
  void complete_all();
  void settle(Flight& flight);
  bool bear_witness(const Put& put);
  bool inform_witnesses();
  void send_news();

  const Round* round_ = nullptr;
  Field written_;
  Field read_;
  am::Endpoint endpoint_{splitc::world().bundle()};  // index r: that of rank r
  std::vector<Put> puts_;                            // of this round, of all
  std::uint32_t starts_ = 0;                         // own puts that have not been started
  std::vector<Flight> flights_;
  std::vector<std::uint64_t> news_;  // puts that are complete, and whose witness does not know
  std::vector<bool> known_;          // by put: it is complete; of those that this process reads
};

Split::Split(const Settings& settings)
    : written_(kName, 4 * settings.max_bytes + (256 << 10)),
      read_(kName, 4 * settings.max_bytes + (256 << 10)) {
  current = this;
  endpoint_.add_handlers<&Split::on_put>();
  splitc::world().job().connect(endpoint_);
}

void Split::end() {
  for (std::uint32_t proc = 0; proc < splitc::procs(); ++proc) endpoint_.unmap(proc);
}

void Split::start_put(const Put& put) {
  const Range& range = put.range;
  --starts_;
  Flight flight{{}, range, &put, Local(range.bytes, put.shift)};
  if (put.object) {
    with_object(put.type, [&]<class T>() {
      flight.handle =
          splitc::put(splitc::global_ptr<T>(written_.at(range)), object_of<T>(range.key));
    });
  } else {
    fill(flight.local.bytes(), range.key);
    flight.handle = splitc::bulk_put(written_.at(range), flight.local.data(), range.bytes);
  }
  flights_.push_back(std::move(flight));
}

void Split::start_get(const Range& range, std::size_t shift) {
  Flight flight{{}, range, nullptr, Local(range.bytes, shift)};
  flight.handle = splitc::bulk_get(flight.local.data(), read_.at(range), range.bytes);
  flights_.push_back(std::move(flight));
}

void Split::start_get_object(const Range& range, std::uint32_t type) {
  Flight flight{{}, range, nullptr, Local(range.bytes, 0)};
  with_object(type, [&]<class T>() {
    flight.handle = splitc::get(*reinterpret_cast<T*>(flight.local.data()),
                                splitc::global_ptr<T>(read_.at(range)));
  });
  flights_.push_back(std::move(flight));
}

// It is complete.
void Split::settle(Flight& flight) {
  if (flight.put == nullptr) {
    return round_->expect(flight.local.difference(flight.range.key), kName, flight.range.id,
                          "what get brought from process " + std::to_string(flight.range.proc));
  }
  flight.local.scribble();
  if (flight.put->witness != flight.put->who) news_.push_back(flight.range.id);
}

void Split::complete_all() {
  for (Flight& flight : flights_) settle(flight);
  flights_.clear();
}

bool Split::complete_one(Random& random) {
  if (flights_.empty()) return true;
  Flight& flight = flights_[random.below(flights_.size())];
  if (random.one_in(2)) {
    splitc::sync(flight.handle);
  } else if (!splitc::try_sync(flight.handle)) {
    return false;
  }
  settle(flight);
  if (&flight != &flights_.back()) flight = std::move(flights_.back());
  flights_.pop_back();
  return true;
}

void Split::complete_some(std::uint64_t how, Random& random) {
  if (how == 0) {
    splitc::sync();
    complete_all();
  } else if (how == 1) {
    if (splitc::try_sync()) complete_all();
  } else {
    complete_one(random);
  }
  send_news();
}

void Split::send_news() {
  std::erase_if(news_, [this](std::uint64_t id) {
    const auto put = std::ranges::find(puts_, id, [](const Put& p) { return p.range.id; });
    return endpoint_.try_request<&Split::on_put>(put->witness, id);
  });
}

void Split::on_put(am::OneWay message, std::uint64_t id) {
  const Round& round = *current->round_;
  if (id >= current->known_.size() || current->known_[id]) {
    round.fail(kName, id,
               "a message that was not expected, or came twice, of rank " +
                   std::to_string(message.source()));
  }
  current->known_[id] = true;
}

// Reads what another has put at a third process, once the message has come that it is there.
bool Split::bear_witness(const Put& put) {
  if (!known_[put.range.id]) return false;
  Local local(put.range.bytes, put.shift);
  splitc::bulk_read(local.data(), written_.at(put.range), put.range.bytes);
  round_->expect(local.difference(put.range.key), kName, put.range.id,
                 "what process " + std::to_string(put.who) + " says it has put at process " +
                     std::to_string(put.range.proc));
  return true;
}

void Split::add_put(Schedule& schedule, const Put& put) {
  if (put.who == round_->me()) {
    ++starts_;
    schedule.add_once(kName, put.range.id, [this, &put] { start_put(put); });
  }
  if (put.witness == round_->me() && put.witness != put.who) {
    schedule.add(kName, kWitnesses + put.range.id, [this, &put] { return bear_witness(put); });
  }
}

void Split::plan_put(const Round& round, Schedule& schedule, Random& random, std::uint64_t id) {
  Put put{.range = {},
          .who = random.below(round.procs()),
          .witness = 0,
          .object = random.one_in(2),
          .type = random.below(kObjectTypes),
          .shift = random.below(std::uint64_t{16})};
  const std::uint32_t proc = random.below(round.procs());
  put.witness = random.one_in(8) ? random.below(round.procs()) : put.who;
  if (put.object) {
    const ObjectSize size = object_size(put.type);
    const auto range = written_.take_object(round, random, proc, id, size.bytes, size.alignment);
    if (!range) return;
    put.range = *range;
  } else {
    const std::uint64_t bytes = random.size(round.settings().max_bytes);
    put.range = written_.take(round, random, proc, id, bytes);
  }
  puts_.push_back(put);  // which has room for all
  add_put(schedule, puts_.back());
}

void Split::plan_get(const Round& round, Schedule& schedule, Random& random, std::uint64_t id) {
  const std::uint32_t who = random.below(round.procs());
  const std::uint32_t proc = random.below(round.procs());
  const std::uint32_t type = random.below(2 * kObjectTypes);
  const std::size_t shift = random.below(std::uint64_t{16});
  const bool object = type < kObjectTypes;
  const ObjectSize size =
      object ? object_size(type) : ObjectSize{random.size(round.settings().max_bytes), 1};
  const Range range = read_.take(round, random, proc, id, size.bytes, size.alignment);
  if (proc == round.me()) read_.write(range);
  if (who != round.me() || (object && range.bytes != size.bytes)) return;
  schedule.add_once(kName, id, [=, this] {
    if (object) {
      start_get_object(range, type);
    } else {
      start_get(range, shift);
    }
  });
}

void Split::plan(const Round& round, Schedule& schedule) {
  round_ = &round;
  written_.begin(round);
  read_.begin(round);
  Random random = round.for_all(kName);
  const std::uint64_t count = std::uint64_t{2} * round.operations(random) * round.procs();
  puts_.clear();
  puts_.reserve(count);
  known_.assign(count, false);
  for (std::uint64_t id = 0; id < count; ++id) {
    if (random.one_in(2)) {
      plan_put(round, schedule, random, id);
    } else {
      plan_get(round, schedule, random, kGets + id);
    }
  }
  const std::uint64_t waits = random.below(count / round.procs() + 1);
  Random own = round.for_me(kName);
  for (std::uint64_t id = 0; id < waits; ++id) {
    schedule.add_once(kName, kSyncs + id, [this, how = own.below(std::uint64_t{6}), own]() mutable {
      complete_some(how, own);
    });
  }
  schedule.add(kName, kSyncs + waits, [this] { return inform_witnesses(); });
}

// The last of own steps: no witness waits any more.
bool Split::inform_witnesses() {
  if (starts_ != 0) return false;
  std::erase_if(flights_, [this](Flight& flight) {
    if (flight.put == nullptr || flight.put->witness == flight.put->who) return false;
    if (!splitc::try_sync(flight.handle)) return false;
    settle(flight);
    return true;
  });
  send_news();
  const auto awaited = [](const Flight& flight) {
    return flight.put != nullptr && flight.put->witness != flight.put->who;
  };
  return std::ranges::none_of(flights_, awaited) && news_.empty();
}

void Split::conclude(const Round&) {
  splitc::sync();
  complete_all();
}

}  // namespace split

std::unique_ptr<Family> make_split(const Settings& settings) {
  return std::make_unique<split::Split>(settings);
}

}  // namespace soak
