// Copies between shapes, against one byte at a time.
#include "am/channel/strided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <random>
#include <vector>

#include "tests/support/seed.h"

namespace am {

void PrintTo(const Strided& shape, std::ostream* out) {
  *out << shape.planes << " x " << shape.rows << " x " << shape.run << " bytes, at "
       << shape.row_stride << " and " << shape.plane_stride;
}

namespace {

using Bytes = std::vector<std::byte>;

// Where the bytes of a shape lie, in their order.
std::vector<std::uint64_t> places(const Strided& shape) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t plane = 0; plane < shape.planes; ++plane) {
    for (std::uint64_t row = 0; row < shape.rows; ++row) {
      for (std::uint64_t i = 0; i < shape.run; ++i) {
        all.push_back(plane * shape.plane_stride + row * shape.row_stride + i);
      }
    }
  }
  return all;
}

class Shapes {
 public:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  // Of any number of bytes up to some thousand.
  Strided any() {
    static constexpr std::uint64_t kRuns[] = {1, 4, 8, 8, 3, 12, 64, 250};
    const std::uint64_t runs = std::max<std::uint64_t>(1, below(8));
    return of(kRuns[below(8)] * runs, static_cast<std::uint32_t>(1 + below(9)),
              static_cast<std::uint32_t>(1 + below(5)));
  }

  // Of as many bytes as `other`, otherwise divided.
  Strided like(const Strided& other) {
    const std::uint64_t bytes = other.bytes();
    const auto divisor = [&](std::uint64_t of) {
      std::uint64_t d = 1 + below(std::min<std::uint64_t>(of, 12));
      while (of % d != 0) --d;
      return d;
    };
    if (below(4) == 0) return of(other.run, other.rows, other.planes);
    const std::uint64_t planes = divisor(bytes);
    const std::uint64_t rows = divisor(bytes / planes);
    return of(bytes / planes / rows, static_cast<std::uint32_t>(rows),
              static_cast<std::uint32_t>(planes));
  }

  Bytes filled(std::uint64_t bytes) {
    Bytes all(bytes);
    for (std::byte& b : all) b = static_cast<std::byte>(random_());
    return all;
  }

 private:
  // With gaps or without; sometimes with the planes inside the rows' gaps.
  Strided of(std::uint64_t run, std::uint32_t rows, std::uint32_t planes) {
    Strided shape{.run = run, .rows = rows, .planes = planes};
    if (below(4) == 0) {
      shape.plane_stride = run + below(3) * 5;
      shape.row_stride = shape.plane_stride * planes + below(2) * 7;
    } else {
      shape.row_stride = run + below(3) * 5;
      shape.plane_stride = shape.row_stride * rows + below(2) * 7;
    }
    return shape;
  }

  std::mt19937_64 random_{::test::seed()};
};

TEST(Shape, counts_its_bytes) {
  const Strided row = Strided::contiguous(40);
  EXPECT_EQ(row.bytes(), 40u);
  EXPECT_EQ(row.extent(), 40u);
  EXPECT_TRUE(row.is_contiguous());
  const Strided face{.run = 8, .rows = 5, .planes = 3, .row_stride = 10, .plane_stride = 100};
  EXPECT_EQ(face.bytes(), 120u);
  EXPECT_EQ(face.extent(), 2 * 100 + 4 * 10 + 8u);
  EXPECT_FALSE(face.is_contiguous());
  const Strided packed{.run = 8, .rows = 5, .planes = 3, .row_stride = 8, .plane_stride = 40};
  EXPECT_TRUE(packed.is_contiguous());
  EXPECT_EQ(packed.extent(), packed.bytes());
  EXPECT_EQ((Strided{.run = 0, .rows = 5, .row_stride = 10}).extent(), 0u);
}

TEST(Shape, knows_what_lies_in_one_piece) {
  Shapes shapes;
  for (int i = 0; i < 3'000 && !testing::Test::HasFailure(); ++i) {
    const Strided shape = shapes.any();
    const auto where = places(shape);
    const std::uint64_t at = shapes.below(shape.bytes());
    const Strided::Piece piece = shape.piece_at(at);
    ASSERT_GE(piece.bytes, 1u);
    ASSERT_LE(piece.bytes, where.size() - at);
    for (std::uint64_t b = 0; b < piece.bytes; ++b) {
      EXPECT_EQ(where[at + b], piece.offset + b) << testing::PrintToString(shape) << " at " << at;
    }
  }
}

TEST(Copy, moves_every_byte_to_its_place_and_touches_no_other) {
  Shapes shapes;
  for (int i = 0; i < 3'000 && !testing::Test::HasFailure(); ++i) {
    const Strided from_shape = shapes.any();
    const Strided to_shape = shapes.like(from_shape);
    ASSERT_EQ(to_shape.bytes(), from_shape.bytes());
    const Bytes from = shapes.filled(from_shape.extent());
    Bytes to = shapes.filled(to_shape.extent());
    Bytes expected = to;
    const auto sources = places(from_shape);
    const auto targets = places(to_shape);
    for (std::size_t b = 0; b < sources.size(); ++b) expected[targets[b]] = from[sources[b]];
    copy(to.data(), to_shape, from.data(), from_shape);
    EXPECT_EQ(to, expected) << testing::PrintToString(from_shape) << " to "
                            << testing::PrintToString(to_shape);
  }
}

TEST(Copy, of_nothing_does_nothing) {
  Bytes to(8, std::byte{1});
  copy(to.data(), Strided::contiguous(0), nullptr, {.run = 0, .rows = 4, .row_stride = 8});
  gather(to.data(), nullptr, Strided::contiguous(0), 0, 0);
  scatter(to.data(), Strided::contiguous(0), 0, nullptr, 0);
  EXPECT_EQ(to, Bytes(8, std::byte{1}));
}

TEST(GatherAndScatter, take_any_part_of_the_order) {
  Shapes shapes;
  for (int i = 0; i < 3'000 && !testing::Test::HasFailure(); ++i) {
    const Strided shape = shapes.any();
    const std::uint64_t at = shapes.below(shape.bytes());
    const std::uint64_t bytes = shapes.below(shape.bytes() - at + 1);
    const auto where = places(shape);
    const Bytes strided = shapes.filled(shape.extent());
    Bytes piece = shapes.filled(bytes + 1);
    Bytes expected = piece;
    for (std::uint64_t b = 0; b < bytes; ++b) expected[b] = strided[where[at + b]];
    gather(piece.data(), strided.data(), shape, at, bytes);
    EXPECT_EQ(piece, expected) << testing::PrintToString(shape) << " from " << at;

    Bytes target = shapes.filled(shape.extent());
    expected = target;
    for (std::uint64_t b = 0; b < bytes; ++b) expected[where[at + b]] = piece[b];
    scatter(target.data(), shape, at, piece.data(), bytes);
    EXPECT_EQ(target, expected) << testing::PrintToString(shape) << " from " << at;
  }
}

TEST(GatherAndScatter, in_pieces_are_a_copy) {
  Shapes shapes;
  for (int i = 0; i < 300; ++i) {
    const Strided shape = shapes.any();
    const Bytes from = shapes.filled(shape.extent());
    Bytes whole(shape.extent());
    Bytes pieces(shape.extent());
    copy(whole.data(), shape, from.data(), shape);
    for (std::uint64_t at = 0; at < shape.bytes();) {
      const std::uint64_t bytes = std::min(shape.bytes() - at, 1 + shapes.below(300));
      Bytes piece(bytes);
      gather(piece.data(), from.data(), shape, at, bytes);
      scatter(pieces.data(), shape, at, piece.data(), bytes);
      at += bytes;
    }
    ASSERT_EQ(pieces, whole) << testing::PrintToString(shape);
  }
}

}  // namespace
}  // namespace am
