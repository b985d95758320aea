#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include "am/job/bootstrap/endings.h"
#include "am/job/bootstrap/launchers.h"
#include "am/job/bootstrap/mpi_state.h"
#include "am/job/bootstrap/packing.h"
#include "am/job/config/variables.h"

namespace am {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kBytes = 3;  // become
constexpr std::size_t kDigitsOf =
    4;  // digits of 6 bits; one or two bytes at the end one digit more

constexpr std::size_t digits_of(std::size_t bytes) {
  const std::size_t rest = bytes % kBytes;
  return bytes / kBytes * kDigitsOf + (rest == 0 ? 0 : rest + 1);
}

constexpr std::size_t kMaxLine = 65536;  // beyond it this is no launcher's answer
constexpr std::size_t kMinValue = 16;    // characters; every launcher offers hundreds
constexpr std::size_t kMaxValue = 960;   // so that a line stays below the 1024 that some read
// Consecutive ranks, which a launcher mostly places on one node. The first of them reads what each
// has put and puts all of it together, which is a few values, as they differ in little.
constexpr std::uint32_t kGroup = 64;
// Processes of a job in which everybody reads what each has put: as long as that is a few values
// it costs less than another barrier.
constexpr std::uint32_t kAlone = 16;

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

class BootstrapPmi1 final : public Bootstrap {
 public:
  BootstrapPmi1(const PmiConnection& pmi) : rank_(pmi.rank), size_(pmi.size), fd_(pmi.fd) {
    refuse_beside_mpi(pmi);
    const int flags = fcntl(fd_, F_GETFD);
    if (flags < 0) fail(std::string("PMI_FD is not open (") + std::strerror(errno) + ")");
    ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
    fcntl(fd_, F_SETFD, flags | FD_CLOEXEC);
    value_characters_ =
        whole_number<std::size_t>(ask("cmd=get_maxes", "maxes")["vallen_max"]).value_or(0);
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

  Rank rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }
  std::string launcher() const override { return "PMI-1"; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override {
    check_blob(mine);
    put_bytes("", rank_, mine);
    barrier();
    auto all = size_ <= kAlone ? blobs_of(0, size_) : blobs_of_groups();
    ++round_;
    return all;
  }

  void barrier() override { ask("cmd=barrier_in", "barrier_out"); }
  void finished() override {
    if (finished_) return;
    finished_ = true;
    leave_launcher();
    permit_exit();
  }

 private:
  using Blobs = std::vector<std::vector<std::byte>>;
  using Fields = std::map<std::string, std::string, std::less<>>;

  void report_abort(int exit_code, std::string_view sentence) override {
    print_last_sentence(sentence);
    if (closed_by_mpi()) return;
    send_line(fd_, abort_command(exit_code));  // or the launcher is gone, and its processes with it
  }

  // What each of these has put.
  Blobs blobs_of(Rank first, std::uint32_t count) {
    Blobs blobs;
    for (Rank rank = first; rank < first + count; ++rank) {
      auto blob = get_bytes("", rank, kMaxBlob);
      if (!blob)
        fail("what it gives as the address of rank " + std::to_string(rank) + " is damaged");
      blobs.push_back(std::move(*blob));
    }
    return blobs;
  }

  Blobs blobs_of_groups() {
    const auto count_of = [this](Rank first) { return std::min(kGroup, size_ - first); };
    if (rank_ % kGroup == 0) {
      Packer packer;
      for (const auto& blob : blobs_of(rank_, count_of(rank_))) packer.add(blob);
      put_bytes("from-", rank_, packer.take());
    }
    barrier();
    Blobs all;
    for (Rank first = 0; first < size_; first += kGroup) {
      const std::uint32_t count = count_of(first);
      const auto bytes = get_bytes("from-", first, count * Packer::kMaxPacked);
      auto blobs = unpack(bytes ? std::span<const std::byte>(*bytes) : std::span<const std::byte>(),
                          bytes ? count : 0);
      if (!blobs || blobs->size() != count) {
        fail("what it gives as the addresses of ranks " + std::to_string(first) + " to " +
             std::to_string(first + count - 1) + " is damaged");
      }
      std::ranges::move(*blobs, std::back_inserter(all));
    }
    return all;
  }

  // The launcher hears one goodbye and then closes the connection. An MPI library that has begun to
  // use it meanwhile, or that may begin later, says it in the job's place.
  void leave_launcher() {
    if (!mpi_uses_pmi1()) {
      ask(std::string(kGoodbye), "finalize_ack");
    } else if (mpi_phase() == MpiPhase::kBefore) {
      say_at_exit([fd = fd_] {
        if (mpi_phase() == MpiPhase::kBefore) say_goodbye(fd);
      });
    }
  }

  // Sends a line and returns the fields of its answer, which must be the command `answer`.
  Fields ask(const std::string& line, std::string_view answer) {
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

  void send(std::string_view line) {
    const int error = send_line(fd_, line);
    if (error == 0) return;
    fail(std::string("it does not listen any more (") + std::strerror(error) + ")");
  }

  // The next line, without its end.
  std::string receive() {
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

  std::string get(const std::string& key) {
    return ask("cmd=get kvsname=" + space_ + " key=" + key, "get_result")["value"];
  }

  void put_bytes(const char* kind, Rank rank, std::span<const std::byte> bytes) {
    const std::string text = to_pmi_text(bytes);
    for (std::size_t begin = 0, part = 0; begin < text.size(); begin += value_characters_, ++part) {
      ask("cmd=put kvsname=" + space_ + " key=" + key(kind, rank, part) +
              " value=" + text.substr(begin, value_characters_),
          "put_result");
    }
  }

  // All parts of it. None: it is not what put_bytes() has put, or longer than `max_bytes`.
  std::optional<std::vector<std::byte>> get_bytes(const char* kind, Rank rank,
                                                  std::size_t max_bytes) {
    std::string text = get(key(kind, rank, 0));
    const std::size_t size = pmi_text_size(text, max_bytes).value_or(0);
    for (std::size_t part = 1; text.size() < size; ++part) {
      const std::string more = get(key(kind, rank, part));
      if (more.empty()) break;
      text += more;
    }
    return from_pmi_text(text, max_bytes);
  }

  std::string key(const char* kind, Rank rank, std::size_t part) const {
    return "splitphase-" + std::to_string(round_) + "-" + kind + std::to_string(rank) + "-" +
           std::to_string(part);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(
        "rank " + std::to_string(rank_) + ": the launcher at PMI_FD=" + std::to_string(fd_) + ": " +
        what +
        "; start each process by mpiexec.hydra or srun --mpi=pmi2 itself, and one program a "
        "process");
  }

  const Rank rank_;
  const std::uint32_t size_;
  const int fd_;
  std::string received_;  // what follows the last line that was read
  std::string space_;     // the name of the job's keys and values
  std::size_t value_characters_ = 0;
  std::uint32_t round_ = 0;  // of exchange(); every round has keys of its own
  bool finished_ = false;
};

}  // namespace

std::string to_pmi_text(std::span<const std::byte> bytes) {
  std::string text = std::to_string(bytes.size()) + ":";
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), kBytes);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kBytes; ++i) {
      bits = bits << 8 | (i < count ? std::to_integer<std::uint32_t>(bytes[i]) : 0);
    }
    for (std::size_t i = 0; i < digits_of(count); ++i) {
      text.push_back(kDigits[bits >> (18 - 6 * i) & 63]);
    }
    bytes = bytes.subspan(count);
  }
  return text;
}

std::optional<std::size_t> pmi_text_size(std::string_view begin, std::size_t max_bytes) {
  const std::size_t colon = begin.find(':');
  std::size_t bytes = 0;
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto [end, error] = std::from_chars(begin.data(), begin.data() + colon, bytes);
  if (error != std::errc() || end != begin.data() + colon) return std::nullopt;
  if (bytes > max_bytes) return std::nullopt;
  return colon + 1 + digits_of(bytes);
}

std::optional<std::vector<std::byte>> from_pmi_text(std::string_view text, std::size_t max_bytes) {
  if (pmi_text_size(text, max_bytes) != text.size()) return std::nullopt;
  text.remove_prefix(text.find(':') + 1);
  std::vector<std::byte> bytes;
  while (!text.empty()) {
    const std::string_view digits = text.substr(0, kDigitsOf);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kDigitsOf; ++i) {
      const std::size_t digit = i < digits.size() ? kDigits.find(digits[i]) : 0;
      if (digit == std::string_view::npos) return std::nullopt;
      bits = bits << 6 | static_cast<std::uint32_t>(digit);
    }
    for (std::size_t i = 0; i + 1 < digits.size(); ++i) {
      bytes.push_back(static_cast<std::byte>(bits >> (16 - 8 * i)));
    }
    text.remove_prefix(digits.size());
  }
  return bytes;
}

std::unique_ptr<Bootstrap> join_pmi1(const PmiConnection& pmi) {
  return std::make_unique<BootstrapPmi1>(pmi);
}

}  // namespace am
