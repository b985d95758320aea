// A small task runtime on Active Messages: tasks that make tasks, idle processes that steal from
// others, and an end that everybody hears of. What it computes is in how many ways N queens stand
// on a board without taking one another.
//
//   ./run -n 4 --nodes 2 task_runtime 11

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <random>
#include <span>
#include <vector>

#include "am/am.h"

namespace {

// A board with queens in the first rows; plain bytes, so it travels as it is. All tasks together
// have the weight kWhole: one that makes others divides its weight among them, and one that has
// ended gives it back to process 0. When that has kWhole, there is no task anywhere (Mattern's
// credit recovery).
struct Task {
  std::uint32_t row, columns, left, right;  // bits: taken by a column, or a diagonal
  std::uint64_t weight;
};
constexpr std::uint64_t kWhole = std::uint64_t{1} << 60;
constexpr std::size_t kMostStolen = am::max_medium() / sizeof(Task);

class Runtime {
 public:
  Runtime(am::Job& job, std::uint32_t n) : n_(n), job_(job), bundle_(job), endpoint_(bundle_) {
    endpoint_.add_handlers<&Runtime::on_steal, &Runtime::on_stolen, &Runtime::on_ended,
                           &Runtime::on_stop>(*this);
    job.connect(endpoint_);
    if (job.rank() == 0) tasks_.push_back({0, 0, 0, 0, kWhole});
  }

  // Until there is no task anywhere. The number of solutions, at process 0.
  std::uint64_t run() {
    while (!stopped_) {
      if (tasks_.empty()) {
        give_back();
        steal();
      } else {
        const Task task = tasks_.back();  // the newest, which is the smallest
        tasks_.pop_back();
        perform(task);
      }
      bundle_.poll();  // serves thieves
    }
    for (am::Rank rank = 1; job_.rank() == 0 && rank < job_.size(); ++rank) {
      endpoint_.request<&Runtime::on_stop>(rank);
    }
    job_.finish(bundle_);
    return solutions_;
  }

 private:
  // --- Tasks

  void perform(const Task& task) {
    constexpr std::uint32_t kSplit = 3;  // rows whose tasks make tasks
    std::vector<Task> children;
    if (task.row >= kSplit || task.row == n_) {
      found_ += count(task);
    } else {
      for_each_child(task, [&](const Task& child) { children.push_back(child); });
    }
    const std::uint64_t share = children.empty() ? 0 : task.weight / children.size();
    for (Task& child : children) child.weight = share;
    tasks_.insert(tasks_.end(), children.begin(), children.end());
    ended_ += task.weight - share * children.size();
  }
  template <class F>
  void for_each_child(const Task& task, F&& f) const {
    const std::uint32_t all = (1u << n_) - 1;
    for (std::uint32_t free = all & ~(task.columns | task.left | task.right); free != 0;) {
      const std::uint32_t bit = free & -free;
      free ^= bit;
      f(Task{task.row + 1, task.columns | bit, (task.left | bit) << 1, (task.right | bit) >> 1, 0});
    }
  }
  std::uint64_t count(const Task& task) const {
    if (task.row == n_) return 1;
    std::uint64_t sum = 0;
    for_each_child(task, [&](const Task& child) { sum += count(child); });
    return sum;
  }

  // --- Messages

  // Asks somebody for tasks, and waits for the answer, in which there may be none.
  void steal() {
    if (job_.size() > 1) {
      am::Rank victim = static_cast<am::Rank>(random_() % (job_.size() - 1));
      if (victim >= job_.rank()) ++victim;
      waiting_ = true;
      endpoint_.request<&Runtime::on_steal>(victim);
    }
    bundle_.wait_until([this] { return stopped_ || !waiting_; });
  }
  // The oldest are the largest: a thief gets half of them.
  void on_steal(am::Request thief) {
    const std::size_t count = std::min((tasks_.size() + 1) / 2, kMostStolen);
    const std::vector<Task> given(tasks_.begin(), tasks_.begin() + static_cast<long>(count));
    tasks_.erase(tasks_.begin(), tasks_.begin() + static_cast<long>(count));
    std::move(thief).reply_medium<&Runtime::on_stolen>(std::as_bytes(std::span(given)));
  }
  void on_stolen(am::Reply, std::span<const std::byte> bytes) {
    std::vector<Task> got(bytes.size() / sizeof(Task));
    if (!got.empty()) std::memcpy(got.data(), bytes.data(), bytes.size());
    tasks_.insert(tasks_.end(), got.begin(), got.end());
    waiting_ = false;
  }

  // Tells process 0 what has been found, and gives back the weight of what has ended.
  void give_back() {
    if (ended_ == 0) return;
    endpoint_.request<&Runtime::on_ended>(0, ended_, found_);
    ended_ = found_ = 0;
  }
  void on_ended(am::OneWay, std::uint64_t weight, std::uint64_t found) {
    weight_ += weight;
    solutions_ += found;
    stopped_ = weight_ == kWhole;
  }

  void on_stop(am::OneWay) { stopped_ = true; }

  const std::uint32_t n_;
  am::Job& job_;
  am::Bundle bundle_;
  am::Endpoint endpoint_;
  std::mt19937 random_{std::random_device()()};
  std::deque<Task> tasks_;
  std::uint64_t ended_ = 0;  // weight of tasks that have ended here, and what they have found
  std::uint64_t found_ = 0;
  std::uint64_t weight_ = 0;  // at process 0: what has been given back
  std::uint64_t solutions_ = 0;
  bool waiting_ = false;  // for the answer of a victim
  bool stopped_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    am::Job job;
    const auto n = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 10);
    if (n < 1 || n > 16) throw am::Error("task_runtime: give a number of queens from 1 to 16");
    const std::uint64_t ways = Runtime(job, n).run();
    if (job.rank() == 0) std::printf("%u queens stand in %lu ways\n", n, ways);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
