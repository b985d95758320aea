#include "benchmarks/support/raw_network.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "benchmarks/support/clock.h"

namespace bench {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr int kWords = 512;  // of rank 1 that inject_writes() writes in turn

}  // namespace

RawNetwork::RawNetwork(Pair& pair, RawFabric& fabric) : pair_(pair), fabric_(fabric) {
  barrier(1);  // connects the two
}

void RawNetwork::meet(const std::function<void()>& meanwhile) {
  fabric_.send_short(other(), kWord);
  ++expected_;
  fabric_.wait_until([&] {
    meanwhile();
    return fabric_.received() >= expected_;
  });
  fabric_.repost();
}

void RawNetwork::receive(std::uint64_t count) {
  expected_ += count;
  fabric_.wait_until([this] { return fabric_.received() >= expected_; });
}

void RawNetwork::send(std::size_t bytes, Way way) {
  if (way == Way::kInject) {
    fabric_.inject(other(), bytes);
  } else if (way == Way::kSend) {
    fabric_.send(other(), bytes);
  } else {
    fabric_.send_short(other(), bytes);
  }
}

void RawNetwork::serve() {
  receive(1);
  fabric_.repost();
}

void RawNetwork::say_through() { fabric_.send_short(other(), kWord); }

double RawNetwork::round_trip(std::size_t bytes, int times, Way way) {
  const Stopwatch watch;
  for (int i = 0; i < times; ++i) {
    // Receives are given back while the message is on its way.
    if (pair_.first()) {
      send(bytes, way);
      fabric_.repost();
    }
    receive(1);
    if (!pair_.first()) {
      send(bytes, way);
      fabric_.repost();
    }
  }
  const double ns = watch.ns() / times;
  fabric_.drain();
  return ns;
}

double RawNetwork::write_data_round_trip(std::size_t bytes, int times) {
  const Stopwatch watch;
  for (int i = 0; i < times; ++i) {
    ++expected_writes_;
    if (pair_.first()) fabric_.write_data(other(), 0, bytes);
    fabric_.wait_until([this] { return fabric_.written() >= expected_writes_; });
    if (!pair_.first()) fabric_.write_data(other(), 0, bytes);
  }
  const double ns = watch.ns() / times;
  fabric_.drain();
  return ns;
}

template <class Operation>
double RawNetwork::timed(int times, Operation&& operation) {
  if (!pair_.first()) {
    serve();
    return 0;
  }
  const Stopwatch watch;
  for (int i = 0; i < times; ++i) operation(static_cast<std::size_t>(i));
  fabric_.drain();
  const double ns = watch.ns() / times;
  say_through();
  return ns;
}

double RawNetwork::read(std::size_t bytes, int times) {
  return timed(times, [&](std::size_t) {
    fabric_.read(other(), 0, bytes);
    fabric_.drain();
  });
}

void RawNetwork::write_once(std::size_t offset, std::size_t bytes, Done done) {
  if (done == Done::kLocal) {
    fabric_.write(other(), offset, bytes);
  } else {
    fabric_.write_delivered(other(), offset, bytes);
  }
}

double RawNetwork::write(std::size_t bytes, int times, Done done) {
  return timed(times, [&](std::size_t) {
    write_once(0, bytes, done);
    fabric_.drain();
  });
}

double RawNetwork::stream_read(std::size_t bytes, int times, std::size_t places) {
  return timed(times, [&](std::size_t i) { fabric_.read(other(), i % places * bytes, bytes); });
}

double RawNetwork::stream_write(std::size_t bytes, int times, std::size_t places, Done done) {
  return timed(times, [&](std::size_t i) { write_once(i % places * bytes, bytes, done); });
}

double RawNetwork::inject_writes(int times) {
  const std::uint64_t end = word_ + static_cast<std::uint64_t>(times);
  const Stopwatch watch;
  if (pair_.first()) {
    while (word_ != end) {
      ++word_;
      fabric_.inject_write(other(), word_ % kWords * kWord, word_);
    }
    receive(1);
    fabric_.repost();
  } else {
    word_ = end;
    auto* const words = reinterpret_cast<std::uint64_t*>(pair_.buffer(pair_.me()));
    fabric_.wait_until([last = std::atomic_ref(words[end % kWords]), end] {
      // pairs with: the provider's own store of the word
      return last.load(std::memory_order_acquire) == end;
    });
    say_through();
  }
  return watch.ns() / times;
}

double RawNetwork::sends(int times, Way way) {
  const Stopwatch watch;
  if (pair_.first()) {
    for (int i = 0; i < times; ++i) send(kWord, way);
    receive(1);
    fabric_.drain();
  } else {
    for (int i = 0; i < times; ++i) {
      receive(1);
      fabric_.repost();
    }
    say_through();
  }
  fabric_.repost();
  return watch.ns() / times;
}

double RawNetwork::answered_sends(int times) {
  const Stopwatch watch;
  const std::uint64_t before = expected_;
  const auto all = static_cast<std::uint64_t>(times);
  if (pair_.first()) {
    for (std::uint64_t i = 0; i < all; ++i) {
      fabric_.wait_until([&] { return i - (fabric_.received() - before) < fabric_.window(); });
      fabric_.repost();
      send(kWord, Way::kShortest);
    }
    receive(all);
  } else {
    for (std::uint64_t i = 0; i < all; ++i) {
      receive(1);
      send(kWord, Way::kShortest);
      fabric_.repost();
    }
  }
  fabric_.repost();
  fabric_.drain();
  return watch.ns() / times;
}

double RawNetwork::barrier(int times) {
  const Stopwatch watch;
  for (int i = 0; i < times; ++i) {
    fabric_.send_short(other(), kWord);
    fabric_.repost();
    receive(1);
  }
  return watch.ns() / times;
}

double RawNetwork::empty_poll(int times) {
  if (!pair_.first()) {
    serve();
    return 0;
  }
  const Stopwatch watch;
  for (int i = 0; i < times; ++i) fabric_.poll();
  const double ns = watch.ns() / times;
  say_through();
  return ns;
}

// The source is all ones. Rank 1 says by a word whether it saw the last of the bytes.
RawNetwork::Stalled RawNetwork::stalled_write(std::size_t bytes, Done done) {
  constexpr std::uint64_t kSeen = 1, kUnseen = 2;
  std::byte* const mine = pair_.buffer(pair_.me());
  const std::atomic_ref answer(*reinterpret_cast<std::uint64_t*>(mine));
  const std::atomic_ref last(*reinterpret_cast<std::uint64_t*>(mine + bytes - kWord));
  // pairs with: the provider's stores
  (pair_.first() ? answer : last).store(0, std::memory_order_seq_cst);
  Stalled stalled;
  barrier(1);
  if (pair_.first()) {
    // Not before the other one has seen the end of the barrier and looks away.
    std::this_thread::sleep_for(std::chrono::milliseconds(kStallMs / 5));
    const Stopwatch watch;
    write_once(0, bytes, done);
    fabric_.drain();
    stalled.ns = watch.ns();
    // pairs with: the provider's store
    fabric_.wait_until([&] { return answer.load(std::memory_order_acquire) != 0; });
    stalled.seen = answer.load(std::memory_order_relaxed) == kSeen;
    say_through();
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(kStallMs));
    // pairs with: the provider's stores
    const bool seen = last.load(std::memory_order_acquire) != 0;
    fabric_.inject_write(other(), 0, seen ? kSeen : kUnseen);
    serve();
  }
  return stalled;
}

}  // namespace bench
