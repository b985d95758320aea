#include <algorithm>
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
  const auto those = std::ranges::partition(all, [](const auto& one) { return !one->may_end(); });
  std::vector<std::unique_ptr<Leftover>> ending;  // which may leave others
  std::ranges::move(those, std::back_inserter(ending));
  all.erase(those.begin(), those.end());
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
