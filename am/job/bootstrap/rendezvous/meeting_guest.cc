// Ranks other than 0: find rank 0 and be welcome.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "am/job/bootstrap/rendezvous/messages.h"

namespace am {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRetryMs = 100;
constexpr int kRetryAfterAnswerMs = 500;  // somebody is there, and it is not the right one
// With one that listens and does not say what rank 0 would: another address, or the next to have
// that port, may be rank 0.
constexpr auto kChallengePatience = std::chrono::seconds(5);
constexpr auto kVerdictPatience = std::chrono::seconds(10);

int ms_left(Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

class Guest {
 public:
  explicit Guest(const MeetingPlace& place) : place_(place) {}

  Connection meet() {
    const std::vector<SocketAddress> addresses = addresses_of(place_.where, place_.rank);
    while (true) {
      bool answered = false;
      for (const SocketAddress& one : addresses) {
        Connection to = connect_to(one);
        if (!to) continue;
        const Outcome outcome = greet(to);
        if (outcome == Outcome::kWelcome) return to;
        answered = answered || outcome == Outcome::kNotBelieved;
      }
      const int left = ms_left(place_.deadline);
      if (left == 0) fail_to_find();
      poll(nullptr, 0, std::min(answered ? kRetryAfterAnswerMs : kRetryMs, left));
    }
  }

 private:
  enum class Outcome : std::uint8_t {
    kWelcome,
    kNoAnswer,     // perhaps rank 0 is just being started
    kNotBelieved,  // anybody can say that
  };

  Connection connect_to(const SocketAddress& address) {
    const auto& any = reinterpret_cast<const sockaddr&>(address.bytes);
    Connection to(socket(any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!to) return note_failure();
    if (connect(to.fd(), &any, address.length) == 0) return to;
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

  // Throws if rank 0, which proves to be it, refuses this process.
  Outcome greet(const Connection& to) {
    prepare_connection(to.fd());
    Challenge challenge{};
    const std::size_t got = receive(to, &challenge, sizeof(challenge), kChallengePatience);
    if (got > 0 && !std::equal(challenge.magic.begin(), challenge.magic.end(), kGreeting.begin())) {
      return disbelieve("what listens there is no rank 0 of this version of Splitphase",
                        "choose a free port");
    }
    if (got < sizeof(challenge)) {
      cause_ = "somebody listens and says nothing";
      return Outcome::kNoAnswer;
    }
    Hello hello{kGreeting, place_.rank, place_.size, random_nonce(), {}};
    hello.proof = proof_of_hello(place_.where.secret, challenge, hello);
    GreetingVerdict verdict{};
    if (send(to.fd(), &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello) ||
        receive(to, &verdict, sizeof(verdict), kVerdictPatience) != sizeof(verdict)) {
      cause_ = "rank 0 has gone away";
      return Outcome::kNoAnswer;
    }
    const Proof wanted = proof_of_verdict(place_.where.secret, challenge, hello, verdict);
    if (same_proof(wanted, verdict.proof)) {
      judge(verdict);
      return Outcome::kWelcome;
    }
    if (verdict.answer == Answer::kOtherSecret) {
      return disbelieve("who listens there has another SPLITC_SECRET",
                        "give all processes the same");
    }
    return disbelieve("who listens there does not know SPLITC_SECRET", "is it rank 0?");
  }

  // What somebody says who does not know the secret ends nothing: rank 0 may come yet.
  Outcome disbelieve(const std::string& what, const std::string& remedy) {
    const std::string sentence = what + "; " + remedy;
    if (std::exchange(heard_, sentence) != sentence) {
      std::fprintf(stderr, "%s%s (waiting for rank 0 all the same, until its time is over)\n",
                   prefix().c_str(), sentence.c_str());
    }
    return Outcome::kNotBelieved;
  }

  // Throws unless rank 0 has said welcome.
  void judge(const GreetingVerdict& verdict) const {
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
  std::size_t receive(const Connection& from, void* to, std::size_t bytes,
                      Clock::duration patience) const {
    const auto until = std::min(place_.deadline, Clock::now() + patience);
    std::size_t have = 0;
    while (have < bytes) {
      pollfd watched{.fd = from.fd(), .events = POLLIN, .revents = 0};
      if (poll(&watched, 1, ms_left(until)) == 0) return have;
      const ssize_t got = recv(from.fd(), static_cast<char*>(to) + have, bytes - have, 0);
      if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return have;
      if (got > 0) have += static_cast<std::size_t>(got);
    }
    return have;
  }

  [[noreturn]] void fail_to_find() const {
    const std::string not_found = "did not find rank 0 there in time";
    if (!heard_.empty()) throw Error(prefix() + not_found + ": " + heard_);
    throw Error(prefix() + not_found + " (" + cause_ +
                "); start rank 0 on that machine, and every rank only once");
  }

  std::string prefix() const { return meeting_prefix(place_.where, place_.rank); }

  const MeetingPlace& place_;
  std::string cause_;  // of the last failure
  std::string heard_;  // from somebody who is not rank 0
};

}  // namespace

Connection meet_first(const MeetingPlace& place) { return Guest(place).meet(); }

}  // namespace am
