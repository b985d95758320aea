// A channel from every state to its row in every plane, and one back. Their callbacks count the
// rows of a plane and the results of a process. With `mark` a channel is armed only in the phase
// that waits for its puts, and marked in the other, where polls pass it over.

#include <deque>
#include <memory>
#include <vector>

#include "examples/pair_calculator/exchange.h"

namespace pair_calculator {
namespace {

using namespace splitc;

class Channels : public Exchange {
 public:
  Channels(Problem& problem, bool mark);
  void send_points() override;
  std::uint32_t next_plane() override;
  void send_results(std::uint32_t plane) override;
  void wait_for_results() override;

 private:
  using Handles = spread_array<am::ChannelHandle>;

  void make_receivers(Handles& for_points, Handles& for_results);
  void make_senders(const Handles& for_points, const Handles& for_results);
  // A buffer is free.
  void release(am::ReceiveChannel& channel) const {
    if (mark_) {
      channel.ready_mark();
    } else {
      channel.ready();
    }
  }
  // The phase begins that waits for them. Before their first puts they are armed anyway.
  void arm(std::vector<am::ReceiveChannel>& channels) const {
    if (!mark_ || iterations_ == 0) return;
    for (am::ReceiveChannel& channel : channels) channel.ready_poll();
  }
  void row_came(std::uint32_t plane) {
    if (++row_count_[plane] == problem_.states()) complete_.push_back(plane);
  }
  // Of what a process has by state and plane, or by plane and state.
  std::size_t by_state(std::uint32_t state, std::uint32_t plane) const noexcept {
    return std::size_t{state / procs()} * problem_.planes() + plane;
  }
  std::size_t by_plane(std::uint32_t state, std::uint32_t plane) const noexcept {
    return std::size_t{plane / procs()} * problem_.states() + state;
  }
  std::span<std::byte> bytes_of(double* points) const noexcept {
    return std::as_writable_bytes(std::span(points, problem_.points()));
  }

  Problem& problem_;
  const bool mark_;
  std::vector<am::ReceiveChannel> homes_;  // by state and plane; results come in by these,
  std::vector<am::SendChannel> points_;    // and points leave by these
  std::vector<am::ReceiveChannel> rows_;   // by plane and state
  std::vector<am::SendChannel> results_;
  std::vector<std::uint32_t> row_count_;  // that have come, by plane
  std::deque<std::uint32_t> complete_;    // planes
  std::size_t result_count_ = 0;          // that have come
  std::uint32_t iterations_ = 0;          // that have ended
};

Channels::Channels(Problem& problem, bool mark)
    : problem_(problem), mark_(mark), row_count_(problem.planes()) {
  const std::size_t most_states = (problem.states() + procs() - 1) / procs();
  const std::size_t most_planes = (problem.planes() + procs() - 1) / procs();
  Handles for_points(procs(), most_states * problem.planes());  // at the senders
  Handles for_results(procs(), most_planes * problem.states());
  make_receivers(for_points, for_results);
  sync();
  barrier();
  make_senders(for_points, for_results);
}

void Channels::make_receivers(Handles& for_points, Handles& for_results) {
  am::Bundle& bundle = world().bundle();
  for (const std::uint32_t state : problem_.my_states()) {
    for (std::uint32_t plane = 0; plane < problem_.planes(); ++plane) {
      homes_.emplace_back(bundle, bytes_of(problem_.my_home(state, plane)),
                          [this] { ++result_count_; });
      put(for_results.on(problem_.owner_of_plane(plane)) +
              static_cast<std::ptrdiff_t>(by_plane(state, plane)),
          homes_.back().handle());
    }
  }
  for (const std::uint32_t plane : problem_.my_planes()) {
    for (std::uint32_t state = 0; state < problem_.states(); ++state) {
      rows_.emplace_back(bundle, bytes_of(problem_.my_row(state, plane)),
                         [this, plane] { row_came(plane); });
      put(for_points.on(problem_.owner_of_state(state)) +
              static_cast<std::ptrdiff_t>(by_state(state, plane)),
          rows_.back().handle());
    }
  }
}

void Channels::make_senders(const Handles& for_points, const Handles& for_results) {
  am::Bundle& bundle = world().bundle();
  for (const std::uint32_t state : problem_.my_states()) {
    for (std::uint32_t plane = 0; plane < problem_.planes(); ++plane) {
      points_.emplace_back(bundle, for_points.mine()[by_state(state, plane)]);
      points_.back().associate(bytes_of(problem_.my_home(state, plane)));
    }
  }
  for (const std::uint32_t plane : problem_.my_planes()) {
    for (std::uint32_t state = 0; state < problem_.states(); ++state) {
      results_.emplace_back(bundle, for_results.mine()[by_plane(state, plane)]);
      results_.back().associate(
          std::as_bytes(std::span(problem_.result(state, plane), problem_.points())));
    }
  }
}

void Channels::send_points() {
  for (am::ReceiveChannel& home : homes_) {
    if (home.in_use()) release(home);
  }
  for (am::SendChannel& points : points_) points.put();
  arm(rows_);
}

std::uint32_t Channels::next_plane() {
  wait_until([&] { return !complete_.empty(); });
  const std::uint32_t plane = complete_.front();
  complete_.pop_front();
  row_count_[plane] = 0;
  return plane;
}

void Channels::send_results(std::uint32_t plane) {
  const std::size_t first = by_plane(0, plane);
  for (std::size_t i = first; i < first + problem_.states(); ++i) {
    release(rows_[i]);  // the matrix has been multiplied
    results_[i].put();
  }
}

void Channels::wait_for_results() {
  arm(homes_);
  wait_until([&] { return result_count_ == homes_.size(); });
  result_count_ = 0;
  ++iterations_;
}

}  // namespace

std::unique_ptr<Exchange> with_channels(Problem& problem, bool mark) {
  return std::make_unique<Channels>(problem, mark);
}

}  // namespace pair_calculator
