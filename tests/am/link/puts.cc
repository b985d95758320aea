// Conformance: writes that are waited for.
#include <vector>

#include "tests/am/link/memory.h"

namespace am::conformance {
namespace {

using ::test::barrier;
using ::test::bundle;
using ::test::job;

// A look at what `writer` has put into the memory of `target`, by a process of the target's node.
const Pieces* looked_at = nullptr;
std::uint32_t answers = 0;

void on_looked(Reply) { ++answers; }
void on_look(Request request, std::uint32_t target, std::uint32_t number) {
  const Rank writer = request.source();
  const std::byte* const segment = job().router().peer(target).segment;
  const std::span bytes(segment + writer * kStride + looked_at->offsets[number],
                        looked_at->sizes[number]);
  EXPECT_FALSE(looked_at->oracle(writer, target, number).difference(bytes))
      << bytes.size() << " bytes put by rank " << writer << " into the memory of rank " << target
      << " are not there although the put is done";
  std::move(request).reply<&on_looked>();
}

class Puts : public Memory {
 protected:
  // Puts all pieces into the memory of those at distance `first` to `last` from here, and has each
  // looked at by the target's whole node as soon as it is done.
  void put_and_look(const Pieces& pieces, std::uint32_t first, std::uint32_t last) {
    Endpoint endpoint(bundle());
    endpoint.add_handlers<&on_look, &on_looked>();
    job().connect(endpoint);
    nodes_ = job().exchange(job().router().options().node);
    for (Rank writer = 0; writer < size_; ++writer) paint(writer * kStride, pieces.end);
    looked_at = &pieces;
    asked_ = answers = 0;
    looked_ = 0;
    barrier();
    put_all(pieces, first, last, endpoint);
    while (looked_ != done().size() || !all_done()) {
      bundle().wait_until([&] { return looked_ != done().size() || all_done(); });
      have_looked(endpoint);
    }
    bundle().wait_until([&] { return answers == asked_; });
    wait_for_all();
    barrier();
    for (std::uint32_t i = first; i <= last; ++i) {
      pieces.expect_from((job().rank() + size_ - i % size_) % size_);
    }
    barrier();
  }

 private:
  void put_all(const Pieces& pieces, std::uint32_t first, std::uint32_t last, Endpoint& endpoint) {
    begin(pieces.sizes.size() * size_);
    sources_.resize(pieces.sizes.size() * size_);
    for (const std::uint32_t number : shuffled(pieces.sizes.size(), job().rank())) {
      for (std::uint32_t i = 0; i < size_; ++i) {
        const Rank to = (job().rank() + i) % size_;
        const std::uint32_t ticket = number * size_ + to;
        const bool wanted = i >= first && i <= last;
        const std::size_t bytes = wanted ? pieces.sizes[number] : 0;
        sources_[ticket] = pieces.oracle(job().rank(), to, number).make(bytes);
        put(to, job().rank() * kStride + pieces.offsets[number], sources_[ticket], ticket);
        // A small one has been copied.
        if (bytes <= RemoteMemory::kCopied) sources_[ticket].assign(bytes, std::byte{0xee});
      }
      have_looked(endpoint);
    }
  }

  void have_looked(Endpoint& endpoint) {
    for (; looked_ < done().size(); ++looked_) {
      const Rank target = done()[looked_] % size_;
      const std::uint32_t number = done()[looked_] / size_;
      if (sources_[done()[looked_]].empty()) continue;
      for (Rank rank = 0; rank < size_; ++rank) {
        if (nodes_[rank] != nodes_[target]) continue;
        endpoint.request<&on_look>(rank, target, number);
        ++asked_;
      }
    }
  }

  const std::uint32_t size_ = job().size();
  std::vector<std::uint32_t> nodes_;  // by rank
  std::vector<std::vector<std::byte>> sources_;
  std::uint32_t asked_ = 0;
  std::size_t looked_ = 0;
};

TEST_F(Puts, are_visible_on_the_whole_node_when_they_are_done) {
  put_and_look(Pieces(all_sizes()), 0, job().size() - 1);
}

TEST_F(Puts, that_are_big_are_too) {
  put_and_look(Pieces({kBig, kBig}), job().size() > 1 ? 1 : 0, job().size() > 1 ? 1 : 0);
}

}  // namespace
}  // namespace am::conformance
