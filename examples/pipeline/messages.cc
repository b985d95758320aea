// A block is one message, and so is the word that its buffer is free again. A medium message is
// copied to the buffer by the handler, a long one writes it by itself.

#include <cstring>
#include <memory>

#include "am/am.h"
#include "examples/pipeline/belt.h"

namespace pipeline {
namespace {

using namespace splitc;

class Messages : public Belt {
 public:
  explicit Messages(Stage& stage);
  void receive(unsigned turn) override;
  void release(unsigned turn) override;
  void claim(unsigned turn) override;
  void send(unsigned turn) override;

  void copy(std::span<const std::byte> block, std::uint32_t turn) {
    std::memcpy(stage_.input(turn).data(), block.data(), block.size());
  }
  void block_came(std::uint32_t turn) { full_[turn] = true; }
  void buffer_came(std::uint32_t turn) { free_[turn] = true; }

 private:
  Stage& stage_;
  am::Endpoint endpoint_;
  bool full_[2] = {false, false};  // a block is in the input
  bool free_[2] = {true, true};    // the input of the next stage is
};

Messages* messages;  // what the handlers work for

void on_block(am::OneWay, std::span<const std::byte> block, std::uint32_t turn) {
  messages->copy(block, turn);
  messages->block_came(turn);
}
void on_long_block(am::OneWay, std::span<std::byte>, std::uint32_t turn) {
  messages->block_came(turn);
}
void on_release(am::OneWay, std::uint32_t turn) { messages->buffer_came(turn); }

Messages::Messages(Stage& stage) : stage_(stage), endpoint_(world().bundle()) {
  messages = this;
  endpoint_.add_handlers<&on_block, &on_long_block, &on_release>();
  world().job().connect(endpoint_);
}

void Messages::receive(unsigned turn) {
  wait_until([&] { return full_[turn]; });
  full_[turn] = false;
}

void Messages::release(unsigned turn) {
  endpoint_.request<&on_release>(my_proc() - 1, std::uint32_t{turn});
}

void Messages::claim(unsigned turn) {
  wait_until([&] { return free_[turn]; });
  free_[turn] = false;
}

void Messages::send(unsigned turn) {
  const auto block = std::as_bytes(stage_.output(turn));
  const std::uint32_t to = my_proc() + 1;
  if (block.size() <= am::max_medium()) {
    endpoint_.request_medium<&on_block>(to, block, std::uint32_t{turn});
  } else {
    endpoint_.request_long<&on_long_block>(to, stage_.input_of(to, turn).offset(), block,
                                           std::uint32_t{turn});
  }
}

}  // namespace

std::unique_ptr<Belt> with_messages(Stage& stage) { return std::make_unique<Messages>(stage); }

}  // namespace pipeline
