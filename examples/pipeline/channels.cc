// A channel for each of the two buffers, and one back for the word that it is free again. Marked as
// free as soon as its block is used, a buffer is looked at only when its turn has come: a block
// that comes while the stage is busy with the other buffer is told then.

#include <optional>

#include "examples/pipeline/belt.h"

namespace pipeline {
namespace {

using namespace splitc;

class Channels : public Belt {
 public:
  explicit Channels(Stage& stage);
  ~Channels() override { barrier(); }
  void receive(unsigned turn) override;
  void release(unsigned turn) override;
  void claim(unsigned turn) override;
  void send(unsigned turn) override { turns_[turn].block_out->put(); }

 private:
  // What is needed twice. The first stage has no block_in and word_out, the last no others.
  struct Turn {
    std::optional<am::ReceiveChannel> block_in;
    std::optional<am::SendChannel> block_out;
    std::optional<am::ReceiveChannel> word_in;
    std::optional<am::SendChannel> word_out;
    bool full = false;  // a block is in the input
    bool free = true;   // the input of the next stage is
  };
  // At those who send: for blocks, then for words; by turn.
  using Handles = spread_array<am::ChannelHandle>;
  static constexpr std::ptrdiff_t kForWords = 2;

  void make_receivers(unsigned turn, const Handles& handles);
  void make_senders(unsigned turn, const Handles& handles);

  Stage& stage_;
  spread_array<std::uint64_t> words_;  // by turn; only their coming says something
  Turn turns_[2];
};

Channels::Channels(Stage& stage) : stage_(stage), words_(procs(), 2) {
  const Handles handles(procs(), 4);
  for (const unsigned turn : {0, 1}) make_receivers(turn, handles);
  sync();
  barrier();
  for (const unsigned turn : {0, 1}) make_senders(turn, handles);
}

void Channels::make_receivers(unsigned turn, const Handles& handles) {
  Turn& mine = turns_[turn];
  am::Bundle& bundle = world().bundle();
  if (!stage_.is_first()) {
    mine.block_in.emplace(bundle, std::as_writable_bytes(stage_.input(turn)),
                          [&mine] { mine.full = true; });
    put(handles.on(my_proc() - 1) + turn, mine.block_in->handle());
  }
  if (!stage_.is_last()) {
    mine.word_in.emplace(bundle, std::as_writable_bytes(words_.mine().subspan(turn, 1)),
                         [&mine] { mine.free = true; });
    put(handles.on(my_proc() + 1) + kForWords + turn, mine.word_in->handle());
  }
}

void Channels::make_senders(unsigned turn, const Handles& handles) {
  Turn& mine = turns_[turn];
  const am::ChannelHandle* const handle = handles.mine().data() + turn;
  if (!stage_.is_last()) {
    mine.block_out.emplace(world().bundle(), handle[0]);
    mine.block_out->associate(std::as_bytes(stage_.output(turn)));
  }
  if (!stage_.is_first()) {
    mine.word_out.emplace(world().bundle(), handle[kForWords]);
    mine.word_out->associate(std::as_bytes(words_.mine().subspan(turn, 1)));
  }
}

void Channels::receive(unsigned turn) {
  Turn& mine = turns_[turn];
  if (mine.block_in->callbacks() > 0) mine.block_in->ready_poll();
  wait_until([&] { return mine.full; });
  mine.full = false;
}

void Channels::release(unsigned turn) {
  turns_[turn].block_in->ready_mark();
  turns_[turn].word_out->put();
}

void Channels::claim(unsigned turn) {
  Turn& mine = turns_[turn];
  wait_until([&] { return mine.free; });
  mine.free = false;
  if (mine.word_in->in_use()) mine.word_in->ready();
}

}  // namespace

std::unique_ptr<Belt> with_channels(Stage& stage) { return std::make_unique<Channels>(stage); }

}  // namespace pipeline
