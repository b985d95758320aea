#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <vector>

#include "splitc/splitc.h"

namespace containers {

// Tasks that processes make while they work, each of which is done once, by whoever has time.
//
//   work_queue<Node> queue;                                      // collective
//   splitc::on_one([&] { queue.push(root); });
//   while (const std::optional<Node> node = queue.next()) {      // all processes
//     for (const Node& child : children(*node)) queue.push(child);
//   }                                                            // all tasks of all are done
//
// push() and next() use this process's end of its own queue, last in, first out. A process without
// tasks steals half of those of another, taken at random, from the other end, where tasks are
// oldest: in a tree, the largest parts.
//
// A task is done when the process that got it calls next() again; it may push others until then.
// next() returns nothing when all tasks of all processes are done, and then in all of them.
//
// Construction and destruction are collective, and so is the loop as a whole: every process calls
// next() until it returns nothing, a barrier, and makes no other collective call in the loop.
// Afterwards tasks may be pushed for another loop. All processes see what any task wrote before
// the end.
//
// Costs. push(), and next() of an own task: 10 to 20 ns, one poll() among them, and with far
// processes 150 to 300. A theft: an rpc(), which the victim answers when it polls; so tasks that
// take long call poll(). The end is found log2(nodes) messages a node after the last task, twice.
//
// Task is trivially copyable, without addresses. Thread rule: the world's thread, outside handlers.
template <class Task>
class work_queue {
 public:
  // `seed` of the choice of victims.
  explicit work_queue(std::uint64_t seed = 1)
      : random_(seed * splitc::procs() + splitc::my_proc()) {}

  // Not collective. Never waits.
  void push(const Task& task) {
    own_->push_back(task);
    ++mine_.pushed;
  }

  // Waits for a task, or for the end.
  std::optional<Task> next() {
    if (working_) ++mine_.done;
    working_ = false;
    splitc::poll();
    while (own_->empty()) {
      if (all_done()) return std::nullopt;
      steal();
    }
    const Task task = own_->back();
    own_->pop_back();
    working_ = true;
    return task;
  }

  // Tasks that this process has taken from others.
  std::uint64_t stolen() const { return stolen_; }

 private:
  using Tasks = std::deque<Task>;
  struct Totals {
    std::uint64_t pushed = 0;
    std::uint64_t done = 0;
  };

  // Mattern's four counters: two sums over all processes, of which the second is begun when the
  // first is known everywhere. Both numbers only grow. If as many were done at the first sum as had
  // been pushed at the second, then these numbers were equal all the time in between, and no task
  // was left, be it in a queue or on its way. A process takes part when it has no tasks.
  bool all_done() {
    if (!sum_) {
      sum_.emplace(splitc::start_all_reduce(mine_, [](const Totals& a, const Totals& b) {
        return Totals{a.pushed + b.pushed, a.done + b.done};
      }));
    }
    if (!sum_->ready()) return false;
    const Totals now = sum_->wait();
    sum_.reset();
    const bool end = done_before_ == now.pushed;
    done_before_ = now.done;
    if (!end) return false;
    done_before_.reset();  // tasks of another loop count on from here
    splitc::barrier();     // the others may still be waiting for an answer of this process
    return true;
  }

  void steal() {
    if (splitc::procs() == 1) return static_cast<void>(splitc::poll());
    const auto step = static_cast<std::uint32_t>(1 + random_() % (splitc::procs() - 1));
    const std::uint32_t victim = (splitc::my_proc() + step) % splitc::procs();
    const std::vector<Task> tasks = splitc::rpc(victim, &take_half, own_).result();
    own_->insert(own_->end(), tasks.begin(), tasks.end());
    stolen_ += tasks.size();
  }
  // In the victim: half of its tasks, rounded up.
  static std::vector<Task> take_half(Tasks& tasks) {
    const auto end = tasks.begin() + static_cast<std::ptrdiff_t>((tasks.size() + 1) / 2);
    std::vector<Task> taken(tasks.begin(), end);
    tasks.erase(tasks.begin(), end);
    return taken;
  }

  splitc::dist_object<Tasks> own_;
  Totals mine_;
  bool working_ = false;  // on a task that next() has given
  std::optional<splitc::started<Totals>> sum_;
  std::optional<std::uint64_t> done_before_;  // at the sum before
  std::mt19937_64 random_;
  std::uint64_t stolen_ = 0;
};

}  // namespace containers
