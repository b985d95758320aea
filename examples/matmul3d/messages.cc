// Every piece is one message. What is contiguous, and too large for a medium message, is written to
// its place by the message itself; other pieces are copied there by the handler.

#include <cstring>
#include <memory>
#include <vector>

#include "am/am.h"
#include "examples/matmul3d/exchange.h"

namespace matmul3d {
namespace {

using namespace splitc;

// What a message says of its piece.
struct Target {
  std::uint64_t place;
  std::uint32_t columns, stride;
  std::uint32_t turn;
  Phase phase;
};

class Messages : public Exchange {
 public:
  explicit Messages(Problem& problem);
  void exchange(unsigned turn, Phase phase) override;

  void copy_to_place(std::span<const std::byte> numbers, const Target& target);
  void arrived(const Target& target) { ++count(target.turn, target.phase); }

 private:
  void send(const Piece& piece, unsigned turn, Phase phase);
  std::span<const std::byte> pack(const Piece& piece);
  std::uint32_t& count(unsigned turn, Phase phase) {
    return arrived_[turn][phase == Phase::kProducts];
  }

  Problem& problem_;
  am::Endpoint endpoint_;
  spread_array<double> landing_;
  std::vector<double> packed_;
  std::uint32_t arrived_[2][2] = {};  // by turn and phase
};

Messages* messages;  // what the handlers work for

void on_small_piece(am::OneWay, std::span<const std::byte> numbers, Target target) {
  messages->copy_to_place(numbers, target);
  messages->arrived(target);
}
void on_packed_piece(am::OneWay, std::span<std::byte> numbers, Target target) {
  messages->copy_to_place(numbers, target);
  messages->arrived(target);
}
void on_contiguous_piece(am::OneWay, std::span<std::byte>, Target target) {
  messages->arrived(target);
}

Messages::Messages(Problem& problem)
    : problem_(problem), endpoint_(world().bundle()), landing_(procs(), problem.size()) {
  messages = this;
  endpoint_.add_handlers<&on_small_piece, &on_packed_piece, &on_contiguous_piece>();
  world().job().connect(endpoint_);
}

void Messages::exchange(unsigned turn, Phase phase) {
  for (const Piece& piece : problem_.outgoing(turn, phase)) send(piece, turn, phase);
  wait_until([&] { return count(turn, phase) == problem_.incoming(turn, phase).size(); });
  count(turn, phase) = 0;
}

void Messages::send(const Piece& piece, unsigned turn, Phase phase) {
  const Target target{piece.place, static_cast<std::uint32_t>(piece.columns),
                      static_cast<std::uint32_t>(piece.stride), turn, phase};
  const auto offset_of = [](global_ptr<double> numbers, std::size_t place) {
    return (numbers + static_cast<std::ptrdiff_t>(place)).offset();
  };
  if (piece.bytes() <= am::max_medium()) {
    endpoint_.request_medium<&on_small_piece>(piece.peer, pack(piece), target);
  } else if (piece.contiguous()) {
    endpoint_.request_long<&on_contiguous_piece>(
        piece.peer, offset_of(problem_.numbers_of(piece.peer), piece.place), pack(piece), target);
  } else {
    endpoint_.request_long<&on_packed_piece>(
        piece.peer, offset_of(landing_.on(piece.peer), piece.landing), pack(piece), target);
  }
}

std::span<const std::byte> Messages::pack(const Piece& piece) {
  if (piece.contiguous()) return std::as_bytes(std::span(piece.from, piece.rows * piece.columns));
  packed_.clear();
  for (std::size_t row = 0; row < piece.rows; ++row) {
    const double* const numbers = piece.from + row * piece.stride;
    packed_.insert(packed_.end(), numbers, numbers + piece.columns);
  }
  return std::as_bytes(std::span(packed_));
}

void Messages::copy_to_place(std::span<const std::byte> numbers, const Target& target) {
  double* to = problem_.numbers().data() + target.place;
  const std::size_t row = target.columns * sizeof(double);
  for (; !numbers.empty(); numbers = numbers.subspan(row), to += target.stride) {
    std::memcpy(to, numbers.data(), row);
  }
}

}  // namespace

std::unique_ptr<Exchange> with_messages(Problem& problem) {
  return std::make_unique<Messages>(problem);
}

}  // namespace matmul3d
