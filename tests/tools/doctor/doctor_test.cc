// splitc-doctor as people run it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shmem/node.h"
#include "tests/am/job/program.h"
#include "tests/support/text.h"

namespace am::doctor {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using ::test::expect_contains;
using test::run;
using Words = std::vector<std::string>;

constexpr const char* kDoctor = "tools/doctor/splitc-doctor";
constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";

// The exit code that its findings ask for.
int worst_of(const Json& report) {
  int worst = 0;
  for (const Json& one : report["findings"]) {
    worst = std::max(worst, one["severity"] == "error" ? 2 : one["severity"] == "warning" ? 1 : 0);
  }
  return worst;
}

// What `command`, which says --json, reports; its exit code has to be right.
Json report_of(const Words& command) {
  const auto result = run(command);
  const Json report = Json::parse(result.out, nullptr, false);
  if (report.is_discarded()) {
    ADD_FAILURE() << result.out << result.err;
    return Json::object();
  }
  EXPECT_EQ(result.exit_code, worst_of(report)) << result.out << result.err;
  EXPECT_EQ(result.exit_code, report["exit_code"]);
  return report;
}

// All findings of that check.
std::vector<Json> findings_of(const Json& report, const std::string& check) {
  std::vector<Json> found;
  for (const Json& one : report["findings"]) {
    if (one["check"] == check) found.push_back(one);
  }
  return found;
}

Json finding_of(const Json& report, const std::string& check) {
  const std::vector<Json> found = findings_of(report, check);
  EXPECT_EQ(found.size(), 1u) << check << " in " << report.dump(1);
  return found.empty() ? Json{{"severity", ""}, {"seen", ""}} : found[0];
}

std::string seen_of(const Json& report, const std::string& check) {
  return finding_of(report, check)["seen"];
}

TEST(Doctor, alone_says_the_same_in_text_and_in_json) {
  const Json report = report_of({kDoctor, "--json"});
  ASSERT_GT(report["findings"].size(), 15u);
  const auto result = run({kDoctor, "--all"});
  EXPECT_EQ(result.exit_code, report["exit_code"]);
  EXPECT_EQ(result.err, "");
  expect_contains(run({kDoctor}).out, {"(--all prints them)\n"});
  for (const Json& one : report["findings"]) {
    for (const char* const part : {"check", "severity", "seen", "means"}) {
      EXPECT_NE(one[part], "") << one.dump(1);
    }
    EXPECT_TRUE(one["severity"] == "remark" || one["remedy"] != "") << one.dump(1);
    expect_contains(result.out, {std::string(one["severity"]) + ": " + std::string(one["check"])});
  }
}

TEST(Doctor, has_the_worst_first) {
  const Json report = report_of({kDoctor, "--json", "-n", "1000"});
  const auto rank = [](const Json& one) {
    return one["severity"] == "error" ? 2 : one["severity"] == "warning" ? 1 : 0;
  };
  for (std::size_t i = 1; i < report["findings"].size(); ++i) {
    EXPECT_GE(rank(report["findings"][i - 1]), rank(report["findings"][i]));
  }
}

TEST(Doctor, compares_processes_with_cores) {
  const Json many = finding_of(report_of({kDoctor, "--json", "-n", "100000"}), "cores");
  EXPECT_EQ(many["severity"], "warning");
  const Json one = finding_of(report_of({kDoctor, "--json", "-n", "1"}), "cores");
  EXPECT_EQ(one["severity"], "remark");
}

TEST(Doctor, sees_lowered_limits) {
  const Json report = report_of({"prlimit", "--nofile=20:20", "--memlock=65536:65536",
                                 "--fsize=1048576:1048576", kDoctor, "--json"});
  EXPECT_EQ(report["exit_code"], 2);
  EXPECT_EQ(finding_of(report, "open-files")["severity"], "error");
  expect_contains(seen_of(report, "open-files"), {"20 files"});
  expect_contains(seen_of(report, "memlock"), {"64 KiB may be locked"});
  EXPECT_EQ(finding_of(report, "memory-limits")["severity"], "error");
  expect_contains(seen_of(report, "memory-limits"), {"1 MiB"});
}

TEST(Doctor, names_files_of_dead_processes) {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, nullptr, 0);
  const std::string name = std::to_string(pid) + ":" + std::to_string(getuid()) + ":0";
  const fs::path path = fs::path("/dev/shm") / name;
  if (!(std::ofstream(path) << "left")) GTEST_SKIP() << "no file can be made in /dev/shm";
  const Json finding = finding_of(report_of({kDoctor, "--json"}), "leftovers");
  fs::remove(path);
  EXPECT_EQ(finding["severity"], "warning");
  expect_contains(finding["seen"], {name});
  expect_contains(finding["remedy"], {"rm /dev/shm/", name});
}

TEST(Doctor, says_which_settings_are_refused) {
  const Json report = report_of({"env", "SPLITC_WAIT=sleepy", kDoctor, "--json"});
  EXPECT_EQ(finding_of(report, "settings")["severity"], "error");
  expect_contains(seen_of(report, "settings"), {"SPLITC_WAIT=sleepy: not a way to wait"});
}

// A folder whose libfabric.so.1 is `file`, or empty.
class OtherLibfabric {
 public:
  explicit OtherLibfabric(const std::string& file = "")
      : path_(fs::path(testing::TempDir()) / ("lib" + std::to_string(getpid()))) {
    fs::create_directories(path_);
    const fs::path library = path_ / "libfabric.so.1";
    if (file.empty()) {
      std::ofstream(library) << "no library";
    } else {
      fs::create_symlink(fs::absolute(file), library);
    }
  }
  ~OtherLibfabric() { fs::remove_all(path_); }
  std::string variable() const { return "LD_LIBRARY_PATH=" + path_.string(); }

 private:
  fs::path path_;
};

TEST(Doctor, survives_a_libfabric_that_cannot_be_loaded) {
  const OtherLibfabric other;
  const Words command{"env", other.variable(), kDoctor, "--json", "-n", "4", "--nodes"};
  Words two = command, one = command;
  two.push_back("2");
  one.push_back("1");
  EXPECT_EQ(finding_of(report_of(two), "libfabric")["severity"], "error");
  EXPECT_EQ(finding_of(report_of(one), "libfabric")["severity"], "remark");
}

TEST(Doctor, survives_a_libfabric_that_crashes) {
  const OtherLibfabric other("tests/tools/doctor/libcrashes.so");
  const Json report =
      report_of({"env", other.variable(), kDoctor, "--json", "-n", "4", "--nodes", "2"});
  EXPECT_EQ(finding_of(report, "libfabric")["severity"], "error");
  expect_contains(seen_of(report, "libfabric"), {"libfabric crashed (SIGKILL)"});
}

TEST(DoctorInJob, reports_both_nodes_once) {
  const Json report = report_of({kSplitcrun, "-n", "4", "--nodes", "2", kDoctor, "--json"});
  ASSERT_EQ(report["nodes"].size(), 2u);
  EXPECT_EQ(report["nodes"][0]["ranks"], "0,1");
  EXPECT_EQ(report["nodes"][1]["ranks"], "2,3");
  std::string host(256, 0);
  gethostname(host.data(), host.size() - 1);
  EXPECT_EQ(report["nodes"][0]["host"], host.c_str());
  expect_contains(seen_of(report, "start"), {"a job of 4 processes on 2 nodes has started"});
  EXPECT_EQ(seen_of(report, "settings"), "no variable of the library is set");
  const Json cores = finding_of(report, "cores");
  EXPECT_EQ(cores["nodes"], (std::vector<int>{0, 1}));
  EXPECT_EQ(cores["severity"], shmem::usable_cores() < 4 ? "warning" : "remark");
}

TEST(DoctorInJob, of_one_node_and_of_one_process_reports_too) {
  for (const char* const processes : {"1", "3"}) {
    const Json report = report_of({kSplitcrun, "-n", processes, kDoctor, "--json"});
    EXPECT_EQ(report["nodes"].size(), 1u) << processes;
    EXPECT_EQ(finding_of(report, "start")["severity"], "remark") << processes;
  }
}

// Those of the second node get less.
TEST(DoctorInJob, says_on_which_node_something_differs) {
  const std::string script = "if [ $SPLITC_RANK -ge 2 ]; then exec prlimit --memlock=65536:65536 " +
                             std::string(kDoctor) +
                             " $*; fi; exec prlimit --memlock=131072:131072 " + kDoctor + " $*";
  const Words command{kSplitcrun, "-n", "4", "--nodes", "2", "sh", "-c", script, "doctor"};
  Words json = command;
  json.push_back("--json");
  const Json report = report_of(json);
  const std::vector<Json> found = findings_of(report, "memlock");
  ASSERT_EQ(found.size(), 2u) << report.dump(1);
  for (const Json& one : found) {
    const bool second = one["nodes"] == std::vector<int>{1};
    expect_contains(one["seen"], {second ? "64 KiB" : "128 KiB"});
  }
  Words all = command;
  all.push_back("--all");
  expect_contains(run(all).out, {"memlock, on node 0: 128 KiB", "memlock, on node 1: 64 KiB"});
  EXPECT_EQ(run(command).out.find("remark: "), std::string::npos);
}

TEST(DoctorInJob, that_does_not_start_still_reports_of_its_machine) {
  const auto result =
      run({"env", "SPLITC_INTERFACE=nowhere7", kSplitcrun, "-n", "2", "--nodes", "2", kDoctor});
  EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
  expect_contains(result.out, {"error: start\n", "nowhere7"});
}

TEST(DoctorInJob, whose_libfabric_crashes_still_reports) {
  const OtherLibfabric other("tests/tools/doctor/libcrashes.so");
  const auto result =
      run({"env", other.variable(), kSplitcrun, "-n", "2", "--nodes", "2", kDoctor});
  EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
  expect_contains(result.out, {"error: libfabric\n", "crashed (SIGKILL)"});
}

TEST(DoctorOptions, that_make_no_sense_are_refused) {
  for (const Words& words : std::vector<Words>{
           {"-n", "0"}, {"-n", "many"}, {"-n", "2", "--nodes", "3"}, {"--no-such"}, {"surplus"}}) {
    Words command{kDoctor};
    command.insert(command.end(), words.begin(), words.end());
    const auto result = run(command);
    EXPECT_EQ(result.exit_code, 3) << words[0];
    EXPECT_EQ(result.out, "") << words[0];
    EXPECT_TRUE(result.err.starts_with("splitc-doctor: ")) << result.err;
  }
}

TEST(DoctorOptions, help_and_version_are_printed) {
  expect_contains(run({kDoctor, "--help"}).out,
                  {"NAME", "SYNOPSIS", "EXIT STATUS", "--json", "--all", "--nodes", "-n N"});
  EXPECT_TRUE(run({kDoctor, "--version"}).out.starts_with("splitc-doctor (Splitphase) "));
}

TEST(Doctor, tunes_a_job_of_a_process_on_each_node_which_takes_what_it_has_found) {
  const auto tuned = run({kSplitcrun, "-n", "2", "--nodes", "2", kDoctor, "--tune"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  const std::string file = testing::TempDir() + "/limits-" + std::to_string(getpid());
  std::ofstream(file) << tuned.out;
  const auto tuned_job = run({"env", "SPLITC_VERBOSE=1", "SPLITC_COLLECTIVES=" + file, kSplitcrun,
                              "-n", "2", "--nodes", "2", kDoctor, "--tune"});
  fs::remove(file);
  ASSERT_TRUE(tuned.out.starts_with("broadcast_tree=")) << tuned.out;
  const std::string last = tuned.out.substr(tuned.out.rfind("scan_chain="));
  expect_contains(tuned_job.out, {"collective calls between them: broadcast_tree=",
                                  last.substr(0, last.find('\n'))});

  const auto alone = run({kDoctor, "--tune"});
  EXPECT_EQ(alone.exit_code, 2);
  expect_contains(alone.err, {"measures between nodes: start it with one process on each"});
  const auto near = run({kSplitcrun, "-n", "3", "--nodes", "2", kDoctor, "--tune"});
  EXPECT_NE(near.exit_code, 0);
  expect_contains(near.err, {"measures between nodes"});
}

TEST(Doctor, a_job_whose_processes_have_other_limits_does_not_start) {
  const auto job =
      run({kSplitcrun, "-n", "2", "--nodes", "2", "sh", "-c",
           "SPLITC_COLLECTIVES=scan_chain=$SPLITC_RANK exec " + std::string(kDoctor) + " --tune"});
  EXPECT_NE(job.exit_code, 0);
  expect_contains(job.err, {"has another SPLITC_COLLECTIVES; give every process the same"});
}

}  // namespace
}  // namespace am::doctor
