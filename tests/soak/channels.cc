// Put channels of Active Messages, each between two processes and at its own pace: the receiver
// offers a channel by a message, the sender opens it and says what it sends, from one source or two
// in turn, and each put comes after the message that the one before has been read.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "am/am.h"
#include "splitc/splitc.h"
#include "tests/soak/content.h"
#include "tests/soak/families.h"
#include "tests/soak/field.h"

namespace soak {
namespace channels {

constexpr std::string_view kName = "channels";
constexpr std::uint64_t kSenders = 1 << 20;  // numbers of steps of senders begin here

struct Link {
  std::uint64_t id = 0;
  std::uint32_t from = 0;
  std::uint64_t puts = 0;
  std::uint64_t sources = 1;
  bool from_runs = false;  // the sources are in runs, the range never
  bool in_callback = false;
  Range range;

  // The last put leaves what the field expects.
  std::uint64_t key(std::uint64_t put) const {
    return put + 1 == puts ? range.key : hash(range.key, put);
  }
};

struct Receiver {
  const Link* link;
  std::optional<am::ReceiveChannel> channel;
  bool offered = false;
  bool marked = false;
  bool called = false;        // and what has come is not read
  std::uint64_t read = 0;     // puts
  std::uint64_t allowed = 0;  // puts that the sender knows it may make
};

struct Sender {
  const Link* link;
  std::optional<am::ChannelHandle> handle;  // when it has come
  std::optional<am::SendChannel> channel;
  std::vector<std::byte> sources[2];
  std::uint64_t allowed = 0;
  std::uint64_t made = 0;
};

// Content of a source, in runs of a byte or in one piece.
void fill_source(std::span<std::byte> source, bool runs, std::uint64_t key) {
  if (!runs) return fill(source, key);
  std::vector<std::byte> all(source.size() / 2);
  fill(all, key);
  for (std::size_t i = 0; i < all.size(); ++i) source[2 * i] = all[i];
}

class ChannelsFamily : public Family {
 public:
  explicit ChannelsFamily(const Settings& settings);
  ~ChannelsFamily() override { current = nullptr; }

  void plan(const Round& round, Schedule& schedule) override;
  void verify(const Round& round) override;
  void end() override;

  static void on_offer(am::OneWay message, std::span<const std::byte> handle, std::uint64_t id);
  static void on_go(am::OneWay message, std::uint64_t id, std::uint64_t put);

 private:
  static inline ChannelsFamily* current = nullptr;  // of the handlers

  Sender& sender(const am::Message& message, std::uint64_t id);
  void called(Receiver& receiver);
  void take(Receiver& receiver);
  bool receive(Receiver& receiver, Random& random);
  void open(Sender& sender);
  bool send(Sender& sender);

  const Round* round_ = nullptr;
  Field field_;
  am::Endpoint endpoint_{splitc::world().bundle()};
  std::vector<Link> links_;  // of this round, of all, by id
  std::vector<std::unique_ptr<Receiver>> receivers_;
  std::vector<std::unique_ptr<Sender>> senders_;  // by id; nullptr: of another process
};

ChannelsFamily::ChannelsFamily(const Settings& settings)
    : field_(kName, 2 * settings.max_bytes + (512 << 10)) {
  current = this;
  endpoint_.add_handlers<&ChannelsFamily::on_offer, &ChannelsFamily::on_go>();
  splitc::world().job().connect(endpoint_);
}

void ChannelsFamily::end() {
  for (std::uint32_t proc = 0; proc < splitc::procs(); ++proc) endpoint_.unmap(proc);
}

// --- The receiver's side

void ChannelsFamily::called(Receiver& receiver) {
  if (receiver.called || receiver.allowed != receiver.read + 1) {
    round_->fail(kName, receiver.link->id, "a callback that should not be");
  }
  receiver.called = true;
  if (receiver.link->in_callback) take(receiver);
}

void ChannelsFamily::take(Receiver& receiver) {
  const Link& link = *receiver.link;
  round_->expect(difference(field_.mine(link.range), link.key(receiver.read)), kName, link.id,
                 "put " + std::to_string(receiver.read));
  ++receiver.read;
  receiver.called = false;
  receiver.marked = false;
}

bool ChannelsFamily::receive(Receiver& receiver, Random& random) {
  const Link& link = *receiver.link;
  if (!receiver.offered) {
    const am::ChannelHandle handle = receiver.channel->handle();
    receiver.offered = endpoint_.try_request_medium<&ChannelsFamily::on_offer>(
        link.from, std::as_bytes(std::span(&handle, 1)), link.id);
    receiver.allowed += receiver.offered;
    return false;
  }
  if (receiver.called) take(receiver);
  if (receiver.read != receiver.allowed) return false;
  if (receiver.read == link.puts) {
    receiver.channel->close();
    return true;
  }
  if (!receiver.marked) receiver.channel->ready_mark();
  receiver.marked = true;
  const bool later = random.one_in(2);  // than the put comes, perhaps
  if (!later) receiver.channel->ready_poll();
  while (!endpoint_.try_request<&ChannelsFamily::on_go>(link.from, link.id, receiver.allowed)) {
    splitc::poll();
  }
  ++receiver.allowed;
  if (later) receiver.channel->ready_poll();
  return false;
}

// --- The sender's side

Sender& ChannelsFamily::sender(const am::Message& message, std::uint64_t id) {
  if (id >= senders_.size() || !senders_[id] || links_[id].range.proc != message.source()) {
    round_->fail(kName, id,
                 "a message that was not expected, of rank " + std::to_string(message.source()));
  }
  return *senders_[id];
}

void ChannelsFamily::on_offer(am::OneWay message, std::span<const std::byte> handle,
                              std::uint64_t id) {
  Sender& sender = current->sender(message, id);
  if (sender.handle || handle.size() != sizeof(am::ChannelHandle)) {
    current->round_->fail(kName, id, "a second offer, or a damaged one");
  }
  std::memcpy(static_cast<void*>(&sender.handle.emplace()), handle.data(), handle.size());
  sender.allowed = 1;
}

void ChannelsFamily::on_go(am::OneWay message, std::uint64_t id, std::uint64_t put) {
  Sender& sender = current->sender(message, id);
  if (put != sender.allowed || put != sender.made) {
    current->round_->fail(kName, id, "put " + std::to_string(put) + " may come, it is said");
  }
  ++sender.allowed;
}

void ChannelsFamily::open(Sender& sender) {
  const Link& link = *sender.link;
  sender.channel.emplace(splitc::world().bundle(), *sender.handle);
  const std::uint64_t bytes = link.range.bytes;
  const am::Strided shape =
      link.from_runs
          ? am::Strided{.run = 1, .rows = static_cast<std::uint32_t>(bytes), .row_stride = 2}
          : am::Strided::contiguous(bytes);
  for (std::uint64_t i = 0; i < link.sources; ++i) {
    sender.sources[i].resize(link.from_runs ? 2 * bytes : bytes);
  }
  sender.channel->associate(sender.sources[0].data(), shape);
  if (link.sources == 2) sender.channel->alternate(sender.sources[1].data(), shape);
}

bool ChannelsFamily::send(Sender& sender) {
  const Link& link = *sender.link;
  if (sender.made == sender.allowed) return false;
  if (!sender.channel) open(sender);
  if (!sender.channel->reusable()) return false;
  fill_source(sender.sources[sender.made % link.sources], link.from_runs, link.key(sender.made));
  sender.channel->put();
  return ++sender.made == link.puts;
}

void ChannelsFamily::plan(const Round& round, Schedule& schedule) {
  round_ = &round;
  senders_.clear();  // which waits for their sources
  receivers_.clear();
  field_.begin(round);
  links_.clear();
  Random random = round.for_all(kName);
  const std::uint64_t count = std::uint64_t{round.operations(random)} * round.procs() / 3;
  for (std::uint64_t id = 0; id < count; ++id) {
    Link link{.id = id,
              .from = random.below(round.procs()),
              .puts = random.between(1, 5),
              .sources = random.between(1, 2),
              .from_runs = random.one_in(4),
              .in_callback = random.one_in(3),
              .range = {}};
    const std::uint64_t bytes = random.size(link.from_runs ? 2000 : round.settings().max_bytes);
    link.range = field_.take(round, random, random.below(round.procs()), id, bytes);
    if (link.range.bytes == 0) link.from_runs = false;
    links_.push_back(link);
  }
  senders_.resize(count);
  for (const Link& link : links_) {
    if (link.range.proc == round.me()) {
      Receiver& in = *receivers_.emplace_back(std::make_unique<Receiver>());
      in.link = &link;
      in.channel.emplace(splitc::world().bundle(), field_.mine(link.range),
                         [this, &in] { called(in); });
      schedule.add(kName, link.id,
                   [this, &in, own = round.for_me(kName)]() mutable { return receive(in, own); });
    }
    if (link.from == round.me()) {
      senders_[link.id] = std::make_unique<Sender>();
      Sender& out = *senders_[link.id];
      out.link = &link;
      schedule.add(kName, kSenders + link.id, [this, &out] { return send(out); });
    }
  }
}

void ChannelsFamily::verify(const Round& round) {
  field_.verify(round);
  if (am::channel_stats(splitc::world().bundle()) != am::ChannelStats{}) {
    round.fail(kName, 0, "a put was counted as early, lost or stale");
  }
}

}  // namespace channels

std::unique_ptr<Family> make_channels(const Settings& settings) {
  return std::make_unique<channels::ChannelsFamily>(settings);
}

}  // namespace soak
