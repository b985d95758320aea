#include "shmem/ring.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/support/seed.h"

namespace shmem {
namespace {

constexpr Mark kOneWayMark = 0x8000;

// What a half carries, besides its mark.
struct Content {
  std::uint64_t words[3];
  bool operator==(const Content&) const = default;
};
static_assert(sizeof(Content) == Half::kBytes);

Content content_of(std::uint64_t number) {
  return {{number, number * 0x9e3779b97f4a7c15u, ~number}};
}
Mark mark_for(std::uint64_t number, bool one_way) {
  return static_cast<Mark>((number * 40503u & 0x7fff) | (one_way ? kOneWayMark : 0));
}
void write(Half& half, const Content& content) {
  std::memcpy(half.bytes, &content, sizeof content);
}
Content read(const Half& half) {
  Content content;
  std::memcpy(&content, half.bytes, sizeof content);
  return content;
}
Mark mark_in(const Half& half) { return mark_of(half.head.load(std::memory_order_relaxed)); }

// A ring beside a queue that knows what has to come next and which slots must be free.
template <std::uint32_t kSlots>
class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed) {}

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      if (i % 256 == 0) choose_weights();
      step();
      check_counts();
    }
  }

  // Reads and answers everything, and leaves the ring to a new producer.
  void hand_over() {
    while (!queued_.empty()) consume();
    while (producer_.awaited() != 0 && !testing::Test::HasFailure()) reap();
    if (!flight_.empty()) {  // one-way requests behind the last answer: one answer more frees them
      if (producer_.full()) take_published();
      send(false);
      consume();
      reap();
    }
    check_counts();
    ASSERT_EQ(producer_.in_flight(), 0u);
    const auto next = producer_.next_sequence();
    const auto last = producer_.last_slot();
    producer_ = {};
    producer_.resume(next, last);
  }

  std::uint64_t sent() const { return sent_; }

 private:
  struct Message {
    std::uint64_t number;  // as the model counts them, from 1
    std::uint32_t slot;
    bool one_way;
    bool consumed = false;
  };

  void choose_weights() {
    for (unsigned& weight : weights_) weight = 1 + static_cast<unsigned>(random_() % 10);
    one_way_percent_ = static_cast<unsigned>(random_() % 5) * 25;
  }

  void step() {
    std::discrete_distribution<int> choose(weights_, weights_ + 4);
    switch (choose(random_)) {
      case 0: return send(random_() % 100 < one_way_percent_);
      case 1: return consume();
      case 2: return reap();
      default: return take_published();
    }
  }

  void send(bool one_way) {
    ASSERT_EQ(producer_.full(), flight_.size() == kSlots);
    if (producer_.full()) return;
    const std::uint32_t slot = producer_.next_slot();
    for (const Message& m : flight_) ASSERT_NE(m.slot, slot) << "a slot in flight was given out";
    if (flight_.empty()) {
      ASSERT_EQ(slot, last_slot_) << "an idle ring stays on its line";
    }
    last_slot_ = slot;
    const std::uint64_t number = ++sent_;
    write(slots_[slot].request, content_of(number));
    producer_.commit(slots_[slot], mark_for(number, one_way), one_way);
    flight_.push_back({number, slot, one_way});
    queued_.push_back(number);
  }

  Message& in_flight(std::uint64_t number) {
    for (Message& m : flight_) {
      if (m.number == number) return m;
    }
    throw std::logic_error("message " + std::to_string(number) + " was freed before it was read");
  }

  void consume() {
    Slot* const slot = consumer_.peek(slots_.get());
    ASSERT_EQ(slot != nullptr, !queued_.empty());
    if (slot == nullptr) return;
    ASSERT_EQ(consumer_.peek(slots_.get()), slot);  // until it is finished
    Message& m = in_flight(queued_.front());
    queued_.pop_front();
    ASSERT_EQ(slot - slots_.get(), m.slot);
    ASSERT_EQ(read(slot->request), content_of(m.number));
    ASSERT_EQ(mark_in(slot->request), mark_for(m.number, m.one_way));
    m.consumed = true;
    if (m.one_way) {
      const bool publish = consumer_.finish_one_way(slots_.get(), *slot);
      if (++unpublished_ >= Consumer<kSlots>::kBatch) unpublished_ = 0;
      ASSERT_EQ(publish, unpublished_ == 0);
      if (publish) published_ = consumer_.consumed();
    } else {
      write(slot->reply, content_of(~m.number));
      consumer_.answer(slots_.get(), *slot, mark_for(~m.number, false));
    }
    ASSERT_EQ(consumer_.consumed(), m.number);
  }

  void reap() {
    if (producer_.awaited() == 0) return;
    std::size_t oldest = 0;
    while (flight_[oldest].one_way) ++oldest;
    const Message m = flight_[oldest];
    std::uint32_t slot = kSlots;
    ASSERT_EQ(producer_.reply_ready(slots_.get(), slot), m.consumed);
    ASSERT_EQ(slot, m.slot);
    if (!m.consumed) return;
    ASSERT_EQ(read(slots_[slot].reply), content_of(~m.number));
    ASSERT_EQ(mark_in(slots_[slot].reply), mark_for(~m.number, false));
    producer_.release_reply();
    flight_.erase(flight_.begin(), flight_.begin() + static_cast<std::ptrdiff_t>(oldest) + 1);
  }

  void take_published() {
    producer_.release_consumed(published_);
    while (!flight_.empty() && flight_.front().one_way && flight_.front().number <= published_) {
      flight_.pop_front();
    }
  }

  void check_counts() {
    ASSERT_EQ(producer_.in_flight(), flight_.size());
    ASSERT_LE(flight_.size(), kSlots);
    std::size_t awaited = 0;
    for (const Message& m : flight_) awaited += !m.one_way;
    ASSERT_EQ(producer_.awaited(), awaited);
    ASSERT_EQ(producer_.next_sequence(), sent_ + 1);
    ASSERT_EQ(producer_.last_slot(), last_slot_);
  }

  std::mt19937_64 random_;
  unsigned weights_[4]{};
  unsigned one_way_percent_ = 50;

  std::unique_ptr<Slot[]> slots_ = std::make_unique<Slot[]>(kSlots);
  Producer<kSlots> producer_;
  Consumer<kSlots> consumer_;

  std::uint64_t sent_ = 0;
  std::uint64_t published_ = 0;
  std::uint32_t unpublished_ = 0;
  std::uint32_t last_slot_ = 0;
  std::deque<Message> flight_;        // oldest first; their slots must not be given out
  std::deque<std::uint64_t> queued_;  // of these, what the consumer has yet to read
};

template <std::uint32_t kSlots>
void run_models() {
  std::mt19937_64 seeds(::test::seed());
  for (int i = 0; i < 3 && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("round " + std::to_string(i));
    Model<kSlots> model(seeds());
    model.run(100'000);
    EXPECT_GT(model.sent(), 5'000u);
  }
}

TEST(Ring, of_64_slots_agrees_with_a_queue) { run_models<64>(); }
TEST(Ring, of_16_slots_agrees_with_a_queue) { run_models<16>(); }
TEST(Ring, of_4_slots_agrees_with_a_queue) { run_models<4>(); }
TEST(Ring, of_2_slots_agrees_with_a_queue) { run_models<2>(); }
TEST(Ring, of_1_slot_agrees_with_a_queue) { run_models<1>(); }

TEST(Ring, a_resumed_producer_goes_on_among_stale_slots) {
  std::mt19937_64 random(::test::seed());
  Model<16> model(random());
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    model.run(static_cast<int>(random() % 400));
    model.hand_over();
  }
}

TEST(Ring, zeroed_memory_is_empty) {
  const auto slots = std::make_unique<Slot[]>(64);
  Consumer<64> consumer;
  EXPECT_EQ(consumer.peek(slots.get()), nullptr);
  EXPECT_EQ(consumer.consumed(), 0u);
}

TEST(Ring, sequence_numbers_of_48_bits_keep_their_mark) {
  const std::uint64_t last = (std::uint64_t{1} << 48) - 1;
  EXPECT_EQ(sequence_of(make_head(last, 0xabcd)), last);
  EXPECT_EQ(mark_of(make_head(last, 0xabcd)), 0xabcd);
}

// One thread sends and reaps, another consumes; ThreadSanitizer watches every byte they share.
template <std::uint32_t kSlots>
class TwoThreads {
 public:
  TwoThreads(std::uint64_t seed, std::uint64_t messages) : seed_(seed), messages_(messages) {}

  void run() {
    std::thread consumer([this] { consume(); });
    produce();
    consumer.join();
    EXPECT_EQ(wrong_, 0u);
    EXPECT_EQ(read_, messages_);
  }

 private:
  static bool one_way(std::uint64_t number) { return number * 0x9e3779b97f4a7c15u >> 63 != 0; }

  void produce() {
    std::mt19937_64 random(seed_);
    Producer<kSlots> producer;
    std::uint64_t sent = 0, answered = 0, wrong_replies = 0;
    std::deque<std::uint64_t> awaited;
    while (sent < messages_ || producer.awaited() != 0) {
      if (producer.full()) producer.release_consumed(consumed_->value());
      bool idle = true;
      for (auto burst = random() % kSlots + 1; burst > 0 && sent < messages_; --burst) {
        if (producer.full()) break;
        Slot& slot = slots_[producer.next_slot()];
        write(slot.request, content_of(++sent));
        if (!one_way(sent)) awaited.push_back(sent);
        producer.commit(slot, mark_for(sent, one_way(sent)), one_way(sent));
        idle = false;
      }
      std::uint32_t slot;
      while (producer.awaited() != 0 && producer.reply_ready(slots_.get(), slot)) {
        wrong_replies += !(read(slots_[slot].reply) == content_of(~awaited.front()));
        awaited.pop_front();
        producer.release_reply();
        ++answered;
        idle = false;
      }
      if (idle) sched_yield();
    }
    EXPECT_EQ(wrong_replies, 0u);
    EXPECT_TRUE(awaited.empty());
    EXPECT_GT(answered, 0u);
  }

  void consume() {
    Consumer<kSlots> consumer;
    while (read_ < messages_) {
      Slot* const slot = consumer.peek(slots_.get());
      if (slot == nullptr) {
        sched_yield();
        continue;
      }
      ++read_;
      wrong_ += !(read(slot->request) == content_of(read_));
      if (!one_way(read_)) {
        write(slot->reply, content_of(~read_));
        consumer.answer(slots_.get(), *slot, mark_for(~read_, false));
      } else if (consumer.finish_one_way(slots_.get(), *slot)) {
        consumed_->publish(consumer.consumed());
      }
    }
  }

  const std::uint64_t seed_;
  const std::uint64_t messages_;
  std::unique_ptr<Slot[]> slots_ = std::make_unique<Slot[]>(kSlots);
  std::unique_ptr<Flag> consumed_ = std::make_unique<Flag>();
  // Owned by the consuming thread until it is joined.
  std::uint64_t read_ = 0;
  std::uint64_t wrong_ = 0;
};

TEST(Ring, two_threads_lose_and_mix_up_nothing) {
  TwoThreads<64>(::test::seed(), 200'000).run();
  TwoThreads<16>(::test::seed() + 1, 100'000).run();
  TwoThreads<1>(::test::seed() + 2, 20'000).run();
}

}  // namespace
}  // namespace shmem
