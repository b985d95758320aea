// What is said of jobs that stand still: each mistake of tests/jobs/hang.cc is named with its line.
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/am/job/program.h"
#include "tests/support/free_port.h"
#include "tests/support/marked_line.h"

namespace hang {

using am::test::Program;
using am::test::run;
using Words = std::vector<std::string>;

constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";
constexpr const char* kHang = "tests/jobs/hang";
constexpr const char* kSource = "tests/jobs/hang.cc";
#ifdef __clang__
constexpr const char* kLambda = "$_";
#else
constexpr const char* kLambda = "{lambda(am::OneWay)#1}";
#endif

// "tests/jobs/hang.cc:40", the line that ends with "// line: <mark>".
std::string place_of(const std::string& mark) { return test::marked_line(kSource, mark); }

// `text` with the places for "<mark>".
std::string with_places(std::string text) {
  for (std::size_t begin; (begin = text.find('<')) != std::string::npos;) {
    const std::size_t end = text.find('>', begin);
    text.replace(begin, end - begin + 1, place_of(text.substr(begin + 1, end - begin - 1)));
  }
  return text;
}

Words hang(int size, Words options, const std::string& mistake) {
  Words words{kSplitcrun, "-n", std::to_string(size)};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {kHang, mistake});
  return words;
}

struct Planted {
  const char* mistake;
  int size;
  int nodes;
  std::vector<const char*> said;  // some time, in this order or another
};
void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.mistake; }

const Planted kPlanted[] = {
    {"barrier",
     4,
     1,
     {"3 processes in barrier at <barrier> for ", " (ranks 0, 2-3); ",
      "rank 1 in store_sync at <elsewhere>, 8 bytes of 8 missing, for "}},
    {"store_sync",
     2,
     1,
     {"rank 1 in store_sync at <store_sync>, 120 bytes of 128 missing, for ",
      "rank 0 in barrier at <after_store> for "}},
    {"store_sync",
     2,
     2,
     {"rank 1 in store_sync at <store_sync>, 120 bytes of 128 missing, for ",
      "rank 0 in barrier at <after_store> for "}},
    {"lock",
     3,
     1,
     {"rank 0 in barrier at <owner> for ", "2 processes in wait_until at <lock> for ",
      "(ranks 1-2)"}},
    {"each_other", 2, 1, {"2 processes in Bundle::wait_until at <first> for "}},
    {"handler",
     2,
     1,
     {"rank 0 in store_sync at <handler>, 1 bytes of 1 missing, for ",
      "rank 1 in handler on_endless of a message of rank 0 for "}},
    {"handler", 2, 2, {"rank 1 in handler on_endless of a message of rank 0 for "}},
    {"returned", 2, 1, {"rank 1 in on_returned for a message to rank 0 for "}},
    {"lambda", 2, 1, {"rank 1 in handler ", kLambda, "of a message of rank 0 for "}},
    {"put",
     2,
     1,
     {"rank 1 in put_channel::wait at <put>, needs a put of rank 0, for ",
      "rank 0 in barrier at <after_put> for "}},
    {"channel",
     2,
     1,
     {"rank 0 in put_channel at <channel>",
      "rank 1 in store_sync at <no_channel>, 8 bytes of 8 missing, for "}},
    {"stopped",
     3,
     1,
     {"is stopped by signal", "rank 1 stopped by a signal, ",
      "2 processes in barrier at <stopped> for "}},
    {"credit",
     2,
     1,
     {"rank 0 in request at <credit>, needs a credit of rank 1, for ",
      "rank 1 computing without a poll for "}},
    {"transfer",
     2,
     2,
     {"rank 0 in ZeroCopy::wait at <transfer>, needs the end of its transfers, for ",
      "rank 1 computing without a poll for "}},
    {"get",
     2,
     2,
     {"rank 0 in sync at <get>, needs an answer of rank 1, for ",
      "rank 1 computing without a poll for "}},
};

class Hang : public testing::TestWithParam<Planted> {};

TEST_P(Hang, is_explained) {
  const Planted& planted = GetParam();
  Words options{"--stall-report", "0.4"};
  if (planted.nodes > 1) options.insert(options.end(), {"--nodes", std::to_string(planted.nodes)});
  Program job(hang(planted.size, options, planted.mistake));
  for (const char* said : planted.said) {
    const std::string text = with_places(said);
    const std::string& error = job.wait_for_error(text);
    ASSERT_NE(error.find(text), std::string::npos) << "no \"" << text << "\" in: " << error;
  }
  job.signal(SIGTERM);
  EXPECT_NE(job.finish().exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Planted, Hang, testing::ValuesIn(kPlanted), [](const auto& info) {
  const Planted& planted = info.param;
  return std::string(planted.mistake) + (planted.nodes > 1 ? "_of_nodes" : "");
});

TEST(Stall, ends_the_job_if_asked_to) {
  const auto result = run(hang(2, {"--stall-timeout", "2", "--stall-report", "0"}, "store_sync"));
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_NE(result.err.find(with_places("rank 1 in store_sync at <store_sync>, ")),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("the job made no progress in time (--stall-timeout); ending its 2 "
                            "processes"),
            std::string::npos)
      << result.err;
}

// Ranks 0 and 1 of a job without a launcher.
std::pair<std::unique_ptr<Program>, std::unique_ptr<Program>> start_two(const char* mistake) {
  const std::string port = std::to_string(test::free_port());
  const auto start = [&](int rank) {
    return std::make_unique<Program>(Words{
        "env", "SPLITC_STALL=0.4", "SPLITC_RENDEZVOUS=127.0.0.1:" + port, "SPLITC_SIZE=2",
        "SPLITC_SECRET=0123456789abcdef", "SPLITC_RANK=" + std::to_string(rank), kHang, mistake});
  };
  auto zero = start(0);
  return {std::move(zero), start(1)};
}

// It could never end. Under a launcher, which ends it, and without one.
TEST(Stall, of_one_that_waits_for_who_has_finished_ends_the_job) {
  const std::string why = with_places(
      "rank 1 in barrier at <widowed> waits for rank 0, which has finished, and so for ever: ");
  const auto launched = run(hang(2, {"--stall-report", "0.4"}, "finished"));
  EXPECT_EQ(launched.exit_code, 1);
  EXPECT_NE(launched.err.find(why), std::string::npos) << launched.err;
  EXPECT_NE(launched.err.find("ending its "), std::string::npos) << launched.err;
  const auto [zero, one] = start_two("finished");
  const auto met = one->finish();
  EXPECT_EQ(met.exit_code, 1);
  EXPECT_NE(met.err.find(why), std::string::npos) << met.err;
  zero->finish();
}

TEST(Stall, is_reported_when_the_time_is_over) {
  const auto result = run(hang(2, {"--timeout", "3"}, "each_other"));
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_NE(result.err.find(with_places("splitcrun: now: 2 processes in Bundle::wait_until at "
                                        "<first>")),
            std::string::npos)
      << result.err;
}

// Who is asked answers, and goes on.
TEST(Stall, is_reported_when_asked_by_a_signal) {
  Program job(hang(2, {"--stall-report", "0.4"}, "lock"));
  const std::string text = with_places("rank 1 in wait_until at <lock>");
  job.wait_for_error(text);
  job.signal(SIGUSR1);
  const std::string answer = "splitcrun: now: ";
  const std::string error = job.wait_for_error(answer);
  const std::size_t at = error.find(answer);
  ASSERT_NE(at, std::string::npos) << error;
  EXPECT_NE(error.find(text, at), std::string::npos) << error;
  job.signal(SIGQUIT);
  const auto result = job.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGQUIT);
  EXPECT_NE(result.err.find(answer, at + 1), std::string::npos) << result.err;
}

TEST(Stall, of_a_program_without_a_launcher_is_reported_by_itself) {
  Program job({"env", "SPLITC_STALL=0.4", kHang, "alone"});
  const std::string text =
      with_places("rank 0 in store_sync at <alone>, 16 bytes of 16 missing, for ");
  EXPECT_NE(job.wait_for_error(text).find(text), std::string::npos);
  const std::string answer = "rank 0: now: rank 0 in store_sync";
  job.signal(SIGUSR1);
  EXPECT_NE(job.wait_for_error(answer).find(answer), std::string::npos);
  job.signal(SIGTERM);
  EXPECT_EQ(job.finish().exit_code, 128 + SIGTERM);
}

// By the first of a node that waits, for all of that node.
TEST(Stall, of_processes_that_have_met_is_reported_by_one) {
  const auto [zero, one] = start_two("store_sync");
  for (const char* said : {"rank 1 in store_sync at <store_sync>, 120 bytes of 128 missing, for ",
                           "rank 0 in barrier at <after_store> for "}) {
    const std::string text = with_places(said);
    EXPECT_NE(zero->wait_for_error(text).find(text), std::string::npos);
  }
  zero->signal(SIGKILL);
  EXPECT_EQ(zero->finish().exit_code, 128 + SIGKILL);
  const auto result = one->finish();
  EXPECT_NE(result.exit_code, 0);
  // Once the other one has died it may have reported that, before it ended.
  const std::size_t report = result.err.find("no progress");
  if (report != std::string::npos) {
    EXPECT_NE(result.err.find("rank 0 ended", report), std::string::npos) << result.err;
  }
}

// Who cannot report, as it blocks outside, is followed by the next.
TEST(Stall, is_reported_by_another_if_the_first_that_waits_is_silent) {
  const auto [zero, one] = start_two("exchange");
  const std::string text = with_places("rank 1 in barrier at <before_exchange> for ");
  EXPECT_NE(one->wait_for_error(text).find(text), std::string::npos);
  zero->signal(SIGKILL);
  EXPECT_NE(one->finish().exit_code, 0);
  EXPECT_EQ(zero->finish().exit_code, 128 + SIGKILL);
}

TEST(Stall, can_be_asked_for_too_late) { EXPECT_EQ(run({kHang, "none"}).exit_code, 0); }

TEST(Error, of_a_bundle_that_a_handler_ends_while_it_waits) {
  for (const char* mistake : {"end_in_barrier", "end_in_quiesce"}) {
    for (const char* nodes : {"1", "2"}) {
      const auto result = run(hang(2, {"--nodes", nodes}, mistake));
      EXPECT_EQ(result.exit_code, 1) << mistake;
      EXPECT_NE(result.err.find("rank 1: ~Bundle: a bundle may not end while it polls or waits"),
                std::string::npos)
          << result.err;
    }
  }
}

// A forked child speaks for itself alone: the rank goes on, and may end the job later.
TEST(Error, of_a_child_does_not_end_the_job) {
  const auto result = run(hang(2, {}, "child"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("a child of rank 0: a mistake of the child\n"), std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("rank 0: the child left 1; "), std::string::npos) << result.err;
}

TEST(Error, of_the_program_is_not_that_of_a_handler_before) {
  const auto result = run(hang(2, {}, "throw_later"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("rank 1: a mistake of its own; "), std::string::npos) << result.err;
}

TEST(Error, of_a_handler_says_which_and_whose_message) {
  const auto result = run(hang(2, {}, "throw"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("rank 1: nothing is right (thrown by handler on_wrong of a message of "
                            "rank 0)"),
            std::string::npos)
      << result.err;
}

}  // namespace hang
