// A layer is packed and travels in one message: a medium one is copied to the ghosts by its
// handler, a long one is written there by itself.

#include <cstring>
#include <memory>
#include <vector>

#include "am/am.h"
#include "examples/jacobi3d/halo.h"

namespace jacobi3d {
namespace {

using namespace splitc;

class Messages : public Halo {
 public:
  explicit Messages(Block& block);
  void start(unsigned turn) override;
  void finish(unsigned turn) override;

  void copy(std::span<const std::byte> points, std::uint32_t face, std::uint32_t turn) {
    std::memcpy(block_.ghosts(turn, face).data(), points.data(), points.size());
  }
  void arrived(std::uint32_t turn) { ++arrived_[turn]; }

 private:
  void send(std::uint32_t face, unsigned turn);

  Block& block_;
  am::Endpoint endpoint_;
  std::vector<double> packed_;
  std::uint32_t arrived_[2] = {0, 0};  // layers of each turn
};

Messages* messages;  // what the handlers work for

void on_layer(am::OneWay, std::span<const std::byte> points, std::uint32_t face,
              std::uint32_t turn) {
  messages->copy(points, face, turn);
  messages->arrived(turn);
}
void on_long_layer(am::OneWay, std::span<std::byte>, std::uint32_t turn) {
  messages->arrived(turn);
}

Messages::Messages(Block& block) : block_(block), endpoint_(world().bundle()) {
  messages = this;
  endpoint_.add_handlers<&on_layer, &on_long_layer>();
  world().job().connect(endpoint_);
}

void Messages::start(unsigned turn) {
  for (std::uint32_t face = 0; face < kFaces; ++face) send(face, turn);
}

void Messages::finish(unsigned turn) {
  wait_until([&] { return arrived_[turn] == kFaces; });
  arrived_[turn] = 0;
}

void Messages::send(std::uint32_t face, unsigned turn) {
  const Layer layer = outermost(block_.size(), face);
  packed_.resize(layer.points());
  pack(block_.values(turn), layer, packed_.data());
  const std::uint32_t to = block_.neighbour(face);
  const auto payload = std::as_bytes(std::span(packed_));
  if (payload.size() <= am::max_medium()) {
    endpoint_.request_medium<&on_layer>(to, payload, opposite(face), std::uint32_t{turn});
  } else {
    const std::uint64_t offset = block_.ghosts_beyond(turn, face).offset();
    endpoint_.request_long<&on_long_layer>(to, offset, payload, std::uint32_t{turn});
  }
}

}  // namespace

std::unique_ptr<Halo> with_messages(Block& block) { return std::make_unique<Messages>(block); }

}  // namespace jacobi3d
