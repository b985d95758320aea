// Threads that do everything at once that a parallel bundle allows, drawn at random: requests of
// all kinds, gets, replies, polls, waits; translations, endpoints, handlers, tags and segments that
// come, go and change meanwhile; endpoints that move between bundles.
//
//   parallel_mix [--threads N] [--steps N] [--seconds N] [--seed N]
//
// Every request is answered or comes back, once; every one-way request is handled or comes back,
// once; every payload is as it was sent. Each thread waits for its own now and then, and the sums
// are compared at the end.
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "am/am.h"

namespace {

using Bytes = std::span<const std::byte>;

constexpr unsigned kMostThreads = 16;
constexpr unsigned kSteady = 4;  // endpoints of each process that stay
constexpr std::size_t kLong = 5000;
constexpr std::size_t kPlace = 8192;  // of a thread, in the receiver's segment
constexpr am::Tag kTag = 7;
// A message orders what its sender wrote before what its receiver reads, through memory that two
// bundles of a process have mapped at two addresses: ThreadSanitizer takes it for unordered.
#if defined(__SANITIZE_THREAD__)
constexpr bool kOrderIsSeen = false;
#else
constexpr bool kOrderIsSeen = true;
#endif

struct Options {
  unsigned threads = 8;
  std::uint64_t steps = 2000;  // of each thread
  double seconds = 0;          // at most; 0: no limit
  std::uint64_t seed = 1;
};

std::byte byte_of(std::uint32_t thread, std::uint32_t n, std::size_t i) {
  return static_cast<std::byte>(thread * 31 + n * 7 + i + (i >> 8));
}
std::vector<std::byte> payload_of(std::uint32_t thread, std::uint32_t n, std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = byte_of(thread, n, i);
  return made;
}

class Mix {
 public:
  explicit Mix(const Options& options);
  int run();

 private:
  // What one thread has sent, and what has become of it.
  struct Thread {
    std::atomic<std::uint64_t> ended{0};  // requests that were answered or have come back
    std::uint64_t sent = 0;
    std::uint32_t n = 0;
    std::mt19937_64 random;
  };

  void on_short(am::Request r, std::uint32_t thread, std::uint32_t n);
  void on_medium(am::Request r, Bytes payload, std::uint32_t thread, std::uint32_t n);
  void on_long(am::Request r, std::span<std::byte> payload, std::uint32_t thread, std::uint32_t n);
  void on_one_way(am::OneWay m, std::uint32_t thread);
  void on_answer(am::Reply, std::uint32_t thread) { threads_[thread].ended += 1; }
  void on_medium_answer(am::Reply, Bytes payload, std::uint32_t thread, std::uint32_t n);
  void on_got(am::Reply, std::span<std::byte>, std::uint32_t thread) {
    threads_[thread].ended += 1;
  }
  void came_back(const am::Returned& message);

  void prepare(am::Endpoint& endpoint);
  void work(unsigned number);
  void step(unsigned number);
  void send(am::Endpoint& from, std::uint32_t to, unsigned number);
  void use_translation(unsigned number);
  void use_endpoint(unsigned number);
  void change(unsigned number);
  void wait_for_own(unsigned number);
  void check(bool good, const char* what);
  std::uint64_t sum(std::uint64_t own);
  int report();

  am::Endpoint& some_endpoint(Thread& self) { return *steady_[self.random() % kSteady]; }
  am::Bundle& some_bundle(Thread& self) { return bundles_[self.random() % 2]; }
  std::uint32_t some_target(Thread& self) {
    return static_cast<std::uint32_t>(self.random() % names_.size());
  }

  const Options options_;
  am::Job job_;
  am::Bundle own_{job_};  // of the main thread
  std::array<am::Bundle, 2> bundles_{am::Bundle(job_, am::Access::kParallel),
                                     am::Bundle(job_, am::Access::kParallel)};
  std::vector<std::unique_ptr<am::Endpoint>> steady_;
  std::vector<am::Name> names_;
  std::array<Thread, kMostThreads + 1> threads_;  // the last: what nobody waits for
  std::atomic<std::uint64_t> one_way_sent_{0};
  std::atomic<std::uint64_t> one_way_ended_{0};
  std::atomic<std::uint64_t> wrong_{0};
  std::atomic<std::uint64_t> returned_{0};
  std::atomic<bool> stop_{false};
};

Mix::Mix(const Options& options) : options_(options) {
  for (unsigned i = 0; i < kSteady; ++i) {
    // As many as there may be at a time, of all processes: each steady one, and one a thread.
    steady_.push_back(
        std::make_unique<am::Endpoint>(bundles_[i % 2], am::Endpoint::Options{.inboxes = 256}));
    prepare(*steady_.back());
  }
  for (unsigned i = 0; i < kSteady; ++i) {
    for (const am::Name& name : job_.exchange(steady_[i]->name())) names_.push_back(name);
  }
  for (auto& endpoint : steady_) {
    for (std::uint32_t to = 0; to < names_.size(); ++to) endpoint->map(to, names_[to], kTag);
  }
  job_.barrier(own_);
}

void Mix::prepare(am::Endpoint& endpoint) {
  endpoint.add_handlers<&Mix::on_short, &Mix::on_medium, &Mix::on_long, &Mix::on_one_way,
                        &Mix::on_answer, &Mix::on_medium_answer, &Mix::on_got>(*this);
  endpoint.on_returned([this](const am::Returned& message) { came_back(message); });
  endpoint.set_tag(kTag);
}

void Mix::on_short(am::Request r, std::uint32_t thread, std::uint32_t n) {
  if (n % 3 == 0) sched_yield();  // with another thread inside
  std::move(r).reply<&Mix::on_answer>(thread);
}

void Mix::on_medium(am::Request r, Bytes payload, std::uint32_t thread, std::uint32_t n) {
  for (std::size_t i = 0; i < payload.size(); ++i) wrong_ += payload[i] != byte_of(thread, n, i);
  std::move(r).reply_medium<&Mix::on_medium_answer>(payload, thread, n);
}

void Mix::on_medium_answer(am::Reply, Bytes payload, std::uint32_t thread, std::uint32_t n) {
  for (std::size_t i = 0; i < payload.size(); ++i) wrong_ += payload[i] != byte_of(thread, n, i);
  threads_[thread].ended += 1;
}

void Mix::on_long(am::Request r, std::span<std::byte> payload, std::uint32_t thread,
                  std::uint32_t n) {
  for (std::size_t i = 0; kOrderIsSeen && i < payload.size(); ++i) {
    wrong_ += payload[i] != byte_of(thread, n, i);
  }
  wrong_ += payload.size() != kLong;
  std::move(r).reply<&Mix::on_answer>(thread);
}

void Mix::on_one_way(am::OneWay, std::uint32_t) { one_way_ended_ += 1; }

// Of a reply that has come back its requester hears no more: it has ended, or another tag.
void Mix::came_back(const am::Returned& message) {
  returned_ += 1;
  std::uint32_t thread;
  std::memcpy(&thread, message.arguments.data(), sizeof thread);
  if (message.role == am::Role::kOneWay) {
    one_way_ended_ += 1;
  } else {
    threads_[thread].ended += 1;
  }
}

void Mix::check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "rank %u: %s\n", job_.rank(), what);
  wrong_ += 1;
}

void Mix::send(am::Endpoint& from, std::uint32_t to, unsigned number) {
  Thread& self = threads_[number];
  const std::uint32_t n = self.n++;
  const std::uint64_t place = (std::uint64_t{job_.rank()} * kMostThreads + number) * kPlace;
  switch (self.random() % 5) {
    case 0: ++self.sent; return from.request<&Mix::on_short>(to, number, n);
    case 1:
      ++self.sent;
      return from.request_medium<&Mix::on_medium>(
          to, payload_of(number, n, self.random() % (am::max_medium() + 1)), number, n);
    case 2:
      wait_for_own(number);  // the place is free then
      ++self.sent;
      from.request_long<&Mix::on_long>(to, place, payload_of(number, n, kLong), number, n);
      return wait_for_own(number);
    case 3: one_way_sent_ += 1; return from.request<&Mix::on_one_way>(to, number);
    default:
      wait_for_own(number);
      ++self.sent;
      from.get_long<&Mix::on_got>(to, place, place, kOrderIsSeen ? self.random() % kPlace : 0,
                                  number);
      return wait_for_own(number);
  }
}

void Mix::wait_for_own(unsigned number) {
  Thread& self = threads_[number];
  some_bundle(self).wait_until([&] {
    if (self.ended == self.sent) return true;
    // They may be in the other bundle, which nobody else may be polling.
    for (am::Bundle& bundle : bundles_) {
      if (!am::Bundle::handling()) bundle.poll();
    }
    return self.ended == self.sent;
  });
}

void Mix::use_translation(unsigned number) {
  Thread& self = threads_[number];
  am::Endpoint& endpoint = some_endpoint(self);
  const std::uint32_t to = endpoint.map_any(names_[some_target(self)], kTag);
  for (std::uint64_t i = self.random() % 8; i != 0; --i) send(endpoint, to, number);
  endpoint.unmap(to);
}

// One that ends with messages from it, and to it, on their way. Not all of them are heard of: a
// reply that its requester refuses, having another tag now, goes back to nobody.
void Mix::use_endpoint(unsigned number) {
  Thread& self = threads_[number];
  auto mortal = std::make_unique<am::Endpoint>(some_bundle(self));
  prepare(*mortal);
  am::Endpoint& other = some_endpoint(self);
  const std::uint32_t to = other.map_any(mortal->name(), kTag);
  mortal->map(0, names_[some_target(self)], kTag);
  for (std::uint32_t i = 0; i < 10; ++i) {
    mortal->request<&Mix::on_short>(0, kMostThreads, i);
    other.request<&Mix::on_short>(to, kMostThreads, i);
  }
  if (self.random() % 2 == 0) mortal->flush();
  mortal.reset();
  one_way_sent_ += 1;
  other.request<&Mix::on_one_way>(to, number);
  other.unmap(to);
}

void Mix::change(unsigned number) {
  Thread& self = threads_[number];
  am::Endpoint& endpoint = some_endpoint(self);
  switch (self.random() % 5) {
    case 0: return some_bundle(self).adopt(endpoint);
    case 1: return endpoint.set_segment(endpoint.segment());
    case 2:
      endpoint.set_untyped_handler(
          200, [](am::UntypedMessage, void*) {}, nullptr, /*replace=*/true);
      return;
    case 3:
      if (job_.size() != 1) return;  // who has sent what comes back would not hear of it
      endpoint.set_tag(kTag + 1);
      return endpoint.set_tag(kTag);
    default: endpoint.on_returned([this](const am::Returned& message) { came_back(message); });
  }
}

void Mix::step(unsigned number) {
  Thread& self = threads_[number];
  const std::uint64_t what = self.random() % 100;
  if (what < 60) return send(some_endpoint(self), some_target(self), number);
  if (what < 75) {
    some_bundle(self).poll();
  } else if (what < 80) {
    wait_for_own(number);
  } else if (what < 83) {
    some_endpoint(self).flush();
  } else if (what < 88) {
    use_translation(number);
  } else if (what < 91) {
    use_endpoint(number);
  } else if (what < 95) {
    change(number);
  } else if (what < 98) {
    const am::Stats stats = some_endpoint(self).stats();
    check(stats[am::Kind::kShort].replies_sent <=
              stats[am::Kind::kShort].requests_received + stats[am::Kind::kLong].requests_received,
          "more replies than requests");
  } else {
    some_bundle(self).wait(am::Events::kNotEmpty, 100'000);
  }
}

void Mix::work(unsigned number) {
  threads_[number].random.seed(options_.seed * 1000 + job_.rank() * kMostThreads + number);
  for (std::uint64_t i = 0; i < options_.steps && !stop_; ++i) step(number);
  wait_for_own(number);
}

std::uint64_t Mix::sum(std::uint64_t own) {
  const std::vector<std::uint64_t> all = job_.exchange(own);
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

int Mix::report() {
  std::uint64_t sent = 0;
  for (unsigned i = 0; i < options_.threads; ++i) {
    check(threads_[i].sent == threads_[i].ended, "a thread has other answers than requests");
    sent += threads_[i].sent;
  }
  const std::uint64_t one_way = sum(one_way_sent_);
  check(one_way == sum(one_way_ended_), "one-way requests were lost or handled twice");
  const std::uint64_t requests = sum(sent);
  const std::uint64_t returned = sum(returned_);
  const std::uint64_t wrong = sum(wrong_);
  if (job_.rank() == 0) {
    std::printf("seed %llu: %llu requests, %llu one-way, %llu came back, %llu wrong\n",
                static_cast<unsigned long long>(options_.seed),
                static_cast<unsigned long long>(requests), static_cast<unsigned long long>(one_way),
                static_cast<unsigned long long>(returned), static_cast<unsigned long long>(wrong));
  }
  return wrong == 0 ? 0 : 1;
}

int Mix::run() {
  {
    std::vector<std::jthread> running;
    for (unsigned i = 0; i < options_.threads; ++i) running.emplace_back([this, i] { work(i); });
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.seconds);
    if (options_.seconds != 0) {
      std::this_thread::sleep_until(
          std::chrono::time_point_cast<std::chrono::steady_clock::duration>(until));
      stop_ = true;
    }
  }
  job_.quiesce(own_);
  const int code = report();
  steady_.clear();
  job_.finish(own_);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--threads") options.threads = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (name == "--steps") options.steps = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seconds") options.seconds = std::atof(argv[i + 1]);
    if (name == "--seed") options.seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  options.threads = std::clamp(options.threads, 1u, kMostThreads);
  try {
    return Mix(options).run();
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
