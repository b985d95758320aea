// What a launcher answers over a PMI-1 connection.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "am/job/bootstrap/early_exit.h"
#include "am/job/bootstrap/pmi1.h"
#include "am/types/types.h"
#include "tests/am/fuzz/fuzz.h"

namespace am::fuzz {
namespace {

Bytes line(const std::string& text) {
  Bytes bytes;
  for (const char c : text + "\n") bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

}  // namespace

const int kUsualCases = 20'000;

// Each record is an answer; there is nobody who waits for the questions.
std::vector<Records> valid_inputs() {
  return {{line("cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1"),
           line("cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=16"),
           line("cmd=my_kvsname rc=0 kvsname=kvs_1"), line("cmd=put_result rc=0"),
           line("cmd=barrier_out rc=0"), line("cmd=get_result rc=0 value=3:616263"),
           line("cmd=get_result rc=0 value=9:6465666768696a"),
           line("cmd=get_result rc=0 value=6b6c"), line("cmd=barrier_out")}};
}

bool decode(const Records& input) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
  for (const Bytes& bytes : input) {
    if (bytes.size() > 4096) continue;  // the socket would be full
    if (send(ends[0], bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) std::abort();
  }
  shutdown(ends[0], SHUT_WR);
  bool accepted = true;
  try {
    BootstrapPmi1 launcher(PmiConnection{.rank = 0, .size = 2, .fd = ends[1]});
    const Bytes mine{std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
    if (launcher.exchange(mine).size() != 2) std::abort();
    launcher.barrier();
  } catch (const Error&) {
    accepted = false;
  }
  permit_exit();
  close(ends[0]);
  close(ends[1]);
  return accepted;
}

}  // namespace am::fuzz
