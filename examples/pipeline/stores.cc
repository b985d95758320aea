// A block is a store into the buffer of the next stage, which counts its bytes; the word that the
// buffer is free again is a store of one number.

#include <memory>

#include "examples/pipeline/belt.h"

namespace pipeline {
namespace {

using namespace splitc;

class Stores : public Belt {
 public:
  explicit Stores(Stage& stage) : stage_(stage), words_(procs(), 2) {}
  void receive(unsigned turn) override { store_sync(stage_.bytes(), blocks_[turn]); }
  void release(unsigned turn) override;
  void claim(unsigned turn) override;
  void send(unsigned turn) override;

 private:
  Stage& stage_;
  spread_array<std::uint64_t> words_;  // by turn; only their coming says something
  store_counter blocks_[2], releases_[2];
  bool fresh_[2] = {true, true};  // the buffer of the next stage has never been used
};

void Stores::release(unsigned turn) { store(words_.on(my_proc() - 1) + turn, 1, releases_[turn]); }

void Stores::claim(unsigned turn) {
  if (!fresh_[turn]) store_sync(sizeof(std::uint64_t), releases_[turn]);
  fresh_[turn] = false;
}

void Stores::send(unsigned turn) {
  const std::span<const double> block = stage_.output(turn);
  bulk_store(stage_.input_of(my_proc() + 1, turn), block, blocks_[turn]);
}

}  // namespace

std::unique_ptr<Belt> with_stores(Stage& stage) { return std::make_unique<Stores>(stage); }

}  // namespace pipeline
