// Active Messages: requests and one-way requests of every kind and size, answered by replies of
// every kind or not at all, between several endpoints of every process in three bundles; some are
// sent with a tag that is not the receiver's, and must come back whole and without effect.

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "am/am.h"
#include "splitc/splitc.h"
#include "tests/soak/content.h"
#include "tests/soak/families.h"
#include "tests/soak/field.h"

namespace soak {
namespace messages {

constexpr std::string_view kName = "messages";
constexpr std::uint64_t kReplies = 1 << 20;  // ids of the ranges of long replies begin here
constexpr std::uint32_t kSets = 4;           // endpoints of each process
constexpr std::uint32_t kWorldSets = 2;      // of these in the world's bundle
constexpr am::Tag kWrongTag = 4711;

using Bytes = std::span<const std::byte>;
using Seven = std::array<std::uint64_t, 7>;  // with an id as many arguments as a message can have

enum class Answer : std::uint32_t { kEmpty, kShort, kMedium, kLong };

struct Message {
  std::uint64_t id = 0;
  std::uint32_t who = 0;
  std::uint32_t proc = 0;
  std::uint32_t from = 0;  // number of the sender's endpoint
  std::uint32_t to = 0;    // ... of the receiver's
  am::Kind kind = am::Kind::kShort;
  bool one_way = false;
  bool full = false;  // with as many arguments as possible
  bool refused = false;
  bool blocking = false;
  std::uint64_t bytes = 0;  // of a medium payload
  std::size_t shift = 0;
  Range range;  // of a long payload
  Answer answer = Answer::kEmpty;
  std::uint64_t answer_bytes = 0;
  Range answer_range;
};

class Messages : public Family {
 public:
  explicit Messages(const Settings& settings);
  ~Messages() override { current = nullptr; }

  void plan(const Round& round, Schedule& schedule) override;
  bool arrived() override { return awaited_ == 0; }
  void verify(const Round& round) override { field_.verify(round); }
  void end() override;

  template <class Role>
  static void received(Role role, std::uint64_t id, Bytes payload, const Seven* more);
  static void answered(const am::Message& from, std::uint64_t id, Bytes payload, Answer answer);

 private:
  static inline Messages* current = nullptr;  // of the handlers

  std::uint64_t key(const Message& message) const { return round_->key(kName, message.id); }
  std::uint64_t answer_key(const Message& message) const { return ~key(message); }
  Seven more(const Message& message) const;
  const Message& expected(const am::Message& from, std::uint64_t id, bool answer);
  void check_payload(const Message& message, Bytes payload) const;
  void reply(am::Request request, const Message& message) const;
  void returned(const am::Returned& back);

  void plan_one(const Round& round, Random& random, std::uint64_t id);
  bool send(const Message& message);
  template <class Role>
  bool send_short(const Message& message, std::uint32_t index);
  template <class Role>
  bool send_medium(const Message& message, std::uint32_t index);
  template <class Role>
  bool send_long(const Message& message, std::uint32_t index);

  const Round* round_ = nullptr;
  Field field_;
  am::Bundle bundles_[kSets - kWorldSets];
  std::vector<std::unique_ptr<am::Endpoint>> endpoints_;
  std::vector<Message> messages_;  // of this round, of all, by id
  std::vector<bool> seen_;         // by id: it has come here, or back here
  std::vector<bool> seen_answer_;
  std::uint64_t awaited_ = 0;  // messages, replies and returned messages that have not come here
};

// --- Handlers

template <class Role>
void on_short(Role role, std::uint64_t id) {
  Messages::received(std::move(role), id, {}, nullptr);
}
template <class Role>
void on_short_full(Role role, std::uint64_t id, Seven more) {
  Messages::received(std::move(role), id, {}, &more);
}
template <class Role>
void on_medium(Role role, Bytes payload, std::uint64_t id) {
  Messages::received(std::move(role), id, payload, nullptr);
}
template <class Role>
void on_medium_full(Role role, Bytes payload, std::uint64_t id, Seven more) {
  Messages::received(std::move(role), id, payload, &more);
}
template <class Role>
void on_long(Role role, std::span<std::byte> payload, std::uint64_t id) {
  Messages::received(std::move(role), id, payload, nullptr);
}
template <class Role>
void on_long_full(Role role, std::span<std::byte> payload, std::uint64_t id, Seven more) {
  Messages::received(std::move(role), id, payload, &more);
}
void on_answer(am::Reply reply, std::uint64_t id) {
  Messages::answered(reply, id, {}, Answer::kShort);
}
void on_answer_medium(am::Reply reply, Bytes payload, std::uint64_t id) {
  Messages::answered(reply, id, payload, Answer::kMedium);
}
void on_answer_long(am::Reply reply, std::span<std::byte> payload, std::uint64_t id) {
  Messages::answered(reply, id, payload, Answer::kLong);
}

template <class Role>
void add_handlers_of(am::Endpoint& endpoint) {
  endpoint.add_handlers<&on_short<Role>, &on_short_full<Role>, &on_medium<Role>,
                        &on_medium_full<Role>, &on_long<Role>, &on_long_full<Role>>();
}

Messages::Messages(const Settings& settings)
    : field_(kName, 4 * settings.max_bytes + (256 << 10)),
      bundles_{am::Bundle(splitc::world().job()), am::Bundle(splitc::world().job())} {
  current = this;
  am::Job& job = splitc::world().job();
  const std::uint32_t most = (kSets + 1) * splitc::procs();
  const std::uint32_t inboxes = 2 * most;  // also for replies that nobody takes
  std::vector<std::vector<am::Name>> names;
  for (std::uint32_t set = 0; set < kSets; ++set) {
    am::Bundle& bundle = set < kWorldSets ? splitc::world().bundle() : bundles_[set - kWorldSets];
    endpoints_.push_back(std::make_unique<am::Endpoint>(
        bundle, am::Endpoint::Options{.translations = most, .inboxes = inboxes}));
    am::Endpoint& endpoint = *endpoints_.back();
    add_handlers_of<am::Request>(endpoint);
    add_handlers_of<am::OneWay>(endpoint);
    endpoint.add_handlers<&on_answer, &on_answer_medium, &on_answer_long>();
    endpoint.on_returned([this](const am::Returned& back) { returned(back); });
    endpoint.set_tag(set + 1);
    names.push_back(job.exchange(endpoint.name()));
  }
  for (std::uint32_t from = 0; from < kSets; ++from) {
    for (std::uint32_t proc = 0; proc < splitc::procs(); ++proc) {
      for (std::uint32_t to = 0; to < kSets; ++to) {
        endpoints_[from]->map(to * splitc::procs() + proc, names[to][proc], to + 1);
      }
      endpoints_[from]->map(kSets * splitc::procs() + proc, names[from][proc], kWrongTag);
    }
  }
}

void Messages::end() {
  splitc::barrier();
  endpoints_.clear();
}

// --- The receiver's side

Seven Messages::more(const Message& message) const {
  Seven seven;
  for (std::uint64_t i = 0; i < seven.size(); ++i) seven[i] = hash(key(message), i);
  return seven;
}

// The message of number `id`, or its reply, which has come here for the first time.
const Message& Messages::expected(const am::Message& from, std::uint64_t id, bool answer) {
  std::vector<bool>& seen = answer ? seen_answer_ : seen_;
  const char* const what = answer ? "a reply" : "a message";
  if (id >= messages_.size()) round_->fail(kName, id, std::string(what) + " that was not sent");
  const Message& message = messages_[id];
  const std::uint32_t to = answer ? message.who : message.proc;
  const std::uint32_t source = answer ? message.proc : message.who;
  const std::uint32_t set = answer ? message.from : message.to;
  if (to != round_->me() || source != from.source() || &from.endpoint() != endpoints_[set].get()) {
    round_->fail(
        kName, id,
        std::string(what) + " of rank " + std::to_string(from.source()) + " at the wrong endpoint");
  }
  if (seen[id] || message.refused) {
    round_->fail(kName, id, std::string(what) + " that came twice or was to be refused");
  }
  seen[id] = true;
  --awaited_;
  return message;
}

void Messages::check_payload(const Message& message, Bytes payload) const {
  const bool at_range = message.kind == am::Kind::kLong;
  const std::uint64_t bytes = at_range ? message.range.bytes : message.bytes;
  if (payload.size() != bytes ||
      (at_range && bytes != 0 && payload.data() != field_.mine(message.range).data())) {
    round_->fail(kName, message.id,
                 "a payload of " + std::to_string(payload.size()) + " and not " +
                     std::to_string(bytes) + " bytes, or elsewhere");
  }
  round_->expect(difference(payload, key(message)), kName, message.id, "a payload that came");
}

template <class Role>
void Messages::received(Role role, std::uint64_t id, Bytes payload, const Seven* more) {
  Messages& self = *current;
  const Message& message = self.expected(role, id, false);
  self.check_payload(message, payload);
  if (message.full != (more != nullptr) || (more != nullptr && *more != self.more(message))) {
    self.round_->fail(kName, id, "other arguments than were sent");
  }
  if constexpr (std::is_same_v<Role, am::Request>) self.reply(std::move(role), message);
}

void Messages::reply(am::Request request, const Message& message) const {
  if (message.answer == Answer::kEmpty) return;
  if (message.answer == Answer::kShort) return std::move(request).reply<&on_answer>(message.id);
  const Range& range = message.answer_range;
  const bool at_range = message.answer == Answer::kLong;
  std::vector<std::byte> payload(at_range ? range.bytes : message.answer_bytes);
  fill(payload, at_range ? range.key : answer_key(message));
  if (at_range) {
    std::move(request).reply_long<&on_answer_long>(field_.segment_offset(range), payload,
                                                   message.id);
  } else {
    std::move(request).reply_medium<&on_answer_medium>(payload, message.id);
  }
}

// --- The sender's side

void Messages::answered(const am::Message& from, std::uint64_t id, Bytes payload, Answer answer) {
  Messages& self = *current;
  const Message& message = self.expected(from, id, true);
  const bool at_range = message.answer == Answer::kLong;
  const std::uint64_t bytes = at_range ? message.answer_range.bytes : message.answer_bytes;
  if (answer != message.answer || payload.size() != bytes) {
    self.round_->fail(kName, id, "another reply than was sent");
  }
  const std::uint64_t key = at_range ? message.answer_range.key : self.answer_key(message);
  self.round_->expect(difference(payload, key), kName, id, "the payload of a reply");
}

void Messages::returned(const am::Returned& back) {
  std::uint64_t id = 0;
  if (back.arguments.size() >= sizeof id) std::memcpy(&id, back.arguments.data(), sizeof id);
  if (id >= messages_.size() || back.status != am::Status::kBadTag) {
    round_->fail(kName, id, "came back: " + std::string(am::describe(back.status)));
  }
  const Message& message = messages_[id];
  const am::Role role = message.one_way ? am::Role::kOneWay : am::Role::kRequest;
  const bool right = message.refused && message.who == round_->me() && !seen_[id] &&
                     back.destination == message.proc && back.kind == message.kind &&
                     back.role == role;
  if (!right) round_->fail(kName, id, "came back, and should not, or not as it did");
  if (message.kind == am::Kind::kMedium) check_payload(message, back.payload);
  if (message.kind == am::Kind::kLong && back.segment_bytes != message.range.bytes) {
    round_->fail(kName, id, "came back with another size");
  }
  seen_[id] = true;
  --awaited_;
}

template <class Role>
bool Messages::send_short(const Message& message, std::uint32_t index) {
  am::Endpoint& from = *endpoints_[message.from];
  if (!message.blocking) {
    return message.full ? from.try_request<&on_short_full<Role>>(index, message.id, more(message))
                        : from.try_request<&on_short<Role>>(index, message.id);
  }
  if (message.full) {
    from.request<&on_short_full<Role>>(index, message.id, more(message));
  } else {
    from.request<&on_short<Role>>(index, message.id);
  }
  return true;
}

template <class Role>
bool Messages::send_medium(const Message& message, std::uint32_t index) {
  am::Endpoint& from = *endpoints_[message.from];
  Local local(message.bytes, message.shift);
  fill(local.bytes(), key(message));
  const Bytes payload = local.bytes();
  if (!message.blocking) {
    return message.full ? from.try_request_medium<&on_medium_full<Role>>(index, payload, message.id,
                                                                         more(message))
                        : from.try_request_medium<&on_medium<Role>>(index, payload, message.id);
  }
  if (message.full) {
    from.request_medium<&on_medium_full<Role>>(index, payload, message.id, more(message));
  } else {
    from.request_medium<&on_medium<Role>>(index, payload, message.id);
  }
  local.scribble();
  return true;
}

template <class Role>
bool Messages::send_long(const Message& message, std::uint32_t index) {
  am::Endpoint& from = *endpoints_[message.from];
  Local local(message.range.bytes, message.shift);
  fill(local.bytes(), key(message));
  const Bytes payload = local.bytes();
  const std::uint64_t at = field_.segment_offset(message.range);
  if (!message.blocking) {
    return message.full ? from.try_request_long<&on_long_full<Role>>(index, at, payload, message.id,
                                                                     more(message))
                        : from.try_request_long<&on_long<Role>>(index, at, payload, message.id);
  }
  if (message.full) {
    from.request_long<&on_long_full<Role>>(index, at, payload, message.id, more(message));
  } else {
    from.request_long<&on_long<Role>>(index, at, payload, message.id);
  }
  local.scribble();
  return true;
}

bool Messages::send(const Message& message) {
  const std::uint32_t set = message.refused ? kSets : message.to;
  const std::uint32_t index = set * round_->procs() + message.proc;
  const auto as = [&]<class Role>() {
    switch (message.kind) {
      case am::Kind::kShort: return send_short<Role>(message, index);
      case am::Kind::kMedium: return send_medium<Role>(message, index);
      default: return send_long<Role>(message, index);
    }
  };
  return message.one_way ? as.template operator()<am::OneWay>()
                         : as.template operator()<am::Request>();
}

// --- The plan

void Messages::plan_one(const Round& round, Random& random, std::uint64_t id) {
  Message message{.id = id,
                  .who = random.below(round.procs()),
                  .proc = random.below(round.procs()),
                  .from = random.below(kSets),
                  .to = random.below(kSets),
                  .kind = static_cast<am::Kind>(random.below(am::kKinds)),
                  .one_way = random.one_in(3),
                  .full = random.one_in(4),
                  .refused = random.one_in(12),
                  .blocking = random.one_in(2),
                  .bytes = random.size(am::max_medium()),
                  .shift = random.below(std::uint64_t{16}),
                  .range = {},
                  .answer = static_cast<Answer>(random.below(4u)),
                  .answer_bytes = random.size(am::max_medium()),
                  .answer_range = {}};
  const std::uint64_t bytes = random.size(round.settings().max_bytes);
  const std::uint64_t answer_bytes = random.size(round.settings().max_bytes);
  if (message.kind != am::Kind::kMedium) message.bytes = 0;
  if (message.refused) message.to = message.from;
  // Others poll the world's bundle alone while they wait.
  if (message.from >= kWorldSets || message.to >= kWorldSets) message.blocking = false;
  if (message.one_way || message.refused) message.answer = Answer::kEmpty;
  if (message.answer != Answer::kMedium) message.answer_bytes = 0;
  if (message.kind == am::Kind::kLong) {
    message.range = field_.take(round, random, message.proc, id, bytes);
    if (message.refused) field_.forbid(message.range);
  }
  if (message.answer == Answer::kLong) {
    message.answer_range = field_.take(round, random, message.who, kReplies + id, answer_bytes);
  }
  messages_.push_back(message);
}

void Messages::plan(const Round& round, Schedule& schedule) {
  round_ = &round;
  field_.begin(round);
  messages_.clear();
  awaited_ = 0;
  for (am::Bundle& bundle : bundles_) schedule.poll_also(bundle);
  Random random = round.for_all(kName);
  const std::uint64_t count = std::uint64_t{3} * round.operations(random) * round.procs();
  for (std::uint64_t id = 0; id < count; ++id) plan_one(round, random, id);
  seen_.assign(count, false);
  seen_answer_.assign(count, false);
  for (const Message& message : messages_) {
    awaited_ += message.proc == round.me() && !message.refused;
    if (message.who != round.me()) continue;
    awaited_ += message.refused;
    awaited_ += message.answer != Answer::kEmpty;
    schedule.add(kName, message.id, [this, &message] { return send(message); });
  }
}

}  // namespace messages

std::unique_ptr<Family> make_messages(const Settings& settings) {
  return std::make_unique<messages::Messages>(settings);
}

}  // namespace soak
