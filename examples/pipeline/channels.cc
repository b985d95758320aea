// A channel for each of the two buffers, and one back for the word that it is free again. Marked as
// free as soon as its block is used, a buffer is looked at only when its turn has come: a block
// that comes while the stage is busy with the other buffer is told then.

#include <memory>
#include <vector>

#include "examples/pipeline/belt.h"

namespace pipeline {
namespace {

using namespace splitc;

class Channels : public Belt {
 public:
  explicit Channels(Stage& stage);
  void receive(unsigned turn) override;
  void release(unsigned turn) override;
  void claim(unsigned turn) override;
  void send(unsigned turn) override { turns_[turn].blocks.put(); }

 private:
  // What is needed twice.
  struct Turn {
    put_channel<double> blocks;        // to the next stage
    put_channel<std::uint64_t> words;  // to the one before
    bool marked = false;               // the buffer has been, and nobody has looked at it since
    bool fresh = true;                 // the buffer of the next stage has never been used
  };
  Turn make(Stage& stage, unsigned turn);

  spread_array<std::uint64_t> words_;  // by turn; only their coming says something
  std::vector<Turn> turns_;
};

Channels::Channels(Stage& stage) : words_(procs(), 2) {
  for (const unsigned turn : {0, 1}) turns_.push_back(make(stage, turn));
}

Channels::Turn Channels::make(Stage& stage, unsigned turn) {
  global_ptr<double> block;  // whoever sends nothing gives a null pointer
  global_ptr<std::uint64_t> word;
  if (!stage.is_last()) block = stage.input_of(my_proc() + 1, turn);
  if (!stage.is_first()) word = words_.on(my_proc() - 1) + turn;
  return {.blocks = {block, stage.output(turn)}, .words = {word, words_.mine().subspan(turn, 1)}};
}

void Channels::receive(unsigned turn) {
  Turn& mine = turns_[turn];
  if (mine.marked) mine.blocks.ready_poll();
  mine.marked = false;
  mine.blocks.wait();
}

void Channels::release(unsigned turn) {
  Turn& mine = turns_[turn];
  mine.blocks.ready_mark();
  mine.marked = true;
  mine.words.put();
}

void Channels::claim(unsigned turn) {
  Turn& mine = turns_[turn];
  if (!mine.fresh) {
    mine.words.wait();
    mine.words.ready();
  }
  mine.fresh = false;
}

}  // namespace

std::unique_ptr<Belt> with_channels(Stage& stage) { return std::make_unique<Channels>(stage); }

}  // namespace pipeline
