// The points of one state in one plane are one message. A medium one is copied to its row by the
// handler, a long one writes its row by itself; the handler counts the rows of a plane.

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "am/am.h"
#include "examples/pair_calculator/exchange.h"

namespace pair_calculator {
namespace {

using namespace splitc;

class Messages : public Exchange {
 public:
  explicit Messages(Problem& problem);
  void send_points() override;
  std::uint32_t next_plane() override;
  void send_results(std::uint32_t plane) override;
  void wait_for_results() override;

  void copy(std::span<const std::byte> points, double* to) {
    std::memcpy(to, points.data(), points.size());
  }
  void row_came(std::uint32_t plane) {
    if (++rows_[plane] == problem.states()) complete_.push_back(plane);
  }
  void result_came() { ++results_; }

  Problem& problem;

 private:
  am::Endpoint endpoint_;
  std::vector<std::uint32_t> rows_;     // that have come, by plane
  std::deque<std::uint32_t> complete_;  // planes
  std::size_t results_ = 0;             // that have come
};

Messages* messages;  // what the handlers work for

void on_points(am::OneWay, std::span<const std::byte> points, std::uint32_t state,
               std::uint32_t plane) {
  messages->copy(points, messages->problem.my_row(state, plane));
  messages->row_came(plane);
}
void on_long_points(am::OneWay, std::span<std::byte>, std::uint32_t plane) {
  messages->row_came(plane);
}
void on_result(am::OneWay, std::span<const std::byte> points, std::uint32_t state,
               std::uint32_t plane) {
  messages->copy(points, messages->problem.my_home(state, plane));
  messages->result_came();
}
void on_long_result(am::OneWay, std::span<std::byte>) { messages->result_came(); }

Messages::Messages(Problem& the_problem)
    : problem(the_problem), endpoint_(world().bundle()), rows_(problem.planes()) {
  messages = this;
  endpoint_.add_handlers<&on_points, &on_long_points, &on_result, &on_long_result>();
  world().job().connect(endpoint_);
}

void Messages::send_points() {
  for (const std::uint32_t state : problem.my_states()) {
    for (std::uint32_t plane = 0; plane < problem.planes(); ++plane) {
      const auto points = std::as_bytes(std::span(problem.my_home(state, plane), problem.points()));
      const std::uint32_t to = problem.owner_of_plane(plane);
      if (points.size() <= am::max_medium()) {
        endpoint_.request_medium<&on_points>(to, points, state, plane);
      } else {
        endpoint_.request_long<&on_long_points>(to, problem.row(state, plane).offset(), points,
                                                plane);
      }
    }
  }
}

std::uint32_t Messages::next_plane() {
  wait_until([&] { return !complete_.empty(); });
  const std::uint32_t plane = complete_.front();
  complete_.pop_front();
  rows_[plane] = 0;
  return plane;
}

void Messages::send_results(std::uint32_t plane) {
  for (std::uint32_t state = 0; state < problem.states(); ++state) {
    const auto points = std::as_bytes(std::span(problem.result(state, plane), problem.points()));
    const std::uint32_t to = problem.owner_of_state(state);
    if (points.size() <= am::max_medium()) {
      endpoint_.request_medium<&on_result>(to, points, state, plane);
    } else {
      endpoint_.request_long<&on_long_result>(to, problem.home(state, plane).offset(), points);
    }
  }
}

void Messages::wait_for_results() {
  const std::size_t all = problem.my_states().size() * problem.planes();
  wait_until([&] { return results_ == all; });
  results_ = 0;
}

}  // namespace

std::unique_ptr<Exchange> with_messages(Problem& problem) {
  return std::make_unique<Messages>(problem);
}

}  // namespace pair_calculator
