// Children that a process forks have no part in its job.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"
#include "tests/support/in_child.h"

namespace splitc {
namespace fork_test {

using ::test::error_of;
using ::test::left;
using ::test::right;

// Of every kind: whatever a child has changed would be seen here.
void communicate() {
  spread_array<long> words(procs());
  const long mine = long{my_proc()} + 1;
  put(&words[right()], mine);
  sync();
  barrier();
  EXPECT_EQ(words.mine()[0], long{left()} + 1);
  EXPECT_EQ(all_reduce(1u, std::plus<>()), procs());
  EXPECT_EQ(rpc(right(), [] { return my_proc(); }).result(), right());
  barrier();
  store(&words[right()], mine + 1);
  all_store_sync();
  EXPECT_EQ(words.mine()[0], long{left()} + 2);
  EXPECT_EQ(team::world().all_reduce(1u, std::plus<>()), procs());
}

struct Objects {
  Objects()
      : words(procs()),
        edge(100),
        halos(procs() * edge.size(), blocked),
        channel(halos.on(right()), edge) {
    barrier();
  }
  global_ptr<long> at(std::uint32_t proc) { return &words[proc]; }

  spread_array<long> words;
  std::vector<double> edge;
  spread_array<double> halos;
  put_channel<double> channel;
  dist_object<int> number{7};
  store_counter counter;
};

TEST(Fork, EveryCallIsRefusedInAChild) {
  Objects objects;
  const auto at = objects.at(right());
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"barrier", [] { barrier(); }},
      {"all_reduce", [] { all_reduce(1, std::plus<>()); }},
      {"start_barrier", [] { start_barrier().wait(); }},
      {"all_store_sync", [] { all_store_sync(); }},
      {"store_sync", [] { store_sync(8); }},
      {"poll", [] { poll(); }},
      {"wait_until", [] { wait_until([] { return false; }); }},
      {"rpc", [] { rpc(right(), [] {}).wait(); }},
      {"quiesce", [] { quiesce(); }},
      {"team", [] { team::world().barrier(); }},
      {"spread_array", [] { spread_array<int> one(procs()); }},
      {"local_malloc", [] { local_malloc<int>(1); }},
      {"put_channel", [&] { objects.channel.put(), objects.channel.wait(); }},
      {"dist_object", [&] { objects.number.fetch(right()).result(); }},
      {"run", [] { run(0, nullptr, [](Args) {}); }},
  };
  const std::vector<std::pair<const char*, std::function<void()>>> to_others = {
      {"read", [&] { static_cast<void>(long{*at}); }},       {"put", [&] { put(at, 1L), sync(); }},
      {"get", [&] { static_cast<void>(get(at).result()); }}, {"store", [&] { store(at, 1L); }},
      {"fetch_and_add", [&] { fetch_and_add(at, 1L); }},
  };
  std::vector<test::Refused> refused;
  for (const auto& [name, call] : calls) {
    refused.push_back({name, [&call = call] { return error_of(call); }});
  }
  for (const auto& [name, call] : to_others) {
    if (procs() > 1) refused.push_back({name, [&call = call] { return error_of(call); }});
  }
  const test::Child child = test::in_child([&] { return test::not_refused(refused, my_proc()); });
  EXPECT_EQ(child.said, "");
  EXPECT_EQ(child.exit_code, 0);
  communicate();
  objects.channel.put();
  objects.channel.wait();
  barrier();
}

TEST(Fork, TheRefusalSaysWhereTheCallIs) {
  const test::Child child = test::in_child([] { return error_of([] { barrier(); }); });
  EXPECT_NE(child.said.find("barrier: this process, "), std::string::npos) << child.said;
  EXPECT_NE(child.said.find("fork_test.cc:"), std::string::npos) << child.said;
}

TEST(Fork, AChildThatExitsTellsNobody) {
  const test::Child child = test::in_child([]() -> std::string { std::exit(5); });
  EXPECT_EQ(child.said, "");
  EXPECT_EQ(child.exit_code, 5);
  communicate();
}

TEST(Fork, DestructorsInAChildTellNobody) {
  std::optional<Objects> objects;
  objects.emplace();
  bulk_store(objects->halos.on(right()), std::span<const double>(objects->edge), objects->counter);
  const test::Child child = test::in_child([&] {
    objects.reset();
    return std::string("done");
  });
  EXPECT_EQ(child.said, "done");
  EXPECT_EQ(child.exit_code, 0);
  communicate();
  objects->counter.wait(objects->edge.size() * sizeof(double));
  std::iota(objects->edge.begin(), objects->edge.end(), my_proc() * 1000.0);
  barrier();
  objects->channel.put();
  objects->channel.wait();
  EXPECT_EQ(objects->halos.mine()[99], left() * 1000.0 + 99);
  barrier();
}

TEST(Fork, SyncInAChildDoesNotTakeAGetForDone) {
  spread_array<long> words(procs());
  words[my_proc()] = my_proc() + 5;
  barrier();
  long word = 0;
  get(word, words[right()]);
  if (detail::is_far(right())) {  // within the node it is done at once
    const test::Child child = test::in_child([]() -> std::string {
      sync();
      return "synced";
    });
    EXPECT_NE(child.said.find("sync: this process, "), std::string::npos) << child.said;
    EXPECT_EQ(child.exit_code, 1);
  }
  sync();
  EXPECT_EQ(word, right() + 5);
  barrier();
}

// What has called the handler would go on with the parent's connections.
TEST(Fork, AChildThatReturnsFromAHandlerOfAnotherNodesMessageEnds) {
  for (int time = 0; time < 3 && detail::is_far(right()); ++time) {
    rpc(right(), [] {
      if (const pid_t child = fork(); child > 0) waitpid(child, nullptr, 0);
    }).wait();
  }
  communicate();
}

// It has what its parent had when it forked, or later: as a child that writes it to a file needs.
TEST(Fork, AChildReadsTheMemoryOfItsParent) {
  spread_array<long> words(procs() * 1000L, blocked);
  std::iota(words.mine().begin(), words.mine().end(), 1L);
  const test::Child child = test::in_child([&] {
    return std::to_string(std::accumulate(words.mine().begin(), words.mine().end(), 0L));
  });
  EXPECT_EQ(child.said, "500500");
  barrier();
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which leave no room
// While it is alive, this process may map so many bytes more.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(rlim_t more) {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before_);
    rlimit limits = before_;
    limits.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more;
    is_set_ = setrlimit(RLIMIT_AS, &limits) == 0;
  }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }

  bool is_set() const { return is_set_; }

 private:
  rlimit before_{};
  bool is_set_ = false;
};

TEST(Fork, AChildNeedsNoAddressSpaceOfItsOwn) {
  spread_array<long> words(procs());
  words.mine()[0] = my_proc() + 5;
  const auto at = &words[right()];
  test::Child child;
  {
    const AddressSpaceLimit limit(rlim_t{32} << 20);
    if (!limit.is_set()) GTEST_SKIP() << "the system has not taken the limit";
    child = test::in_child([&]() -> std::string {
      if (error_of([&] { put(at, 1L), sync(); }).empty() && procs() > 1) return "put";
      if (error_of([] { barrier(); }).find("was forked") == std::string::npos) return "barrier";
      return std::to_string(words.mine()[0]);
    });
  }
  EXPECT_EQ(child.said, std::to_string(my_proc() + 5));
  EXPECT_EQ(child.exit_code, 0);
  barrier();
  EXPECT_EQ(long{*at}, right() + 5);
  communicate();
}
#endif

}  // namespace fork_test
}  // namespace splitc
