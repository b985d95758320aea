// Very many channels between all processes of a job, each at another point of its life: ready at
// once or in parts, put to from loops, handlers and callbacks, with one source or two, of all
// shapes, closed and opened again at either end. All contents are checked, and what lies between.
//
//   stress [--seconds N] [--channels N] [--seed N]     the same choices in every process
//
// A channel's number says who receives; who sends is drawn. The receiver offers the handle of each
// new life by a message, and says by one when the next put may come.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "am/am.h"

namespace {

constexpr std::uint64_t kRoom = 96 << 10;  // of the segment, for each channel
constexpr std::byte kGap{0xa5};            // what lies between the runs

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = (a ^ (b * 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 29;
}

struct Life {  // of a channel, from one opening at the receiver to the next
  std::uint32_t channel;
  std::uint32_t number;
};

std::byte content(const Life& life, std::uint64_t put, std::uint64_t i) {
  const std::uint64_t x = mix(life.channel * 1000003u + life.number, put);
  return static_cast<std::byte>((x >> i % 57) + i);
}

// Calls f(offset, i) for byte i of the shape's order.
template <class F>
void for_each_byte(const am::Strided& shape, F&& f) {
  std::uint64_t i = 0;
  for (std::uint64_t plane = 0; plane < shape.planes; ++plane) {
    for (std::uint64_t row = 0; row < shape.rows; ++row) {
      const std::uint64_t at = plane * shape.plane_stride + row * shape.row_stride;
      for (std::uint64_t b = 0; b < shape.run; ++b) f(at + b, i++);
    }
  }
}

// Mostly small; one in a hundred several frames long.
am::Strided any_shape(std::mt19937_64& random) {
  const std::uint64_t kind = random() % 100;
  if (kind == 0) return am::Strided::contiguous(random() % (64 << 10));
  if (kind < 40) return am::Strided::contiguous(random() % 700);
  am::Strided shape{.run = 1 + random() % 40,
                    .rows = static_cast<std::uint32_t>(1 + random() % 8),
                    .planes = static_cast<std::uint32_t>(1 + random() % 4)};
  if (kind < 70) shape.run = 8;
  shape.row_stride = shape.run + random() % 3 * 4;
  shape.plane_stride = shape.rows * shape.row_stride + random() % 3 * 4;
  return shape;
}
// As many bytes, in one piece or in runs of one byte.
am::Strided as_many(const am::Strided& other, std::mt19937_64& random) {
  const std::uint64_t bytes = other.bytes();
  if (bytes == 0 || random() % 3 == 0) return am::Strided::contiguous(bytes);
  if (random() % 2 == 0) return other;
  return {.run = 1, .rows = static_cast<std::uint32_t>(bytes), .row_stride = 1 + random() % 2};
}

struct Counts {
  std::uint64_t puts = 0;
  std::uint64_t callbacks = 0;
  std::uint64_t marked = 0;  // ready_poll() some time after ready_mark()
  std::uint64_t openings = 0;
  std::uint64_t sender_openings = 0;
};

struct Settings {
  double seconds = 3;
  std::uint32_t channels = 2000;  // of all processes
  std::uint64_t seed = 1;
};

struct Offer {  // of a new life
  Life life;
  am::ChannelHandle handle;
};
struct Word {  // that a put may come
  Life life;
  std::uint64_t put;
};

// The receiver's end of one channel, and how far it is with the last put.
struct In {
  bool awaits_put() const { return told && polled; }

  Life life;
  am::Strided shape;
  std::byte* room;
  std::optional<am::ReceiveChannel> channel;
  std::uint64_t puts = 0;  // that have been told in this life
  bool checked = false;
  bool marked = false;
  bool told = false;  // the sender knows
  bool polled = false;
};

// The sender's end of one channel.
struct Out {
  std::uint64_t next_source() const { return since_associated % sources; }

  Life life;
  am::ChannelHandle handle;
  std::vector<std::byte> bytes[2];
  am::Strided shapes[2];
  std::uint64_t sources = 1;
  std::optional<am::SendChannel> channel;
  std::uint64_t puts = 0;     // in this life
  std::uint64_t allowed = 1;  // of these
  std::uint64_t since_associated = 0;
  bool filled = false;  // the source of the next put
};

class Process {
 public:
  explicit Process(const Settings& settings);

  int run() {
    for (const auto& in : ins_) open(*in);
    while (done_ != job_.size()) step();
    for (auto& out : outs_) out.reset();
    job_.barrier(bundle_);
    if (am::channel_stats(bundle_) != am::ChannelStats{}) throw am::Error("something was counted");
    report();
    ins_.clear();
    job_.finish(bundle_);
    return 0;
  }

  static void on_offer(am::OneWay, std::span<const std::byte> bytes);
  static void on_word(am::OneWay, Word word);
  static void on_done(am::OneWay);

 private:
  am::Rank sender_of(const Life& life) const {
    return static_cast<am::Rank>(mix(settings_.seed + life.channel, life.number) % job_.size());
  }
  bool over() const { return std::chrono::steady_clock::now() >= end_; }
  bool one_of(std::uint64_t n) { return random_() % n == 0; }
  [[noreturn]] void fail(const Life& life, std::uint64_t put, const std::string& what) const;

  // The receiver's side.
  void open(In& in);
  void called(In& in);
  void check(In& in);
  void check_untouched(const In& in) const;
  void go_on(In& in, bool in_callback);

  // The sender's side.
  void take(const Offer& offer);
  void associate(Out& out);
  void fill(Out& out);
  void put_next();
  bool try_put(Out& out);

  bool has_work() const {
    return !turns_.empty() || !puts_.empty() || !offers_.empty() || done_ == job_.size() ||
           leaving();
  }
  bool leaving() const { return !said_done_ && expected_ == 0 && turns_.empty() && over(); }
  void step();
  void report();

  const Settings settings_;
  am::Job job_;
  am::Bundle bundle_{job_};
  am::Endpoint endpoint_{bundle_};
  std::mt19937_64 random_;
  const std::chrono::steady_clock::time_point end_;
  std::vector<std::unique_ptr<Out>> outs_;  // by channel
  std::vector<std::unique_ptr<In>> ins_;
  std::deque<In*> turns_;      // those that have something to do
  std::deque<Out*> puts_;      // those that may put
  std::vector<Offer> offers_;  // that have come
  std::int64_t expected_ = 0;  // puts that may come and have not been told
  std::uint32_t done_ = 0;     // processes that expect no more
  bool said_done_ = false;
  Counts counts_;
};

Process* process = nullptr;  // of the handlers

Process::Process(const Settings& settings)
    : settings_(settings),
      random_(mix(settings.seed, job_.rank() + 1)),
      end_(std::chrono::steady_clock::now() +
           std::chrono::milliseconds(static_cast<std::int64_t>(settings.seconds * 1000))),
      outs_(settings.channels) {
  process = this;
  endpoint_.add_handlers<&Process::on_offer, &Process::on_word, &Process::on_done>();
  job_.connect(endpoint_);
  for (std::uint32_t c = job_.rank(); c < settings.channels; c += job_.size()) {
    ins_.push_back(std::make_unique<In>());
    ins_.back()->life = {c, 0};
    ins_.back()->room = job_.router().segment() + c / job_.size() * kRoom;
  }
}

void Process::fail(const Life& life, std::uint64_t put, const std::string& what) const {
  throw am::Error("rank " + std::to_string(job_.rank()) + ": put " + std::to_string(put) +
                  " of channel " + std::to_string(life.channel) + ", life " +
                  std::to_string(life.number) + ": " + what);
}

// --- The receiver's side

void Process::open(In& in) {
  in.channel.reset();
  ++in.life.number;
  in.puts = 0;
  in.marked = in.told = in.polled = true;
  in.shape = any_shape(random_);
  std::fill_n(in.room, in.shape.extent() + 8, kGap);
  in.channel.emplace(bundle_, in.room, in.shape, [this, &in] { called(in); });
  ++counts_.openings;
  ++expected_;
  const Offer offer{in.life, in.channel->handle()};
  endpoint_.request_medium<&Process::on_offer>(sender_of(in.life),
                                               std::as_bytes(std::span(&offer, 1)));
}

void Process::called(In& in) {
  ++counts_.callbacks;
  --expected_;
  ++in.puts;
  if (!in.awaits_put()) fail(in.life, in.puts, "none was to be told");
  in.checked = in.marked = in.told = in.polled = false;
  if (one_of(4)) put_next();
  if (one_of(2)) return turns_.push_back(&in);
  go_on(in, true);
}

void Process::check(In& in) {
  std::uint64_t wrong = 0;
  for_each_byte(in.shape, [&](std::uint64_t offset, std::uint64_t i) {
    wrong += in.room[offset] != content(in.life, in.puts, i);
    in.room[offset] = kGap;
  });
  if (wrong != 0) fail(in.life, in.puts, std::to_string(wrong) + " wrong bytes");
  in.checked = true;
}

void Process::check_untouched(const In& in) const {
  const std::span all(in.room, in.shape.extent() + 8);
  const auto wrong = std::ranges::count_if(all, [](std::byte b) { return b != kGap; });
  if (wrong != 0) fail(in.life, in.puts, std::to_string(wrong) + " bytes more than these");
}

// What is to be done until the next put may come and be told; some of it another time.
void Process::go_on(In& in, bool in_callback) {
  if (!in.checked) check(in);
  if (!in.marked) {
    if (!in_callback && one_of(8)) return turns_.push_back(&in);
    check_untouched(in);
    if (over()) return;
    if (!in_callback && one_of(16)) return open(in);
    in.polled = one_of(2);
    in.polled ? in.channel->ready() : in.channel->ready_mark();
    in.marked = true;
  }
  if (!in.told) {
    in.told =
        endpoint_.try_request<&Process::on_word>(sender_of(in.life), Word{in.life, in.puts + 1});
    expected_ += in.told;
  }
  if (in.told && !in.polled && !in_callback && one_of(4)) {
    in.channel->ready_poll();
    in.polled = true;
    ++counts_.marked;
  }
  if (!in.awaits_put()) turns_.push_back(&in);
}

// --- The sender's side

void Process::on_offer(am::OneWay, std::span<const std::byte> bytes) {
  Offer offer;
  std::memcpy(static_cast<void*>(&offer), bytes.data(), sizeof offer);
  process->offers_.push_back(offer);
}

void Process::take(const Offer& offer) {
  const std::unique_ptr<Out> old = std::move(outs_[offer.life.channel]);  // of an earlier life
  auto out = std::make_unique<Out>();
  out->life = offer.life;
  out->handle = offer.handle;
  associate(*out);
  puts_.push_back(out.get());
  outs_[offer.life.channel] = std::move(out);
}

// Opens the channel and says what it sends, by one source or two.
void Process::associate(Out& out) {
  out.channel.reset();  // before the next is made
  out.channel.emplace(bundle_, out.handle);
  out.sources = 1 + random_() % 2;
  for (std::uint64_t i = 0; i < out.sources; ++i) {
    out.shapes[i] = as_many(out.handle.shape, random_);
    out.bytes[i].resize(out.shapes[i].extent());
  }
  out.channel->associate(out.bytes[0].data(), out.shapes[0]);
  if (out.sources == 2) out.channel->alternate(out.bytes[1].data(), out.shapes[1]);
  out.since_associated = 0;
  out.filled = false;
  ++counts_.sender_openings;
}

void Process::fill(Out& out) {
  std::byte* const at = out.bytes[out.next_source()].data();
  for_each_byte(out.shapes[out.next_source()], [&](std::uint64_t offset, std::uint64_t i) {
    at[offset] = content(out.life, out.puts + 1, i);
  });
  out.filled = true;
}

bool Process::try_put(Out& out) {
  if (!out.filled && !out.channel->reusable()) return false;
  if (!out.filled) fill(out);
  out.channel->put();
  ++counts_.puts;
  ++out.puts;
  ++out.since_associated;
  // With two sources the other one is left: its put was told before this one was allowed.
  out.filled = false;
  if (out.sources == 2) fill(out);
  return true;
}

void Process::put_next() {
  if (puts_.empty()) return;
  Out* const out = puts_.front();
  puts_.pop_front();
  if (!try_put(*out)) puts_.push_back(out);
}

void Process::on_word(am::OneWay, Word word) {
  Out* const out = process->outs_[word.life.channel].get();
  if (out == nullptr || out->life.number != word.life.number || out->puts + 1 != word.put) {
    process->fail(word.life, word.put, "a word that nobody waits for");
  }
  const bool now = process->one_of(4) && process->try_put(*out);
  if (!now) process->puts_.push_back(out);
}

// --- Both

void Process::on_done(am::OneWay) { ++process->done_; }

void Process::step() {
  bundle_.poll();
  for (const Offer& offer : std::exchange(offers_, {})) take(offer);
  for (std::size_t n = turns_.size() / 2 + 1; n > 0 && !turns_.empty(); --n) {
    In* const in = turns_.front();
    turns_.pop_front();
    go_on(*in, false);
  }
  for (std::size_t n = puts_.size() / 2 + 1; n > 0 && !puts_.empty(); --n) {
    if (one_of(16)) {  // by another sender's end, as it were
      Out* const out = puts_.front();
      puts_.pop_front();  // nobody shall put meanwhile
      associate(*out);
      puts_.push_front(out);
    }
    put_next();
  }
  if (leaving()) {
    said_done_ = true;
    for (am::Rank to = 0; to < job_.size(); ++to) endpoint_.request<&Process::on_done>(to);
  }
  if (!has_work()) bundle_.wait_until([this] { return has_work(); });
}

void Process::report() {
  std::printf(
      "rank %u: %llu puts, %llu callbacks, %llu marked and polled for later, "
      "%llu openings, %llu of senders\n",
      job_.rank(), static_cast<unsigned long long>(counts_.puts),
      static_cast<unsigned long long>(counts_.callbacks),
      static_cast<unsigned long long>(counts_.marked),
      static_cast<unsigned long long>(counts_.openings),
      static_cast<unsigned long long>(counts_.sender_openings));
  if (counts_.callbacks == 0 || counts_.marked == 0) throw am::Error("hardly anything happened");
}

Settings settings_of(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--seconds") settings.seconds = std::atof(argv[i + 1]);
    if (name == "--channels")
      settings.channels = static_cast<std::uint32_t>(std::atoi(argv[i + 1]));
    if (name == "--seed") settings.seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Process(settings_of(argc, argv)).run();
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
