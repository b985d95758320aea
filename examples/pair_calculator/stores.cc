// Points are stored straight into their rows. Bytes are counted, not rows: a process begins when
// all of its planes are complete.

#include <memory>

#include "examples/pair_calculator/exchange.h"

namespace pair_calculator {
namespace {

using namespace splitc;

class Stores : public Exchange {
 public:
  explicit Stores(Problem& problem) : problem_(problem) {}
  void send_points() override;
  std::uint32_t next_plane() override;
  void send_results(std::uint32_t plane) override;
  void wait_for_results() override;

 private:
  Problem& problem_;
  store_counter points_, results_;
  std::size_t next_ = 0;  // of the planes of this process
};

void Stores::send_points() {
  for (const std::uint32_t state : problem_.my_states()) {
    for (std::uint32_t plane = 0; plane < problem_.planes(); ++plane) {
      bulk_store(problem_.row(state, plane), problem_.my_home(state, plane), problem_.row_bytes(),
                 points_);
    }
  }
}

std::uint32_t Stores::next_plane() {
  const auto& planes = problem_.my_planes();
  if (next_ == 0) {
    store_sync(planes.size() * problem_.states() * problem_.row_bytes(), points_);
  }
  const std::uint32_t plane = planes[next_++];
  if (next_ == planes.size()) next_ = 0;
  return plane;
}

void Stores::send_results(std::uint32_t plane) {
  for (std::uint32_t state = 0; state < problem_.states(); ++state) {
    bulk_store(problem_.home(state, plane), problem_.result(state, plane), problem_.row_bytes(),
               results_);
  }
}

void Stores::wait_for_results() {
  store_sync(problem_.my_states().size() * problem_.planes() * problem_.row_bytes(), results_);
}

}  // namespace

std::unique_ptr<Exchange> with_stores(Problem& problem) {
  return std::make_unique<Stores>(problem);
}

}  // namespace pair_calculator
