// Faces of a 3-D array over channels, beside packing them by hand into one that is in one piece.
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "am/am.h"
#include "benchmarks/network.h"
#include "benchmarks/support/clock.h"

namespace network {
namespace {

using bench::Bench;

// A channel there and one back, of one shape.
class Faces {
 public:
  Faces(Bench& b, std::byte* to, const std::byte* from, const am::Strided& shape)
      : bundle_(b.bundle),
        first_(b.pair.first()),
        in_(b.bundle, to, shape, [this] { ++arrived_; }),
        out_(b.bundle, b.messages.swap(in_.handle())) {
    out_.associate(from, shape);
  }

  // `before` each put, and `behind` each arrival.
  template <class Before, class Behind>
  double round_trips(int times, Before&& before, Behind&& behind) {
    const auto put = [&] {
      before();
      out_.put();
    };
    const bench::Stopwatch watch;
    for (int i = 0; i < times; ++i) {
      if (first_) put();
      bundle_.wait_until([this, end = expected_ + 1] { return arrived_ == end; });
      ++expected_;
      behind();
      in_.ready();  // before the answer: its receiver may put again
      if (!first_) put();
    }
    return watch.ns() / times;
  }

 private:
  am::Bundle& bundle_;
  const bool first_;
  std::uint64_t arrived_ = 0;
  std::uint64_t expected_ = 0;
  am::ReceiveChannel in_;
  am::SendChannel out_;
};

void face_of(Bench& b, const std::string& name, std::size_t bytes, std::uint32_t rows,
             std::uint64_t stride) {
  const am::Strided shape{.run = bytes / rows, .rows = rows, .row_stride = stride};
  std::byte* const mine = b.pair.buffer(b.pair.me());
  std::vector<std::byte> array(shape.extent()), packed(bytes);
  Faces faces(b, mine, array.data(), shape);
  Faces by_hand(b, mine, packed.data(), am::Strided::contiguous(bytes));
  const int n = b.count(20);
  const auto rows_of = [&](auto&& copy) {
    for (std::uint32_t row = 0; row < rows; ++row) {
      copy(array.data() + row * stride, row * shape.run);
    }
  };
  beside(
      b, {name, bytes}, 100,
      [&] {
        return faces.round_trips(
            n, [] {}, [] {});
      },
      "packed by hand",
      [&] {
        return by_hand.round_trips(
            n,
            [&] {
              rows_of([&](std::byte* row, std::uint64_t at) {
                std::memcpy(packed.data() + at, row, shape.run);
              });
            },
            [&] {
              rows_of([&](std::byte* row, std::uint64_t at) {
                std::memcpy(row, mine + at, shape.run);
              });
            });
      });
}

}  // namespace

void faces(Bench& b) {
  face_of(b, "face_of_rows", 32'768, 64, 4096);
  face_of(b, "face_of_words", 32'768, 4096, 64);
  face_of(b, "face_of_long_rows", 524'288, 8, 131'072);
}

}  // namespace network
