// What zero-copy buffers cost beside what the machine can do, and beside messages: on one node, and
// with splitcrun --nodes 2 between two (SPLITC_PROVIDER names the provider for both).

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>

#include "am/am.h"
#include "benchmarks/support/clock.h"
#include "benchmarks/support/network_program.h"

namespace {

using bench::Bench;
using Mode = am::ZeroCopyMode;
using Done = bench::RawNetwork::Done;

constexpr std::size_t kPlaces = 8;  // moved in turn, as buffers of a stream are
constexpr std::size_t kMiB = std::size_t{1} << 20;

const char* name_of(Mode mode) {
  return mode == Mode::kPrereg ? "prereg" : mode == Mode::kReg ? "reg" : "unreg";
}

// Buffers of this process that the other one reads and writes, by place, and those of the other.
// What is not from the pool is in memory of this process alone (`apart`), or in its segment.
class Line {
 public:
  // Collective.
  Line(Bench& b, Mode mode, bool apart, std::size_t bytes)
      : bench_(b),
        zero_(b.job, b.bundle),
        mode_(mode),
        apart_(apart),
        answer_(zero_, std::as_writable_bytes(std::span(&word_, 1)), count(answers_)) {
    for (std::size_t i = 0; i < kPlaces; ++i) {
      sources_.emplace_back(zero_, place(2 * i, bytes), count(read_), mode);
      targets_.emplace_back(zero_, place(2 * i + 1, bytes), count(written_), mode);
      const am::Rank other = b.job.rank() ^ 1;
      their_sources_[i] = b.job.exchange(sources_.back().info())[other % b.job.size()];
      their_targets_[i] = b.job.exchange(targets_.back().info())[other % b.job.size()];
    }
    their_answer_ = b.job.exchange(answer_.info())[b.job.rank() == 1 ? 0 : 1 % b.job.size()];
    b.job.barrier(b.bundle);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // Nanoseconds each of `times` transfers that rank 0 starts at once, until the last is told at
  // both ends.
  double stream(bool put, int times) {
    const bench::Stopwatch watch;
    if (bench_.pair.first()) {
      for (int i = 0; i < times; ++i) move(put, static_cast<std::size_t>(i) % kPlaces);
      zero_.wait();
      wait_for(answers_, ++answered_);
    } else {
      std::uint64_t& end = put ? writes_ : reads_;
      wait_for(put ? written_ : read_, end += static_cast<std::uint64_t>(times));
      answer_.put(their_answer_);
    }
    const double ns = watch.ns() / times;
    zero_.wait();
    return ns;
  }

  // Each puts when the other's bytes have come.
  double put_round_trips(int times) {
    const bench::Stopwatch watch;
    for (int i = 0; i < times; ++i) {
      if (bench_.pair.first()) move(true, 0);
      wait_for(written_, ++writes_);
      if (!bench_.pair.first()) move(true, 0);
    }
    const double ns = watch.ns() / times;
    zero_.wait();
    return ns;
  }

  // Rank 0 gets, once and again.
  double gets(int times) {
    const bench::Stopwatch watch;
    if (bench_.pair.first()) {
      for (int i = 0; i < times; ++i) {
        move(false, 0);
        wait_for(written_, ++writes_);
      }
    } else {
      wait_for(read_, reads_ += static_cast<std::uint64_t>(times));
    }
    return watch.ns() / times;
  }

 private:
  std::span<std::byte> place(std::size_t number, std::size_t bytes) {
    if (mode_ == Mode::kPrereg) return zero_.alloc(bytes);
    if (bench_.job.rank() > 1) return {};
    std::byte* const memory = apart_ ? bench_.pair.source() : bench_.pair.buffer(bench_.job.rank());
    return {memory + number * bytes, bytes};
  }
  static am::ZeroCopyCallback count(std::uint64_t& number) {
    return [&number](const am::ZeroCopyDone&) { ++number; };
  }
  void wait_for(const std::uint64_t& number, std::uint64_t end) {
    bench_.bundle.wait_until([&number, end] { return number >= end; });
  }
  void move(bool put, std::size_t i) {
    if (put) {
      sources_[0].put(their_targets_[i]);
    } else {
      targets_[0].get(their_sources_[i]);
    }
  }

  Bench& bench_;
  am::ZeroCopy zero_;
  const Mode mode_;
  const bool apart_;
  std::uint64_t read_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t reads_ = 0;   // expected here
  std::uint64_t writes_ = 0;  // likewise
  std::uint64_t word_ = 0;
  std::uint64_t answers_ = 0;
  std::uint64_t answered_ = 0;
  am::ZeroCopyBuffer answer_;
  am::ZeroCopyInfo their_answer_;
  std::deque<am::ZeroCopyBuffer> sources_;
  std::deque<am::ZeroCopyBuffer> targets_;
  std::array<am::ZeroCopyInfo, kPlaces> their_sources_;
  std::array<am::ZeroCopyInfo, kPlaces> their_targets_;
};

// The same by messages, whose handlers copy the payload to its place.
struct Plain {
  std::byte* place = nullptr;
  const std::byte* source = nullptr;
  std::uint64_t come = 0;
  std::uint64_t expected = 0;
} plain;

void on_bytes(am::OneWay, std::span<const std::byte> bytes) {
  std::memcpy(plain.place, bytes.data(), bytes.size());
  ++plain.come;
}
void on_answer(am::Reply, std::span<const std::byte> bytes) {
  std::memcpy(plain.place, bytes.data(), bytes.size());
  ++plain.come;
}
void on_question(am::Request request, std::uint64_t bytes) {
  ++plain.come;
  std::move(request).reply_medium<&on_answer>({plain.source, bytes});
}

double plain_round_trips(Bench& b, std::size_t bytes, int times) {
  const bench::Stopwatch watch;
  const auto send = [&] {
    b.endpoint.request_medium<&on_bytes>(b.pair.other(), {plain.source, bytes});
  };
  for (int i = 0; i < times; ++i) {
    if (b.pair.first()) send();
    ++plain.expected;
    b.bundle.wait_until([] { return plain.come >= plain.expected; });
    if (!b.pair.first()) send();
  }
  return watch.ns() / times;
}

double plain_gets(Bench& b, std::size_t bytes, int times) {
  const bench::Stopwatch watch;
  if (b.pair.first()) {
    for (int i = 0; i < times; ++i) {
      ++plain.expected;
      b.endpoint.request<&on_question>(1, std::uint64_t{bytes});
      b.bundle.wait_until([] { return plain.come >= plain.expected; });
    }
  } else {
    plain.expected += static_cast<std::uint64_t>(times);
    b.bundle.wait_until([] { return plain.come >= plain.expected; });
  }
  return watch.ns() / times;
}

// Makes a line among all, and measures with it at ranks 0 and 1.
template <class Measure>
void with_line(Bench& b, Mode mode, bool apart, std::size_t bytes, Measure&& measure) {
  Line line(b, mode, apart, bytes);
  if (b.job.rank() < 2) measure(line);
  b.job.barrier(b.bundle);
}

double raw_stream(Bench& b, bool put, std::size_t bytes, int times) {
  if (b.pair.near()) return b.raw.copy(bytes, times, kPlaces);
  return put ? b.raw_network->stream_write(bytes, times, kPlaces, Done::kDelivered)
             : b.raw_network->stream_read(bytes, times, kPlaces);
}

void bandwidth_of(Bench& b, Mode mode, bool apart, std::size_t bytes) {
  with_line(b, mode, apart, bytes, [&](Line& line) {
    // Samples are short: on a machine with other work the best of many is without it.
    const int n = b.count(static_cast<int>(8 * kMiB / bytes));
    for (const bool put : {true, false}) {
      const auto samples = b.pair.interleave(
          b.reps(100),
          {[&] { return raw_stream(b, put, bytes, n); }, [&] { return line.stream(put, n); }});
      const std::string limit = b.pair.near() ? "memcpy" : put ? "fi_write, delivered" : "fi_read";
      b.report.add_bandwidth(
          std::string(put ? "put_" : "get_") + name_of(mode) + (apart ? "_unmapped" : ""), bytes,
          samples[1], limit, samples[0]);
    }
  });
}

void bandwidth(Bench& b) {
  for (const Mode mode : {Mode::kPrereg, Mode::kReg, Mode::kUnreg}) {
    bandwidth_of(b, mode, false, kMiB);
  }
}

// Memory that the other process does not map.
void unmapped(Bench& b) {
  for (const std::size_t bytes : {4096, 8192, 16'384, 65'536, 1'048'576}) {
    bandwidth_of(b, Mode::kUnreg, true, bytes);
  }
}

void small(Bench& b) {
  b.endpoint.add_handlers<&on_bytes, &on_answer, &on_question>();
  plain.source = b.pair.source();
  plain.place = b.pair.buffer(b.pair.me() % 2);
  b.job.barrier(b.bundle);
  for (const Mode mode : {Mode::kPrereg, Mode::kUnreg}) {
    for (const std::size_t bytes : {8, 64, 512, 4096}) {
      with_line(b, mode, mode == Mode::kUnreg, bytes, [&](Line& line) {
        const int n = b.count(b.pair.near() ? 1000 : 50);
        const std::string suffix = std::string("_") + name_of(mode);
        auto samples =
            b.pair.interleave(b.reps(100), {[&] { return plain_round_trips(b, bytes, n); },
                                            [&] { return line.put_round_trips(n); }});
        b.report.add_time("put_and_back" + suffix, bytes, samples[1], "request_medium, copy",
                          samples[0]);
        samples = b.pair.interleave(
            b.reps(100), {[&] { return plain_gets(b, bytes, n); }, [&] { return line.gets(n); }});
        b.report.add_time("get" + suffix, bytes, samples[1], "request, reply_medium, copy",
                          samples[0]);
      });
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program_anywhere(
      argc, argv,
      {.name = "zero_copy",
       .what = "zero-copy buffers, beside memcpy or libfabric alone, and beside messages",
       .measurements = {
           {"bandwidth", "put and get of 1 MiB in every mode", bandwidth, true},
           {"unmapped", "put and get of memory that the other does not map", unmapped, true},
           {"small", "put there and back, and get, of 8 bytes to 4 KiB", small, true},
       }});
}
