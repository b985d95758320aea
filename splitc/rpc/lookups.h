#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "am/types/types.h"
#include "splitc/rpc/dist_object.h"
#include "splitc/rpc/rpc.h"
#include "splitc/world/world.h"

namespace splitc {

// Asks many small questions anywhere in blocks: the twin of an aggregator for what is read.
//
//   dist_object<std::vector<double>> ranks(...);
//   auto look_up = aggregate_lookups<std::uint32_t>(
//       ranks, [](const auto& theirs, std::uint32_t i) { return theirs[i]; });
//   for (const Link& link : links) look_up.get(link.owner, link.index, incoming[link.number]);
//   look_up.wait();                                   // not collective: all answers are there
//
// Each question is answered once, by f(t, question), a function or lambda, where t is the T of the
// process that was asked, in a thread of that process that polls. f must be short, and
// may not wait, poll, or send. Its result is trivially copyable. In which order questions are
// answered is not said.
//
// Memory: for each process that anything is asked, a block of as many questions, or results, as
// 4 KiB hold. get() waits, polling, while 64 blocks have not been answered.
//
// Cost, two processes, 8-byte questions and results: docs/costs.md. Thread rule: a thread of the
// program, outside handlers; tasks may share one. It does not outlive its dist_object. What f
// throws ends the job, as of rpc(). After Chapel's source aggregators.
template <class Query, class T, class F>
class lookups {
 public:
  using Result = std::decay_t<std::invoke_result_t<const F&, T&, const Query&>>;

 private:
  static_assert(!detail::too_aligned<Query>, SPLITPHASE_TOO_ALIGNED);
  static_assert(!detail::too_aligned<Result>, SPLITPHASE_TOO_ALIGNED);
  static_assert(detail::means_the_same<Query>, "questions travel as bytes, without addresses");
  static_assert(detail::means_the_same<Result>, "results travel as bytes, without addresses");
  static_assert(detail::travels<F> || std::is_function_v<std::remove_pointer_t<F>>,
                "f is a function, or a lambda that captures trivially copyable values, by value");
  static_assert(!detail::captures_reference<F>, SPLITPHASE_NO_REFERENCES);

 public:
  lookups(dist_object<T>& object, F f) : object_(object), f_(f), blocks_(procs()) {}
  // Answers that have not been waited for are dropped.
  ~lookups() = default;
  lookups(const lookups&) = delete;
  lookups& operator=(const lookups&) = delete;

  // Asks process `proc`. The answer is in `to` after wait(), and perhaps before; until then `to`
  // must exist. Throws Error if there is no such process. Not collective. Costs some ns, and each
  // time a block is full an rpc(). In this process f is called at once.
  void get(std::uint32_t proc, const Query& query, Result& to, am::Here where = {}) {
    if (proc == my_proc()) {
      to = f_(*object_, query);
      return;
    }
    detail::check_proc(proc, {"lookups::get", where});
    Block& block = blocks_[proc];
    if (block.questions.empty()) {
      block.questions.reserve(kInBlock);
      block.to.reserve(kInBlock);
    }
    if (block.questions.size() == kInBlock)
      ship(proc, where);  // it was full when an exception came
    block.questions.push_back({query});
    block.to.push_back(&to);
    if (block.questions.size() == kInBlock) ship(proc, where);
  }

  // Asks what has been gathered, without waiting for the answers.
  void flush(am::Here where = {}) {
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      if (!blocks_[proc].questions.empty()) ship(proc, where);
    }
  }
  // Sends what waits to be sent, and waits until all answers are where they belong. Not collective:
  // the others must poll, as they do when they wait for anything.
  void wait(am::Here where = {}) {
    flush(where);
    while (!asked_.empty()) take_first(where);
  }

 private:
  // A vector of bool has no elements that could travel.
  struct Question {
    Query query;
  };
  struct Answer {
    Result result;
  };
  struct Block {
    std::vector<Question> questions;
    std::vector<Result*> to;  // as many
  };
  struct Asked {
    bool answered() const noexcept { return detail::context().tickets.done(answers.operation()); }

    future<std::vector<Answer>> answers;
    std::vector<Result*> to;
  };

  // What one medium message holds, of questions or of results. At least one, which may be longer.
  static constexpr std::size_t kHead = 64 + sizeof(F);
  static constexpr std::size_t kLargest = sizeof(Query) > sizeof(Result) ? sizeof(Query)
                                                                         : sizeof(Result);
  static constexpr std::size_t kInBlock =
      kHead + kLargest < am::max_medium() ? (am::max_medium() - kHead) / kLargest : 1;
  static constexpr std::size_t kMostAsked = 64;  // blocks

  // The block is empty afterwards, unless an exception of a handler comes out.
  void ship(std::uint32_t proc, am::SourceLocation where) {
    Block& block = blocks_[proc];
    Asked asked{rpc(
                    rpc_target(proc, where),
                    [](T& there, const F& f, std::span<const Question> all) {
                      std::vector<Answer> answers;
                      answers.reserve(all.size());
                      for (const Question& one : all) answers.push_back({f(there, one.query)});
                      return answers;
                    },
                    object_, f_, std::span<const Question>(block.questions)),
                {}};
    std::swap(asked.to, block.to);
    asked_.push_back(std::move(asked));
    block.questions.clear();
    // Not splitc::poll(), in which a task goes on: it may use these lookups, too.
    detail::poll_bundles();
    while (!asked_.empty() && (asked_.size() > kMostAsked || asked_.front().answered())) {
      take_first(where);
    }
  }
  void take_first(am::SourceLocation where) {
    asked_.front().answers.wait(where);
    Asked first = std::move(asked_.front());
    asked_.pop_front();
    const std::vector<Answer> answers = first.answers.result(where);
    for (std::size_t i = 0; i < answers.size(); ++i) *first.to[i] = answers[i].result;
  }

  dist_object<T>& object_;
  const F f_;
  std::vector<Block> blocks_;  // by process
  std::deque<Asked> asked_;
};

// Lookups in the T of each process, answered by f.
template <class Query, class T, class F>
lookups<Query, T, F> aggregate_lookups(dist_object<T>& object, F f) {
  return {object, f};
}

}  // namespace splitc
