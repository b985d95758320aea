// What a launcher answers over a PMI-1 connection.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "am/job/bootstrap/endings.h"
#include "am/job/bootstrap/launchers.h"
#include "am/job/bootstrap/packing.h"
#include "am/types/types.h"
#include "tests/am/fuzz/fuzz.h"

namespace am::fuzz {
namespace {

Bytes line(const std::string& text) {
  Bytes bytes;
  for (const char c : text + "\n") bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

constexpr std::uint32_t kMany = 20;  // processes that put together what they say

// A job of so many in which all say "abc".
Records many(Records said) {
  const Bytes abc{std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
  Packer packer;
  said.push_back(line("cmd=put_result rc=0"));
  said.push_back(line("cmd=barrier_out"));
  for (std::uint32_t rank = 0; rank < kMany; ++rank) {
    packer.add(abc);
    said.push_back(line("cmd=get_result rc=0 value=3:YWJj"));
  }
  constexpr std::size_t kValue = 15;  // characters, as vallen_max says
  const std::string text = to_pmi_text(packer.take());
  for (std::size_t at = 0; at < text.size(); at += kValue) {
    said.push_back(line("cmd=put_result rc=0"));
  }
  said.push_back(line("cmd=barrier_out"));
  for (std::size_t at = 0; at < text.size(); at += kValue) {
    said.push_back(line("cmd=get_result rc=0 value=" + text.substr(at, kValue)));
  }
  said.push_back(line("cmd=barrier_out"));
  return said;
}

}  // namespace

const int kUsualCases = 20'000;

// Each record is an answer; there is nobody who waits for the questions.
std::vector<Records> valid_inputs() {
  const Records begin = {line("cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1"),
                         line("cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=16"),
                         line("cmd=my_kvsname rc=0 kvsname=kvs_1")};
  Records few = begin;
  for (const char* said :
       {"cmd=put_result rc=0", "cmd=barrier_out", "cmd=get_result rc=0 value=3:YWJj",
        "cmd=get_result rc=0 value=12:ZGVmZ2hpamts", "cmd=get_result rc=0 value=bW5v",
        "cmd=barrier_out"}) {
    few.push_back(line(said));
  }
  return {few, many(begin)};
}

bool decode(const Records& input) {
  const std::uint32_t size = input.size() < kMany ? 2 : kMany;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
  for (const Bytes& bytes : input) {
    if (bytes.size() > 4096) continue;  // the socket would be full
    if (send(ends[0], bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) std::abort();
  }
  shutdown(ends[0], SHUT_WR);
  bool accepted = true;
  try {
    const auto launcher = join_pmi1({.rank = 0, .size = size, .fd = ends[1]});
    const Bytes mine{std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
    if (launcher->exchange(mine).size() != size) std::abort();
    launcher->barrier();
  } catch (const Error&) {
    accepted = false;
  }
  permit_exit();
  close(ends[0]);
  close(ends[1]);
  return accepted;
}

}  // namespace am::fuzz
