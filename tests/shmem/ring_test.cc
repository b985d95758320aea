#include "shmem/ring.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <bit>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/support/seed.h"

namespace shmem {
namespace ring_test {

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
  return static_cast<Mark>((number * 40503u & 0x7fff) | (one_way ? kOneWay : 0));
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

// A ring beside a queue that knows what has to come next and which slots must be free. Not for the
// stack: AddressSanitizer of GCC 12 aligns to 32 bytes there.
template <std::uint32_t kSlots>
class Model {
 public:
  // The first message has number `first`, in both counters.
  explicit Model(std::uint64_t seed, std::uint64_t first = 1)
      : random_(seed), sent_(first - 1), published_(first - 1) {
    progress_.consumed.store(first - 1, std::memory_order_relaxed);
    producer_.resume(first, 0, 0);
    consumer_.resume(first, 0);
  }

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
      while (producer_.full()) take_published();
      send(false);
      consume();
      reap();
    }
    check_counts();
    ASSERT_EQ(producer_.in_flight(), 0u);
    const auto next = producer_.next_sequence();
    const auto last = producer_.last_slot();
    producer_ = {};
    producer_.resume(next, last, progress_.returned.load(std::memory_order_relaxed));
    if (random_() % 2 == 0) {
      consumer_ = {};
      consumer_.resume(next, last);
      unpublished_ = 0;
    }
  }

  std::uint64_t sent() const { return sent_; }
  std::uint64_t returned() const { return returned_; }

 private:
  struct Message {
    std::uint64_t number;  // as the model counts them, from 1
    std::uint32_t slot;
    bool one_way;
    bool consumed = false;
    bool returned = false;
  };

  void choose_weights() {
    for (unsigned& weight : weights_) weight = 1 + static_cast<unsigned>(random_() % 10);
    one_way_percent_ = static_cast<unsigned>(random_() % 5) * 25;
    return_percent_ = static_cast<unsigned>(random_() % 3) * 30;
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
    const std::uint64_t number = ++sent_;
    if (rotates(number)) {
      ASSERT_EQ(slot, (last_slot_ + 1) % kSlots) << "the whole ring has its turn";
    } else if (flight_.empty()) {
      ASSERT_EQ(slot, last_slot_) << "an idle ring stays on its line";
    }
    last_slot_ = slot;
    write(slots_[slot].request, content_of(number));
    producer_.commit(slots_[slot], mark_for(number, one_way), one_way);
    flight_.push_back({number, slot, one_way});
    queued_.push_back(number);
  }

  static bool rotates(std::uint64_t number) {
    constexpr std::uint64_t kPeriod = Producer<kSlots>::kPeriod;
    return number % kPeriod >= kPeriod - kSlots;
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
    const std::uint64_t told = consumer_.told();
    if (m.one_way && random_() % 100 < return_percent_) {
      m.returned = true;
      write(slot->reply, content_of(~m.number));
      consumer_.give_back(*slot, mark_for(~m.number, false), progress_);
      published_ = m.number;
      unpublished_ = 0;
    } else if (m.one_way) {
      const bool publish = consumer_.finish_one_way(progress_);
      if (++unpublished_ >= Consumer<kSlots>::kBatch) unpublished_ = 0;
      ASSERT_EQ(publish, unpublished_ == 0);
      ASSERT_EQ(consumer_.told() != told, publish);
      if (publish) published_ = m.number;
    } else {
      write(slot->reply, content_of(~m.number));
      consumer_.answer(*slot, mark_for(~m.number, false));
      ASSERT_NE(consumer_.told(), told);
    }
    ASSERT_EQ(consumer_.consumed(), m.number);
    ASSERT_EQ(progress_.consumed.load(std::memory_order_relaxed), published_);
  }

  void reap() {
    if (producer_.awaited() == 0) {
      typename Producer<kSlots>::Answered none{};
      ASSERT_FALSE(producer_.find_reply(slots_.get(), none));
      return;
    }
    std::size_t oldest = 0;
    while (flight_[oldest].one_way) ++oldest;
    const Message m = flight_[oldest];
    typename Producer<kSlots>::Answered answered{};
    ASSERT_EQ(producer_.find_reply(slots_.get(), answered), m.consumed);
    ASSERT_EQ(answered.slot - slots_.get(), m.slot);
    if (!m.consumed) return;
    ASSERT_EQ(mark_of(answered.head), mark_for(~m.number, false));
    check_reply(m);
    std::uint32_t back;
    while (producer_.take_returned_before(answered, slots_.get(), progress_, back)) took(back);
    producer_.release_reply(answered);
    free_until(m.number);
    flight_.pop_front();
  }

  void check_reply(const Message& m) {
    ASSERT_EQ(read(slots_[m.slot].reply), content_of(~m.number));
    ASSERT_EQ(mark_in(slots_[m.slot].reply), mark_for(~m.number, false));
  }

  // The producer has freed everything up to `number`, and has taken what was returned.
  void free_until(std::uint64_t number) {
    while (!flight_.empty() && flight_.front().number < number) {
      ASSERT_TRUE(flight_.front().one_way && flight_.front().consumed);
      ASSERT_FALSE(flight_.front().returned) << "a returned message was not seen";
      flight_.pop_front();
    }
  }

  // The producer has taken a returned message from `slot`.
  void took(std::uint32_t slot) {
    while (!flight_.empty() && !flight_.front().returned) free_until(flight_.front().number + 1);
    ASSERT_FALSE(flight_.empty());
    const Message m = flight_.front();
    ASSERT_EQ(m.slot, slot);
    check_reply(m);
    ASSERT_EQ(read(slots_[slot].request), content_of(m.number)) << "the request stays whole";
    flight_.pop_front();
    ++returned_;
  }

  void take_published() {
    std::uint32_t slot;
    if (random_() % 2 == 0) {
      producer_.release_consumed(slots_.get(), progress_);
    } else {
      while (producer_.take_returned(slots_.get(), progress_, slot)) took(slot);
    }
    while (!flight_.empty() && flight_.front().one_way && flight_.front().number <= published_ &&
           !flight_.front().returned) {
      flight_.pop_front();
    }
  }

  void check_counts() {
    ASSERT_EQ(producer_.in_flight(), flight_.size());
    ASSERT_LE(flight_.size(), kSlots);
    std::size_t awaited = 0;
    for (const Message& m : flight_) awaited += !m.one_way;
    ASSERT_EQ(producer_.awaited(), awaited);
    ASSERT_EQ(std::popcount(producer_.awaited_slots()), static_cast<int>(awaited));
    ASSERT_EQ(producer_.next_sequence(), sent_ + 1);
    ASSERT_EQ(producer_.last_slot(), last_slot_);
  }

  std::mt19937_64 random_;
  unsigned weights_[4]{};
  unsigned one_way_percent_ = 50;
  unsigned return_percent_ = 0;

  std::unique_ptr<Slot[]> slots_ = std::make_unique<Slot[]>(kSlots);
  Progress progress_{};
  Producer<kSlots> producer_;
  Consumer<kSlots> consumer_;

  std::uint64_t sent_;
  std::uint64_t published_;
  std::uint64_t returned_ = 0;  // and taken
  std::uint32_t unpublished_ = 0;
  std::uint32_t last_slot_ = 0;
  std::deque<Message> flight_;        // oldest first; their slots must not be given out
  std::deque<std::uint64_t> queued_;  // of these, what the consumer has yet to read
};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr unsigned kSteps = 20'000;  // each takes several times as long
#else
constexpr unsigned kSteps = 100'000;
#endif

template <std::uint32_t kSlots>
void run_models() {
  std::mt19937_64 seeds(::test::seed());
  for (int i = 0; i < 3 && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("round " + std::to_string(i));
    const auto model = std::make_unique<Model<kSlots>>(seeds());
    model->run(kSteps);
    EXPECT_GT(model->sent(), kSteps / 20);
    EXPECT_GT(model->returned(), kSteps / 1000);
  }
}

TEST(Ring, of_64_slots_agrees_with_a_queue) { run_models<64>(); }
TEST(Ring, of_16_slots_agrees_with_a_queue) { run_models<16>(); }
TEST(Ring, of_4_slots_agrees_with_a_queue) { run_models<4>(); }
TEST(Ring, of_2_slots_agrees_with_a_queue) { run_models<2>(); }
TEST(Ring, of_1_slot_agrees_with_a_queue) { run_models<1>(); }

TEST(Ring, a_resumed_producer_goes_on_among_stale_slots) {
  std::mt19937_64 random(::test::seed());
  const auto model = std::make_unique<Model<16>>(random());
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    model->run(static_cast<int>(random() % 400));
    model->hand_over();
  }
}

TEST(Ring, zeroed_memory_is_empty) {
  const auto slots = std::make_unique<Slot[]>(64);
  Consumer<64> consumer;
  EXPECT_EQ(consumer.peek(slots.get()), nullptr);
  EXPECT_EQ(consumer.consumed(), 0u);
}

TEST(Ring, heads_agree_with_no_number_nearby) {
  for (const std::uint64_t number :
       {std::uint64_t{1}, std::uint64_t{1} << 46, std::uint64_t{1} << 47, ~std::uint64_t{0} >> 1}) {
    const std::uint64_t head = make_head(number, 0xabcd);
    EXPECT_EQ(mark_of(head), 0xabcd);
    EXPECT_TRUE(is_head_of(head, number));
    EXPECT_FALSE(is_head_of(0, number)) << "zeroed memory";
    for (int bit = 0; bit < 47; ++bit) {
      EXPECT_FALSE(is_head_of(head, number ^ std::uint64_t{1} << bit));
    }
  }
}

// Traffic across every number at which something happens: the end of a period, and those where the
// bits of the head begin anew.
template <std::uint32_t kSlots>
void run_across(std::uint64_t number) {
  SCOPED_TRACE(std::to_string(kSlots) + " slots, across " + std::to_string(number));
  std::mt19937_64 random(::test::seed());
  for (int i = 0; i < 20 && !testing::Test::HasFailure(); ++i) {
    const auto model =
        std::make_unique<Model<kSlots>>(random(), number - 3 * kSlots - random() % 8);
    while (model->sent() < number + 3 * kSlots && !testing::Test::HasFailure()) {
      model->run(static_cast<int>(random() % 100));
      if (random() % 4 == 0) model->hand_over();
    }
  }
}

TEST(Ring, goes_on_where_its_numbers_wrap) {
  for (const std::uint64_t number :
       {std::uint64_t{1} << 40, std::uint64_t{1} << 47, std::uint64_t{1} << 48,
        std::uint64_t{3} << 47, (std::uint64_t{1} << 47) + (std::uint64_t{1} << 40)}) {
    run_across<64>(number);
    run_across<16>(number);
    run_across<1>(number);
  }
}

// A slot used 2^47 requests ago holds a head that the next one would have to match, were it not for
// the passes through the whole ring: after one, no head is of an earlier period.
TEST(Ring, clears_what_is_older_than_a_period) {
  constexpr std::uint32_t kSlots = 16;
  constexpr std::uint64_t kPeriod = Producer<kSlots>::kPeriod;
  const auto slots = std::make_unique<Slot[]>(kSlots);
  Producer<kSlots> producer;
  Consumer<kSlots> consumer;
  const auto trip = [&] {
    producer.commit(slots[producer.next_slot()], 7, false);
    Slot* const slot = consumer.peek(slots.get());
    ASSERT_NE(slot, nullptr);
    consumer.answer(*slot, 7);
    Producer<kSlots>::Answered answered{};
    ASSERT_TRUE(producer.find_reply(slots.get(), answered));
    producer.release_reply(answered);
  };
  for (std::uint64_t i = 0; i < kSlots; ++i) {  // heads of every slot, by numbers of this period
    producer.resume(i + 1, static_cast<std::uint32_t>(i), 0);
    consumer.resume(i + 1, static_cast<std::uint32_t>(i));
    trip();
  }
  producer.resume(kPeriod - kSlots, 3, 0);
  consumer.resume(kPeriod - kSlots, 3);
  for (std::uint32_t i = 0; i < kSlots + 1; ++i) trip();
  for (std::uint32_t i = 0; i < kSlots; ++i) {
    for (const Half* const half : {&slots[i].request, &slots[i].reply}) {
      const std::uint64_t head = half->head.load(std::memory_order_relaxed);
      for (std::uint64_t old = 1; old <= kSlots; ++old) EXPECT_FALSE(is_head_of(head, old));
    }
  }
}

// One thread sends and reaps, another consumes; ThreadSanitizer watches every byte they share.
template <std::uint32_t kSlots>
class TwoThreads {
 public:
  TwoThreads(std::uint64_t seed, std::uint64_t messages) : seed_(seed), messages_(messages) {
    for (std::uint64_t n = 1; n <= messages; ++n) returned_in_all_ += one_way(n) && returned(n);
  }

  void run() {
    std::thread consumer([this] { consume(); });
    produce();
    consumer.join();
    EXPECT_EQ(wrong_, 0u);
    EXPECT_EQ(read_, messages_);
  }

 private:
  static bool one_way(std::uint64_t number) { return number * 0x9e3779b97f4a7c15u >> 63 != 0; }
  // Of one-way requests.
  static bool returned(std::uint64_t number) { return number * 0x9e3779b97f4a7c15u >> 59 == 31; }

  void produce() {
    std::mt19937_64 random(seed_);
    Producer<kSlots> producer;
    std::uint64_t sent = 0, answered = 0;
    std::deque<std::uint64_t> awaited;
    std::uint32_t slot;
    while (sent < messages_ || producer.awaited() != 0 || back_ != returned_in_all_) {
      bool idle = true;
      while (producer.take_returned(slots_.get(), *progress_, slot)) take_back(slots_[slot]);
      for (auto burst = random() % kSlots + 1; burst > 0 && sent < messages_; --burst) {
        if (producer.full()) break;
        Slot& slot = slots_[producer.next_slot()];
        write(slot.request, content_of(++sent));
        if (!one_way(sent)) awaited.push_back(sent);
        producer.commit(slot, mark_for(sent, one_way(sent)), one_way(sent));
        idle = false;
      }
      if (producer.full()) producer.release_consumed(slots_.get(), *progress_);
      typename Producer<kSlots>::Answered reply;
      while (producer.find_reply(slots_.get(), reply)) {
        wrong_replies_ += !(read(reply.slot->reply) == content_of(~awaited.front()));
        awaited.pop_front();
        std::uint32_t back;
        while (producer.take_returned_before(reply, slots_.get(), *progress_, back)) {
          take_back(slots_[back]);
        }
        producer.release_reply(reply);
        ++answered;
        idle = false;
      }
      if (idle) sched_yield();
    }
    EXPECT_EQ(wrong_replies_, 0u);
    EXPECT_TRUE(awaited.empty());
    EXPECT_GT(answered, 0u);
  }

  // Returned requests come back in order, and all of them.
  void take_back(const Slot& slot) {
    do {
      ++last_back_;
    } while (!one_way(last_back_) || !returned(last_back_));
    ++back_;
    wrong_replies_ += !(read(slot.request) == content_of(last_back_)) ||
                      !(read(slot.reply) == content_of(~last_back_));
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
        consumer.answer(*slot, mark_for(~read_, false));
      } else if (returned(read_)) {
        write(slot->reply, content_of(~read_));
        consumer.give_back(*slot, mark_for(~read_, false), *progress_);
      } else {
        consumer.finish_one_way(*progress_);
      }
    }
  }

  const std::uint64_t seed_;
  const std::uint64_t messages_;
  std::unique_ptr<Slot[]> slots_ = std::make_unique<Slot[]>(kSlots);
  std::unique_ptr<Progress> progress_ = std::make_unique<Progress>();
  std::uint64_t returned_in_all_ = 0;
  // Owned by the producing thread.
  std::uint64_t back_ = 0;
  std::uint64_t last_back_ = 0;
  std::uint64_t wrong_replies_ = 0;
  // Owned by the consuming thread until it is joined.
  std::uint64_t read_ = 0;
  std::uint64_t wrong_ = 0;
};

TEST(Ring, two_threads_lose_and_mix_up_nothing) {
  TwoThreads<64>(::test::seed(), 200'000).run();
  TwoThreads<16>(::test::seed() + 1, 100'000).run();
  TwoThreads<1>(::test::seed() + 2, 20'000).run();
}

}  // namespace ring_test
}  // namespace shmem
