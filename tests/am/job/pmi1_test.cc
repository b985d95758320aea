#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "am/job/bootstrap/endings.h"
#include "am/job/bootstrap/launchers.h"
#include "tests/am/job/fake_launcher.h"

namespace am {
namespace pmi1_test {

using test::FakeLauncher;

std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + count);
  return bytes;
}

// That every exchange of these sizes gives everybody what was given.
void expect_exchanges(const FakeLauncher& launcher, std::uint32_t size) {
  const auto job = join_pmi1(launcher.connection());
  EXPECT_EQ(job->rank(), 0u);
  EXPECT_EQ(job->size(), size);
  for (const std::size_t count : {512, 0, 1, 200, 0, 511}) {
    const auto mine = some_bytes(count);
    const auto all = job->exchange(mine);
    ASSERT_EQ(all.size(), size);
    for (const auto& blob : all) EXPECT_EQ(blob, mine);
    job->barrier();
  }
}

void expect_refused(const std::function<void()>& call, std::initializer_list<std::string> parts) {
  try {
    call();
    ADD_FAILURE() << "not refused; expected: " << *parts.begin();
  } catch (const Error& error) {
    const std::string sentence = error.what();
    EXPECT_TRUE(sentence.starts_with("rank 0: the launcher at PMI_FD=")) << sentence;
    for (const std::string& part : parts) {
      EXPECT_NE(sentence.find(part), std::string::npos) << "no \"" << part << "\" in: " << sentence;
    }
  }
}

// What a launcher that lies at one point gets to hear, from an attempt to do everything.
void expect_lie_noticed(const std::string& command, const std::string& lie,
                        std::initializer_list<std::string> parts) {
  SCOPED_TRACE(command + " answered by " + lie.substr(0, 60));
  const FakeLauncher launcher({.size = 2, .lies = {{command, lie}}});
  expect_refused(
      [&] {
        const auto job = join_pmi1(launcher.connection());
        job->exchange(some_bytes(100));
        job->finished();
      },
      parts);
}

// Conversations that break off do not keep this process from leaving.
class BootstrapPmi1Test : public testing::Test {
 protected:
  void TearDown() override { permit_exit(); }
};

TEST_F(BootstrapPmi1Test, exchanges_blobs_of_all_sizes_in_several_rounds) {
  expect_exchanges(FakeLauncher({}), 1);
  expect_exchanges(FakeLauncher({.size = 11}), 11);
}

TEST_F(BootstrapPmi1Test, splits_blobs_into_values_that_fit) {
  for (const char* max : {"17", "64", "1025", "1000000"}) {
    expect_exchanges(FakeLauncher({.size = 3, .value_max = max}), 3);
  }
}

TEST_F(BootstrapPmi1Test, takes_answers_that_come_in_pieces) {
  expect_exchanges(FakeLauncher({.size = 2, .byte_by_byte = true}), 2);
}

TEST_F(BootstrapPmi1Test, waits_on_a_socket_that_does_not_block) {
  const FakeLauncher launcher({.size = 2, .byte_by_byte = true});
  fcntl(launcher.connection().fd, F_SETFL, O_NONBLOCK);
  expect_exchanges(launcher, 2);
}

TEST_F(BootstrapPmi1Test, programs_that_it_starts_do_not_get_the_socket) {
  const FakeLauncher launcher({});
  const auto job = join_pmi1(launcher.connection());
  EXPECT_EQ(fcntl(launcher.connection().fd, F_GETFD), FD_CLOEXEC);
}

TEST_F(BootstrapPmi1Test, says_goodbye_once_and_only_when_finished) {
  FakeLauncher launcher({});
  {
    const auto job = join_pmi1(launcher.connection());
    job->finished();
    job->finished();
  }
  const auto heard = launcher.heard();
  EXPECT_EQ(std::count(heard.begin(), heard.end(), "cmd=finalize"), 1);
  FakeLauncher other({});
  { const auto job = join_pmi1(other.connection()); }
  EXPECT_EQ(other.heard().back(), "cmd=get_my_kvsname");
}

TEST_F(BootstrapPmi1Test, abort_tells_the_launcher_and_says_the_sentence) {
  FakeLauncher launcher({});
  EXPECT_EXIT(join_pmi1(launcher.connection())->abort(7, "rank 0: no more room"),
              testing::ExitedWithCode(7), "^rank 0: no more room\n$");
  EXPECT_EQ(launcher.heard().back(), "cmd=abort exitcode=7");
}

TEST_F(BootstrapPmi1Test, closed_descriptor_is_refused) {
  expect_refused([] { join_pmi1({.rank = 0, .size = 1, .fd = 999}); },
                 {"PMI_FD=999: PMI_FD is not open", "mpiexec.hydra"});
}

TEST_F(BootstrapPmi1Test, what_is_no_socket_is_refused) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  expect_refused([&] { join_pmi1({.rank = 0, .size = 1, .fd = ends[1]}); }, {"not listen"});
  close(ends[0]);
  close(ends[1]);
}

TEST_F(BootstrapPmi1Test, launcher_that_dies_at_any_point_is_noticed) {
  for (const char* command :
       {"init", "get_maxes", "get_my_kvsname", "put", "barrier_in", "get", "finalize"}) {
    expect_lie_noticed(command, "", {"closed the connection"});
  }
}

TEST_F(BootstrapPmi1Test, answers_that_are_none_are_refused) {
  expect_lie_noticed("init", "HTTP/1.1 400 Bad Request\n", {"HTTP/1.1 400", "cmd=init"});
  expect_lie_noticed("init", "cmd=response_to_init rc=-1\n", {"refused"});
  expect_lie_noticed("init", std::string(100'000, 'x'), {"no end"});
  expect_lie_noticed("get_maxes", "cmd=maxes\n", {"no room"});
  expect_lie_noticed("get_maxes", "cmd=maxes vallen_max=1\n", {"no room"});
  expect_lie_noticed("put", "cmd=put_result rc=-1 msg=full\n", {"refused", "msg=full"});
  expect_lie_noticed("barrier_in", "\n", {"answered \"\""});
  expect_lie_noticed("get", "cmd=get_result rc=-1 msg=none\n", {"refused"});
  expect_lie_noticed("finalize", "cmd=cmd=cmd\n", {"cmd=cmd=cmd"});
}

TEST_F(BootstrapPmi1Test, damaged_blobs_are_refused) {
  for (const char* value : {"", ":", "2", "2:", "2:ab", "2:abcd", "2:ab+", "2:a=b", "513:00",
                            "-1:00", "99999999999999999999:00", "3:abc"}) {
    expect_lie_noticed("get", std::string("cmd=get_result rc=0 value=") + value + "\n",
                       {"address of rank 0", "damaged"});
  }
}

}  // namespace pmi1_test
}  // namespace am
