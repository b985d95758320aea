#include "am/job/bootstrap/pmi1.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "am/job/bootstrap/early_exit.h"
#include "am/job/bootstrap/last_words.h"
#include "am/job/bootstrap/mpi_state.h"

namespace am {
namespace {

constexpr std::size_t kMaxLine = 65536;  // beyond it this is no launcher's answer
constexpr std::size_t kMinValue = 16;    // characters; every launcher offers hundreds
constexpr std::size_t kMaxValue = 960;   // so that a line stays below the 1024 that some read
constexpr std::string_view kHex = "0123456789abcdef";

// A blob as characters that every launcher takes: how many, then two digits each.
std::string to_text(std::span<const std::byte> blob) {
  std::string text = std::to_string(blob.size()) + ":";
  for (const std::byte one : blob) {
    text.push_back(kHex[std::to_integer<unsigned>(one) >> 4]);
    text.push_back(kHex[std::to_integer<unsigned>(one) & 15]);
  }
  return text;
}

// How many characters a text that begins like this has in all; none: that is no such text.
std::optional<std::size_t> text_size(std::string_view begin) {
  const std::size_t colon = begin.find(':');
  std::size_t bytes = 0;
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto [end, error] = std::from_chars(begin.data(), begin.data() + colon, bytes);
  if (error != std::errc() || end != begin.data() + colon) return std::nullopt;
  if (bytes > Bootstrap::kMaxBlob) return std::nullopt;
  return colon + 1 + 2 * bytes;
}

// None: not what to_text made.
std::optional<std::vector<std::byte>> from_text(std::string_view text) {
  if (text_size(text) != text.size()) return std::nullopt;
  text.remove_prefix(text.find(':') + 1);
  std::vector<std::byte> blob;
  for (; !text.empty(); text.remove_prefix(2)) {
    const std::size_t high = kHex.find(text[0]);
    const std::size_t low = kHex.find(text[1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    blob.push_back(static_cast<std::byte>(high << 4 | low));
  }
  return blob;
}

std::size_t number_or_0(const std::string& text) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void wait_for(int fd, short events) {
  pollfd watched{.fd = fd, .events = events, .revents = 0};
  poll(&watched, 1, -1);
}

// Whether MPI has spoken to the launcher on the same descriptor and closed it: its number may be
// another's by now.
bool closed_by_mpi() { return mpi_phase() == MpiPhase::kFinalized && mpi_uses_pmi1(); }

// Returns 0 or an errno.
int send_line(int fd, std::string_view line) {
  std::string text(line);
  text.push_back('\n');
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t sent = send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      wait_for(fd, POLLOUT);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

std::string abort_command(int exit_code) {
  return "cmd=abort exitcode=" + std::to_string(exit_code);
}

constexpr std::string_view kGoodbye = "cmd=finalize";

// Says goodbye and waits for the answer, or for the launcher's end.
void say_goodbye(int fd) {
  if (send_line(fd, kGoodbye) != 0) return;
  for (char one = 0; one != '\n';) {
    const ssize_t got = recv(fd, &one, 1, 0);
    if (got > 0 || (got < 0 && errno == EINTR)) continue;
    if (got == 0 || errno != EAGAIN) return;
    wait_for(fd, POLLIN);
  }
}

// An MPI library of the program's has the descriptor, or has closed it.
void refuse_beside_mpi(const PmiConnection& pmi) {
  const MpiPhase phase = mpi_phase();
  const bool finalized = phase == MpiPhase::kFinalized;
  if ((phase != MpiPhase::kInitialized && !finalized) || !mpi_uses_pmi1()) return;
  const std::string descriptor = "(PMI_FD=" + std::to_string(pmi.fd) + ")";
  const std::string cause =
      finalized ? "MPI_Finalize was called before, and MPI (" + mpi_version() +
                      ") has closed the descriptor " + descriptor +
                      " on which the launcher speaks PMI-1; begin and end the job before it"
                : "MPI_Init was called before, and MPI (" + mpi_version() +
                      ") speaks PMI-1 with the launcher on the one descriptor " + descriptor +
                      " that the job would need, too; begin the job over MPI";
  throw Error("rank " + std::to_string(pmi.rank) + ": Job: " + cause +
              ", by run_with_mpi of splitc/with_mpi.h (docs/mpi.md)");
}

}  // namespace

BootstrapPmi1::BootstrapPmi1(const PmiConnection& pmi)
    : rank_(pmi.rank), size_(pmi.size), fd_(pmi.fd) {
  refuse_beside_mpi(pmi);
  const int flags = fcntl(fd_, F_GETFD);
  if (flags < 0) fail(std::string("PMI_FD is not open (") + std::strerror(errno) + ")");
  ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
  fcntl(fd_, F_SETFD, flags | FD_CLOEXEC);
  value_characters_ = number_or_0(ask("cmd=get_maxes", "maxes")["vallen_max"]);
  if (value_characters_ < kMinValue) fail("it offers no room for values");
  // One for a zero at the end, which some count.
  value_characters_ = std::min(value_characters_ - 1, kMaxValue);
  space_ = ask("cmd=get_my_kvsname", "my_kvsname")["kvsname"];
  if (size_ == 1) return;
  // The launcher takes a process that leaves with 0 for one that has done its work.
  expect_no_exit(rank_, [fd = fd_](int code) {
    if (!closed_by_mpi()) send_line(fd, abort_command(code));
  });
}

std::vector<std::vector<std::byte>> BootstrapPmi1::exchange(std::span<const std::byte> mine) {
  check_blob(mine);
  const std::string text = to_text(mine);
  for (std::size_t begin = 0, part = 0; begin < text.size(); begin += value_characters_, ++part) {
    put(key(rank_, part), std::string_view(text).substr(begin, value_characters_));
  }
  barrier();
  std::vector<std::vector<std::byte>> all;
  all.reserve(size_);
  for (Rank rank = 0; rank < size_; ++rank) {
    auto blob = from_text(get_blob_text(rank));
    if (!blob) fail("what it gives as the address of rank " + std::to_string(rank) + " is damaged");
    all.push_back(std::move(*blob));
  }
  ++round_;
  return all;
}

void BootstrapPmi1::barrier() { ask("cmd=barrier_in", "barrier_out"); }

void BootstrapPmi1::finished() {
  if (finished_) return;
  finished_ = true;
  leave_launcher();
  permit_exit();
}

// The launcher hears one goodbye and then closes the connection. An MPI library that has begun to
// use it meanwhile, or that may begin later, says it in the job's place.
void BootstrapPmi1::leave_launcher() {
  if (!mpi_uses_pmi1()) {
    ask(std::string(kGoodbye), "finalize_ack");
  } else if (mpi_phase() == MpiPhase::kBefore) {
    say_at_exit([fd = fd_] {
      if (mpi_phase() == MpiPhase::kBefore) say_goodbye(fd);
    });
  }
}

void BootstrapPmi1::report_abort(int exit_code, std::string_view sentence) {
  print_last_sentence(sentence);
  if (closed_by_mpi()) return;
  send_line(fd_, abort_command(exit_code));  // or the launcher is gone, and its processes with it
}

BootstrapPmi1::Fields BootstrapPmi1::ask(const std::string& line, std::string_view answer) {
  if (closed_by_mpi()) {
    fail("MPI_Finalize was called during the job, and has closed the connection; call it behind");
  }
  send(line);
  const std::string text = receive();
  Fields fields;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = std::string_view(text).substr(begin, end - begin);
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      fields.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
    begin = end + 1;
  }
  if (fields["cmd"] != answer) {
    fail("it answered \"" + text.substr(0, 80) + "\" to \"" + line.substr(0, 80) + "\"");
  }
  const std::string& result = fields["rc"];  // not in every answer
  if (!result.empty() && result != "0") {
    fail("it refused \"" + line.substr(0, 80) + "\": " + text.substr(0, 80));
  }
  return fields;
}

void BootstrapPmi1::send(std::string_view line) {
  const int error = send_line(fd_, line);
  if (error == 0) return;
  fail(std::string("it does not listen any more (") + std::strerror(error) + ")");
}

// The next line, without its end.
std::string BootstrapPmi1::receive() {
  std::array<char, 4096> buffer;
  std::size_t end = 0;
  while ((end = received_.find('\n')) == std::string::npos) {
    if (received_.size() > kMaxLine) fail("its answer has no end");
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
    if (got > 0) {
      received_.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      fail("it has closed the connection, so it has died or is ending the job");
    } else if (errno == EAGAIN) {
      wait_for(fd_, POLLIN);
    } else if (errno != EINTR) {
      fail(std::string("the connection is lost (") + std::strerror(errno) + ")");
    }
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

void BootstrapPmi1::put(const std::string& key, std::string_view value) {
  ask("cmd=put kvsname=" + space_ + " key=" + key + " value=" + std::string(value), "put_result");
}

std::string BootstrapPmi1::get(const std::string& key) {
  return ask("cmd=get kvsname=" + space_ + " key=" + key, "get_result")["value"];
}

// All parts of it, in one text.
std::string BootstrapPmi1::get_blob_text(Rank rank) {
  std::string text = get(key(rank, 0));
  const std::size_t size = text_size(text).value_or(0);
  for (std::size_t part = 1; text.size() < size; ++part) {
    const std::string more = get(key(rank, part));
    if (more.empty()) break;
    text += more;
  }
  return text;
}

std::string BootstrapPmi1::key(Rank rank, std::size_t part) const {
  return "splitphase-" + std::to_string(round_) + "-" + std::to_string(rank) + "-" +
         std::to_string(part);
}

void BootstrapPmi1::fail(const std::string& what) const {
  throw Error("rank " + std::to_string(rank_) + ": the launcher at PMI_FD=" + std::to_string(fd_) +
              ": " + what +
              "; start each process by mpiexec.hydra or srun --mpi=pmi2 itself, and one program a "
              "process");
}

}  // namespace am
