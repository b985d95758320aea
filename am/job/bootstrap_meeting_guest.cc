// Ranks other than 0: find rank 0 and be welcome.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "am/job/bootstrap_greeting.h"
#include "am/job/bootstrap_meeting.h"

namespace am {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRetryMs = 100;

int ms_left(Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

class Guest {
 public:
  explicit Guest(const MeetingPlace& place) : place_(place) {}

  Connection meet() {
    const Addresses addresses = addresses_of(place_.where, place_.rank);
    while (true) {
      for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
        Connection to = connect_to(*one);
        if (to && greet(to)) return to;
      }
      if (ms_left(place_.deadline) == 0) fail_to_find();
      poll(nullptr, 0, std::min(kRetryMs, ms_left(place_.deadline)));
    }
  }

 private:
  Connection connect_to(const addrinfo& address) {
    Connection to(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!to) return note_failure();
    if (connect(to.fd(), address.ai_addr, address.ai_addrlen) == 0) return to;
    if (errno != EINPROGRESS) return note_failure();
    pollfd watched{.fd = to.fd(), .events = POLLOUT, .revents = 0};
    // Not the whole time for one address: another may answer.
    if (poll(&watched, 1, std::min(2000, ms_left(place_.deadline))) == 0) {
      errno = ETIMEDOUT;
      return note_failure();
    }
    int error = 0;
    socklen_t bytes = sizeof(error);
    getsockopt(to.fd(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error == 0) return to;
    errno = error;
    return note_failure();
  }

  Connection note_failure() {
    cause_ = std::strerror(errno);
    return {};
  }

  // Throws if this rank is not welcome. False: try again, perhaps rank 0 is just being started.
  bool greet(const Connection& to) {
    prepare_connection(to.fd());
    Challenge challenge{};
    const std::size_t got = receive(to, &challenge, sizeof(challenge));
    if (got > 0 && !std::equal(challenge.magic.begin(), challenge.magic.end(), kGreeting.begin())) {
      throw Error(prefix() + "what listens there is no rank 0 of this version of Splitphase; " +
                  "choose a free port");
    }
    if (got < sizeof(challenge)) {
      cause_ = "somebody listens and says nothing";
      return false;
    }
    Hello hello{kGreeting, place_.rank, place_.size, random_nonce(), {}};
    hello.proof = proof_of_hello(place_.where.secret, challenge, hello);
    Verdict verdict{};
    if (send(to.fd(), &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello) ||
        receive(to, &verdict, sizeof(verdict)) != sizeof(verdict)) {
      cause_ = "rank 0 has gone away";
      return false;
    }
    judge(challenge, hello, verdict);
    return true;
  }

  void judge(const Challenge& challenge, const Hello& hello, const Verdict& verdict) const {
    if (verdict.answer == Answer::kOtherSecret) {
      throw Error(prefix() + "rank 0 has another SPLITC_SECRET; give all processes the same");
    }
    const Proof wanted = proof_of_verdict(place_.where.secret, challenge, hello, verdict);
    if (!same_proof(wanted, verdict.proof)) {
      throw Error(prefix() + "who listens there does not know SPLITC_SECRET; is it rank 0?");
    }
    if (verdict.answer == Answer::kOtherSize) {
      throw Error(prefix() + "rank 0 has SPLITC_SIZE=" + std::to_string(verdict.detail) +
                  " and this process " + std::to_string(place_.size) +
                  "; give all processes the same");
    }
    if (verdict.answer == Answer::kTaken) {
      throw Error(prefix() + "another process is rank " + std::to_string(place_.rank) +
                  "; give every process a SPLITC_RANK of its own");
    }
    if (verdict.answer != Answer::kWelcome) {
      throw Error(prefix() + "rank 0 refused this process");
    }
  }

  // Bytes received before the connection ended or time was up.
  std::size_t receive(const Connection& from, void* to, std::size_t bytes) const {
    std::size_t have = 0;
    while (have < bytes) {
      pollfd watched{.fd = from.fd(), .events = POLLIN, .revents = 0};
      if (poll(&watched, 1, ms_left(place_.deadline)) == 0) return have;
      const ssize_t got = recv(from.fd(), static_cast<char*>(to) + have, bytes - have, 0);
      if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return have;
      if (got > 0) have += static_cast<std::size_t>(got);
    }
    return have;
  }

  [[noreturn]] void fail_to_find() const {
    throw Error(prefix() + "did not find rank 0 there in time (" + cause_ +
                "); start rank 0 on that machine, and every rank only once");
  }

  std::string prefix() const { return meeting_prefix(place_.where, place_.rank); }

  const MeetingPlace& place_;
  std::string cause_;
};

}  // namespace

Connection::Connection(Connection&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Connection::~Connection() {
  if (fd_ >= 0) close(fd_);
}

Connection meet_first(const MeetingPlace& place) { return Guest(place).meet(); }

}  // namespace am
