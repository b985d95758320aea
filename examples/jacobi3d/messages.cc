// A layer is packed, travels in one message, and is unpacked where it arrives.

#include <vector>

#include "examples/jacobi3d/halo.h"

namespace jacobi3d {
namespace {

using namespace splitc;

class Messages : public Halo {
 public:
  explicit Messages(Block& block);
  ~Messages() override;
  void exchange(unsigned turn) override;

  // A layer has come for the ghosts of `face`.
  void arrived(const std::byte* points, std::uint32_t face, std::uint32_t turn);

 private:
  void send(std::uint32_t face, unsigned turn);

  Block& block_;
  am::Endpoint endpoint_;
  std::size_t largest_face_;
  spread_array<double> landing_;  // long payloads, by turn and face
  std::vector<double> packed_;
  std::uint32_t arrived_[2] = {0, 0};  // layers of each turn
};

Messages* messages;  // what the handlers work for

void on_small_layer(am::OneWay, std::span<const std::byte> points, std::uint32_t face,
                    std::uint32_t turn) {
  messages->arrived(points.data(), face, turn);
}
void on_large_layer(am::OneWay, std::span<std::byte> points, std::uint32_t face,
                    std::uint32_t turn) {
  messages->arrived(points.data(), face, turn);
}

Messages::Messages(Block& block)
    : block_(block),
      endpoint_(world().bundle()),
      largest_face_(block.whole().largest_face()),
      landing_(procs(), 2 * kFaces * largest_face_) {
  messages = this;
  endpoint_.add_handlers<&on_small_layer, &on_large_layer>();
  world().job().connect(endpoint_);
}

Messages::~Messages() { barrier(); }

void Messages::exchange(unsigned turn) {
  for (std::uint32_t face = 0; face < kFaces; ++face) send(face, turn);
  wait_until([&] { return arrived_[turn] == kFaces; });
  arrived_[turn] = 0;
}

void Messages::send(std::uint32_t face, unsigned turn) {
  const Layer layer = outermost(block_.size(), face);
  packed_.clear();
  layer.for_each_run([&](std::size_t first) {
    const double* const run = block_.values(turn) + first;
    packed_.insert(packed_.end(), run, run + layer.run);
  });
  const std::uint32_t to = block_.neighbour(face);
  const std::uint32_t there = opposite(face);
  const auto payload = std::as_bytes(std::span(packed_));
  if (payload.size() <= am::max_medium()) {
    endpoint_.request_medium<&on_small_layer>(to, payload, there, std::uint32_t{turn});
  } else {
    const std::size_t slot = (turn * kFaces + there) * largest_face_;
    const auto place = landing_.on(to) + static_cast<std::ptrdiff_t>(slot);
    endpoint_.request_long<&on_large_layer>(to, place.offset(), payload, there,
                                            std::uint32_t{turn});
  }
}

void Messages::arrived(const std::byte* points, std::uint32_t face, std::uint32_t turn) {
  const Layer layer = ghosts(block_.size(), face);
  layer.for_each_run([&](std::size_t first) {
    std::memcpy(block_.values(turn) + first, points, layer.run * sizeof(double));
    points += layer.run * sizeof(double);
  });
  ++arrived_[turn];
}

}  // namespace

std::unique_ptr<Halo> with_messages(Block& block) { return std::make_unique<Messages>(block); }

}  // namespace jacobi3d
