#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "binding.h"

namespace splitphase_python {
namespace {

// Changed with the GIL only. Never destroyed: what is left at the end of the process is the
// system's.
std::vector<std::unique_ptr<Leftover>>& leftovers() {
  static auto* const all = new std::vector<std::unique_ptr<Leftover>>;
  return *all;
}

}  // namespace

void leave(std::unique_ptr<Leftover> leftover) {
  leftovers().push_back(std::move(leftover));
  if (may_end_now()) end_leftovers();
}

void end_leftovers() {
  auto& all = leftovers();
  const auto first =
      std::partition(all.begin(), all.end(), [](const auto& one) { return !one->may_end(); });
  const std::vector<std::unique_ptr<Leftover>> ending(  // which may leave others
      std::make_move_iterator(first), std::make_move_iterator(all.end()));
  all.erase(first, all.end());
}

void end_all_leftovers() {
  while (!leftovers().empty()) {
    {
      const py::gil_scoped_release others_run;
      splitc::wait_until([] {
        const py::gil_scoped_acquire python;
        return std::ranges::all_of(leftovers(), &Leftover::may_end);
      });
    }
    end_leftovers();
  }
}

}  // namespace splitphase_python
