// Conformance: writes that nobody is told of, but that are counted at the target; and everything
// that the network carries at once.
#include <algorithm>
#include <random>
#include <vector>

#include "tests/am/link/memory.h"

namespace am::conformance {
namespace {

using ::test::barrier;
using ::test::bundle;
using ::test::job;

class Stores : public Memory {
 protected:
  // Paints and resets what others are going to write to.
  static void prepare(const Pieces& pieces) {
    for (Rank writer = 0; writer < job().size(); ++writer) paint(writer * kStride, pieces.end);
    reset_counters();
    barrier();
  }

  static void store_piece(const Pieces& pieces, Rank to, std::uint32_t number) {
    std::vector<std::byte> bytes =
        pieces.oracle(job().rank(), to, number).make(pieces.sizes[number]);
    store(to, pieces.offsets[number], bytes);
    std::ranges::fill(bytes, std::byte{0xee});  // it may be reused
  }

  static void await(Rank writer, const Pieces& pieces) {
    bundle().wait_until([&] { return stored_by(writer) >= pieces.bytes; }, Wake::kMemory);
  }

  static void expect_exactly(Rank writer, const Pieces& pieces) {
    pieces.expect_from(writer);
    EXPECT_EQ(stored_by(writer), pieces.bytes);
  }
};

TEST_F(Stores, are_there_when_they_are_counted) {
  const std::uint32_t size = job().size();
  const Pieces pieces(all_sizes());
  prepare(pieces);
  for (const std::uint32_t number : shuffled(pieces.sizes.size(), job().rank())) {
    for (Rank i = 0; i < size; ++i) store_piece(pieces, (job().rank() + i) % size, number);
  }
  for (Rank writer = 0; writer < size; ++writer) {
    await(writer, pieces);
    pieces.expect_from(writer);  // at once, not only after the barrier
  }
  barrier();
  for (Rank writer = 0; writer < size; ++writer) expect_exactly(writer, pieces);
  barrier();
}

TEST_F(Stores, that_are_big_are_too) {
  const Pieces pieces({kBig, 3, kBig});
  const Rank next = (job().rank() + 1) % job().size();
  const Rank last = (job().rank() + job().size() - 1) % job().size();
  prepare(pieces);
  for (std::uint32_t number = 0; number < 3; ++number) store_piece(pieces, next, number);
  await(last, pieces);
  expect_exactly(last, pieces);
  barrier();
}

// In rows of one size, which may share packets, with messages between them.
TEST_F(Stores, that_are_small_and_come_in_rows_are_counted_each) {
  constexpr std::uint32_t kRow = 700;
  std::vector<std::size_t> sizes;
  for (const std::size_t bytes : {8, 4, 8, 1, 2, 3, 5, 6, 7})
    sizes.insert(sizes.end(), kRow, bytes);
  const Pieces pieces(sizes);
  prepare(pieces);
  std::mt19937_64 random(::test::seed() + job().rank());
  for (std::uint32_t number = 0; number < sizes.size(); ++number) {
    for (Rank to = 0; to < job().size(); ++to) store_piece(pieces, to, number);
    if (random() % 256 == 0) bundle().poll();
  }
  for (Rank writer = 0; writer < job().size(); ++writer) {
    await(writer, pieces);
    expect_exactly(writer, pieces);
  }
  barrier();
}

// --- Everything at once

std::uint64_t pinged = 0;
std::uint64_t ponged = 0;
void on_pong(Reply, std::uint64_t sum) { ponged += sum; }
void on_ping(Request request, std::span<const std::byte> bytes, std::uint64_t sum) {
  for (const std::byte b : bytes) sum += static_cast<std::uint64_t>(b);
  EXPECT_EQ(sum, 0u) << "a payload of " << bytes.size() << " bytes of rank " << request.source();
  ++pinged;
  std::move(request).reply<&on_pong>(1);
}

void ping(Endpoint& endpoint, Rank to, std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (const std::byte b : bytes) sum -= static_cast<std::uint64_t>(b);
  endpoint.request_medium<&on_ping>(to, bytes, sum);
}

TEST_F(Stores, go_with_gets_and_puts_and_messages) {
  Endpoint endpoint(bundle());
  endpoint.add_handlers<&on_ping, &on_pong>();
  job().connect(endpoint);
  const std::uint32_t size = job().size();
  const Pieces pieces(all_sizes());
  const std::uint64_t readable = size * kStride;  // where nobody writes
  pinged = ponged = 0;
  paint(readable, pieces.end);
  prepare(pieces);
  std::mt19937_64 random(::test::seed() + job().rank());
  const std::size_t count = pieces.sizes.size();
  std::vector<std::vector<std::byte>> rooms(2 * count * size);
  begin(rooms.size());
  // Pieces with an even number are stored and the others put, in the same area.
  std::uint64_t stored = 0;
  for (std::uint32_t number = 0; number < count; number += 2) stored += pieces.sizes[number];
  for (const std::uint32_t number : shuffled(count, job().rank())) {
    for (Rank to = 0; to < size; ++to) {
      const std::uint32_t ticket = 2 * (number * size + to);
      const std::size_t bytes = pieces.sizes[number];
      rooms[ticket].resize(bytes);
      get(to, readable + pieces.offsets[number], rooms[ticket], ticket);
      rooms[ticket + 1] = pieces.oracle(job().rank(), to, number).make(bytes);
      ping(endpoint, to,
           std::span(rooms[ticket + 1]).first(std::min<std::size_t>(bytes, max_medium())));
      const bool puts = number % 2 != 0;
      if (!puts) store(to, pieces.offsets[number], rooms[ticket + 1]);
      const std::span<const std::byte> all(rooms[ticket + 1]);
      put(to, job().rank() * kStride + pieces.offsets[number], puts ? all : all.first(0),
          ticket + 1);
      if (random() % 8 == 0) bundle().poll();
    }
  }
  wait_for_all();
  bundle().wait_until([&] { return ponged == count * size && pinged == count * size; });
  for (std::uint32_t i = 0; i < rooms.size(); i += 2) {
    const Rank from = i / 2 % size;
    EXPECT_FALSE(background(from).difference(rooms[i], readable + pieces.offsets[i / 2 / size]));
  }
  for (Rank writer = 0; writer < size; ++writer) {
    bundle().wait_until([&] { return stored_by(writer) >= stored; }, Wake::kMemory);
  }
  barrier();
  for (Rank writer = 0; writer < size; ++writer) {
    pieces.expect_from(writer);
    EXPECT_EQ(stored_by(writer), stored);
  }
  barrier();
}

}  // namespace
}  // namespace am::conformance
