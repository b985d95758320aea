// Every argument count x kind x role, with random contents, between all processes and to oneself.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace matrix_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using Bytes = std::span<const std::byte>;
using Words = std::span<const std::uint32_t>;

constexpr std::uint32_t kCounts = 17;  // 0 to 16 arguments
constexpr std::uint32_t kMaxProcesses = 8;
constexpr std::size_t kMaxLong = 64 << 10;
constexpr std::size_t kArea = kMaxLong + 4096;  // of the segment, for one long payload
constexpr std::uint32_t kAreas = 5;             // of every sender: request, one way, three replies
constexpr Kind kAllKinds[] = {Kind::kShort, Kind::kMedium, Kind::kLong};

// What was said, whatever the order: how many messages, and the sum of their hashes.
struct Tally {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  bool operator==(const Tally&) const = default;
};

struct Said {
  Role role;
  Kind kind;
  Words words;
  Bytes payload;
  std::uint64_t offset;  // of a long payload in the receiver's segment
};

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(const Said& m) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(m.role), static_cast<std::uint64_t>(m.kind));
  hash = mix(hash, m.words.size());
  for (const std::uint32_t word : m.words) hash = mix(hash, word);
  hash = mix(mix(hash, m.payload.size()), m.offset);
  for (std::size_t at = 0; at < m.payload.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, m.payload.data() + at, std::min<std::size_t>(8, m.payload.size() - at));
    hash = mix(hash, word);
  }
  return hash;
}

// Random messages, and what this process has sent and received.
class Books {
 public:
  Books() : random_(::test::seed() + job().rank()), pool_(kMaxLong + 4096) {
    for (std::byte& b : pool_) b = static_cast<std::byte>(random_());
  }

  // Random contents for a message to area `area` of `to`; valid until the next call.
  Said make(Role role, Kind kind, std::uint32_t count, std::uint32_t area) {
    for (std::uint32_t i = 0; i < count; ++i) words_[i] = static_cast<std::uint32_t>(random_());
    const std::size_t most = kind == Kind::kShort ? 0 : kind == Kind::kMedium ? 4096 : kMaxLong;
    const std::size_t sizes[] = {
        0, 1, most, most - std::min<std::size_t>(most, 1), random_() % 200, random_() % (most + 1)};
    const std::size_t bytes = std::min(most, sizes[random_() % std::size(sizes)]);
    const std::size_t from = random_() % (pool_.size() - bytes + 1);
    std::uint64_t offset = 0;
    if (kind == Kind::kLong) offset = (job().rank() * kAreas + area) * kArea + random_() % 64;
    return {role, kind, Words(words_).first(count), Bytes(pool_).subspan(from, bytes), offset};
  }

  void note_sent(Rank to, const Said& m) { note(sent_[to], m); }
  void note_received(Rank from, const Said& m) { note(received_[from], m); }

  // Compares with everybody's: what each says it sent is what the other received. Collective.
  void expect_balanced() const {
    struct Page {
      Tally sent[kMaxProcesses];
    } mine{};
    std::copy(std::begin(sent_), std::end(sent_), mine.sent);
    const auto pages = job().exchange(mine);
    for (Rank from = 0; from < job().size(); ++from) {
      const Tally& theirs = pages[from].sent[job().rank()];
      EXPECT_EQ(received_[from].count, theirs.count) << "messages from rank " << from;
      EXPECT_EQ(received_[from].sum, theirs.sum) << "contents from rank " << from;
    }
  }

 private:
  static void note(Tally& tally, const Said& m) {
    ++tally.count;
    tally.sum += hash_of(m);
  }

  std::mt19937_64 random_;
  std::vector<std::byte> pool_;
  std::array<std::uint32_t, 16> words_{};
  Tally sent_[kMaxProcesses];
  Tally received_[kMaxProcesses];
};

// One trial of the matrix; handlers find it here.
struct Trial {
  Books books;
  bool inside_call = false;  // a request is being made
  std::uint32_t requests = 0;
  std::uint32_t replies = 0;
  std::uint32_t turns[kMaxProcesses][kKinds] = {};
};
Trial* trial = nullptr;

void answer(Request&& request, Kind kind);

std::uint64_t offset_in(const Endpoint& endpoint, Kind kind, Bytes payload) {
  if (kind != Kind::kLong) return 0;
  return static_cast<std::uint64_t>(payload.data() - endpoint.segment().data());
}

void take(const Message& message, Role role, Kind kind, Bytes payload, Words words) {
  EXPECT_FALSE(trial->inside_call) << "a handler ran inside a request";
  trial->books.note_received(
      message.source(), {role, kind, words, payload, offset_in(message.endpoint(), kind, payload)});
  ++(role == Role::kReply ? trial->replies : trial->requests);
}

// The nine handlers that take as many words as there are indices.
template <class Indices>
struct Shape;
template <std::size_t... kI>
struct Shape<std::index_sequence<kI...>> {
  template <std::size_t>
  using Word = std::uint32_t;
  using Array = std::array<std::uint32_t, sizeof...(kI)>;

  static void request(Request r, Word<kI>... w) {
    take(r, Role::kRequest, Kind::kShort, {}, Array{w...});
    answer(std::move(r), Kind::kShort);
  }
  static void request_medium(Request r, std::span<const std::byte> bytes, Word<kI>... w) {
    take(r, Role::kRequest, Kind::kMedium, bytes, Array{w...});
    answer(std::move(r), Kind::kMedium);
  }
  static void request_long(Request r, std::span<std::byte> bytes, Word<kI>... w) {
    take(r, Role::kRequest, Kind::kLong, bytes, Array{w...});
    answer(std::move(r), Kind::kLong);
  }
  static void one_way(OneWay m, Word<kI>... w) {
    take(m, Role::kOneWay, Kind::kShort, {}, Array{w...});
  }
  static void one_way_medium(OneWay m, std::span<const std::byte> bytes, Word<kI>... w) {
    take(m, Role::kOneWay, Kind::kMedium, bytes, Array{w...});
  }
  static void one_way_long(OneWay m, std::span<std::byte> bytes, Word<kI>... w) {
    take(m, Role::kOneWay, Kind::kLong, bytes, Array{w...});
  }
  static void reply(Reply r, Word<kI>... w) {
    take(r, Role::kReply, Kind::kShort, {}, Array{w...});
  }
  static void reply_medium(Reply r, std::span<const std::byte> bytes, Word<kI>... w) {
    take(r, Role::kReply, Kind::kMedium, bytes, Array{w...});
  }
  static void reply_long(Reply r, std::span<std::byte> bytes, Word<kI>... w) {
    take(r, Role::kReply, Kind::kLong, bytes, Array{w...});
  }

  static void install(Endpoint& endpoint) {
    endpoint.add_handlers<&request, &request_medium, &request_long, &one_way, &one_way_medium,
                          &one_way_long, &reply, &reply_medium, &reply_long>();
  }

  static void send(Endpoint& endpoint, Rank to, const Said& m) {
    const bool one = m.role == Role::kOneWay;
    [[maybe_unused]] const Words w = m.words;
    switch (m.kind) {
      case Kind::kShort:
        return one ? endpoint.request<&one_way>(to, w[kI]...)
                   : endpoint.request<&request>(to, w[kI]...);
      case Kind::kMedium:
        return one ? endpoint.request_medium<&one_way_medium>(to, m.payload, w[kI]...)
                   : endpoint.request_medium<&request_medium>(to, m.payload, w[kI]...);
      case Kind::kLong:
        return one ? endpoint.request_long<&one_way_long>(to, m.offset, m.payload, w[kI]...)
                   : endpoint.request_long<&request_long>(to, m.offset, m.payload, w[kI]...);
    }
  }

  static void send_reply(Request&& r, const Said& m) {
    [[maybe_unused]] const Words w = m.words;
    switch (m.kind) {
      case Kind::kShort: return std::move(r).template reply<&reply>(w[kI]...);
      case Kind::kMedium:
        return std::move(r).template reply_medium<&reply_medium>(m.payload, w[kI]...);
      case Kind::kLong:
        return std::move(r).template reply_long<&reply_long>(m.offset, m.payload, w[kI]...);
    }
  }
};

// f.template operator()<Shape of kCount words>() for every count.
template <class F>
void for_all_counts(F&& f) {
  [&]<std::size_t... kN>(std::index_sequence<kN...>) {
    (f.template operator()<Shape<std::make_index_sequence<kN>>>(), ...);
  }
  (std::make_index_sequence<kCounts>());
}
template <class F>
void for_count(std::size_t count, F&& f) {
  std::size_t i = 0;
  for_all_counts([&]<class S>() {
    if (i++ == count) f.template operator()<S>();
  });
}

// Answers with another kind and count each time, until every request has seen every reply.
void answer(Request&& request, Kind kind) {
  const auto k = static_cast<std::uint32_t>(kind);
  const std::uint32_t turn = trial->turns[request.source()][k]++;
  const auto reply_kind = static_cast<Kind>((turn / kCounts + k) % 3);
  const std::uint32_t count = (turn + 5 * k + 3 * (turn / kCounts)) % kCounts;
  const Said m = trial->books.make(Role::kReply, reply_kind, count, 2 + k);
  trial->books.note_sent(request.source(), m);
  for_count(count, [&]<class S>() { S::send_reply(std::move(request), m); });
}

void send_one(Endpoint& endpoint, Rank to, const Said& m) {
  trial->books.note_sent(to, m);
  // A long request to another node waits until the payload has left, and polls meanwhile.
  trial->inside_call = m.kind != Kind::kLong || job().router().is_near(to);
  for_count(m.words.size(), [&]<class S>() { S::send(endpoint, to, m); });
  trial->inside_call = false;
}

TEST(Matrix, every_count_kind_and_role_arrives_and_is_answered) {
  Endpoint endpoint(bundle());
  for_all_counts([&]<class S>() { S::install(endpoint); });
  job().connect(endpoint);
  Trial now;
  trial = &now;
  const std::uint32_t size = job().size();
  ASSERT_LE(size, kMaxProcesses);
  for (std::uint32_t round = 0; round < 2 * 3 * kCounts; ++round) {
    const std::uint32_t count = round % kCounts;
    for (Rank i = 0; i < size; ++i) {
      const Rank to = (job().rank() + i) % size;
      for (const Kind kind : kAllKinds) {
        send_one(endpoint, to, now.books.make(Role::kRequest, kind, count, 0));
        send_one(endpoint, to, now.books.make(Role::kOneWay, kind, count, 1));
      }
    }
    bundle().wait_until([&] {
      return now.requests == 6 * size * (round + 1) && now.replies == 3 * size * (round + 1);
    });
    barrier();  // the areas of the segments are free again
  }
  now.books.expect_balanced();
  EXPECT_EQ(endpoint.stats().returned_here + endpoint.stats().returned_by_us, 0u);
  barrier();
  trial = nullptr;
}

// --- Arguments of every size

struct One {
  std::uint8_t bytes[1];
};
struct Three {
  std::uint8_t bytes[3];
};
struct Sixteen {
  std::uint64_t words[2];
};
struct TwentyFour {
  std::uint64_t words[3];
};

struct Mixed {
  One one;
  std::uint16_t two;
  Three three;
  double eight;
  Sixteen sixteen;
  TwentyFour twenty_four;
};

template <class T>
T random_value(std::mt19937_64& random) {
  std::array<std::uint8_t, sizeof(T)> bytes;
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

template <class T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

std::map<std::uint32_t, Mixed> mixed_sent;
std::uint32_t mixed_answers = 0;

void check_mixed(std::uint32_t id, const Mixed& back) {
  const Mixed& sent = mixed_sent.at(id);
  EXPECT_TRUE(same(sent.one, back.one) && sent.two == back.two && same(sent.three, back.three) &&
              same(sent.eight, back.eight) && same(sent.sixteen, back.sixteen) &&
              same(sent.twenty_four, back.twenty_four));
  mixed_sent.erase(id);
  ++mixed_answers;
}

void on_mixed_reply(Reply, TwentyFour e, Sixteen d, double c, Three b, std::uint16_t a, One o,
                    std::uint32_t id) {
  check_mixed(id, {o, a, b, c, d, e});
}
void on_mixed_reply_medium(Reply, std::span<const std::byte> bytes, Three b, Sixteen d, One o,
                           double c, std::uint16_t a, std::uint32_t id, TwentyFour e) {
  EXPECT_EQ(bytes.size(), id % 100);
  check_mixed(id, {o, a, b, c, d, e});
}
void on_mixed(Request r, One o, std::uint16_t a, Three b, double c, Sixteen d, TwentyFour e,
              std::uint32_t id) {
  std::move(r).reply<&on_mixed_reply>(e, d, c, b, a, o, id);
}
void on_mixed_medium(Request r, std::span<const std::byte> bytes, double c, std::uint32_t id,
                     TwentyFour e, One o, Sixteen d, std::uint16_t a, Three b) {
  std::move(r).reply_medium<&on_mixed_reply_medium>(bytes, b, d, o, c, a, id, e);
}

TEST(Matrix, arguments_of_any_trivially_copyable_type_keep_their_bytes) {
  Endpoint endpoint(bundle());
  endpoint.add_handlers<&on_mixed, &on_mixed_medium, &on_mixed_reply, &on_mixed_reply_medium>();
  job().connect(endpoint);
  std::mt19937_64 random(::test::seed() + job().rank());
  const std::vector<std::byte> payload(100);
  mixed_answers = 0;
  for (std::uint32_t id = 0; id < 400; ++id) {
    const Mixed m{random_value<One>(random),     random_value<std::uint16_t>(random),
                  random_value<Three>(random),   random_value<double>(random),
                  random_value<Sixteen>(random), random_value<TwentyFour>(random)};
    mixed_sent[id] = m;
    const Rank to = static_cast<Rank>(random() % job().size());
    if (random() % 2 == 0) {
      endpoint.request<&on_mixed>(to, m.one, m.two, m.three, m.eight, m.sixteen, m.twenty_four, id);
    } else {
      endpoint.request_medium<&on_mixed_medium>(to, Bytes(payload).first(id % 100), m.eight, id,
                                                m.twenty_four, m.one, m.sixteen, m.two, m.three);
    }
  }
  bundle().wait_until([] { return mixed_answers == 400; });
  EXPECT_TRUE(mixed_sent.empty());
  barrier();
}

// --- Conversions, and handlers known by their index only

bool converted = false;
void on_converted(Request, std::int64_t a, double b, std::uint8_t c) {
  EXPECT_EQ(a, -7);
  EXPECT_EQ(b, 3.0);
  EXPECT_EQ(c, 'x');
  converted = true;
}

TEST(Matrix, arguments_are_converted_to_what_the_handler_takes) {
  Endpoint endpoint(bundle());
  endpoint.add_handlers<&on_converted>();
  job().connect(endpoint);
  converted = false;
  endpoint.request<&on_converted>((job().rank() + 1) % job().size(), -7, 3, 'x');
  bundle().wait_until([] { return converted; });
  barrier();
}

TEST(Matrix, a_handler_can_be_named_by_its_index) {
  Endpoint endpoint(bundle());
  for_all_counts([&]<class S>() { S::install(endpoint); });
  job().connect(endpoint);
  Trial now;
  trial = &now;
  const Rank to = (job().rank() + 1) % job().size();
  for (std::uint32_t count = 0; count < kCounts; ++count) {
    const auto first = static_cast<HandlerIndex>(1 + 9 * count);  // as install() adds them
    for (const auto& [role, index] :
         {std::pair(Role::kRequest, first), std::pair(Role::kOneWay, HandlerIndex(first + 3))}) {
      const Said m = now.books.make(role, Kind::kShort, count, 0);
      now.books.note_sent(to, m);
      endpoint.request_index(to, index, m.words, role);
    }
  }
  bundle().wait_until([&] { return now.requests == 2 * kCounts && now.replies == kCounts; });
  barrier();
  now.books.expect_balanced();
  barrier();
  trial = nullptr;
}

}  // namespace matrix_test
}  // namespace am
