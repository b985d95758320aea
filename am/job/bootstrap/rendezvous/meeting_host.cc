// Rank 0: let the others in, and nobody else.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <list>
#include <set>
#include <utility>

#include "am/job/bootstrap/rendezvous/messages.h"

namespace am {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(5);  // with one who connects and says nothing
constexpr std::size_t kMaxWaiting = 256;             // such at a time
constexpr std::size_t kMaxComplaints = 10;           // lines about those that were refused

// A number of ranks as people write it: "1, 4 and 7", the first few of many.
std::string names_of(const std::vector<Rank>& ranks) {
  constexpr std::size_t kNamed = 8;
  const std::size_t named = std::min(ranks.size(), kNamed);
  std::string text(ranks.size() == 1 ? "rank " : "ranks ");
  for (std::size_t i = 0; i < named; ++i) {
    if (i > 0) text.append(i + 1 == ranks.size() ? " and " : ", ");
    text.append(std::to_string(ranks[i]));
  }
  if (named < ranks.size()) {
    text.append(" and ").append(std::to_string(ranks.size() - named)).append(" others");
  }
  return text;
}

std::string text_of(const sockaddr_storage& address) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  const int error = getnameinfo(reinterpret_cast<const sockaddr*>(&address), sizeof(address), host,
                                sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
  return error == 0 ? std::string(host) + " port " + port : "an unknown address";
}

// Debian gives a machine's own name a loopback address. Others do not reach that, so whoever writes
// such a name means all addresses of the machine.
void widen(const std::string& host, sockaddr_in& address) {
  const std::uint32_t number = ntohl(address.sin_addr.s_addr);
  if (number >> 24 != 127 || host == "localhost" || host.starts_with("127.")) return;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
}

class Host {
 public:
  explicit Host(const MeetingPlace& place)
      : place_(place),
        listener_(listen_there()),
        joined_(place.size - 1),
        missing_(place.size - 1) {}

  std::vector<Connection> meet() {
    try {
      while (missing_ > 0) {
        if (Clock::now() >= place_.deadline) fail_at_deadline();
        step();
      }
    } catch (const Error& error) {
      tell_joined(error.what());
      throw;
    }
    return std::move(joined_);
  }

 private:
  struct Waiting {
    Connection from;
    std::string where;
    Challenge challenge;
    Clock::time_point until;
    Hello hello{};
    std::size_t have = 0;  // bytes of hello
  };

  // On the first address that this machine has.
  Connection listen_there() const {
    int error = 0;
    for (SocketAddress address : addresses_of(place_.where, place_.rank)) {
      auto& any = reinterpret_cast<sockaddr&>(address.bytes);
      if (any.sa_family == AF_INET) widen(place_.where.host, reinterpret_cast<sockaddr_in&>(any));
      Connection listener(socket(any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      const int yes = 1;
      setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
      if (listener && bind(listener.fd(), &any, address.length) == 0 &&
          listen(listener.fd(), SOMAXCONN) == 0) {
        return listener;
      }
      error = errno;
      if (error == EADDRINUSE) break;  // the others would find who is there, not this process
    }
    throw Error(prefix() + "cannot listen there (" + std::strerror(error) + "); " +
                (error == EADDRINUSE
                     ? "another program has that port, or another process is rank 0: choose a "
                       "free port and start rank 0 once"
                     : "start rank 0 on the machine that SPLITC_RENDEZVOUS names"));
  }

  // Sleeps until somebody comes, speaks or leaves, or time is up.
  void step() {
    std::vector<pollfd> watched = {{.fd = listener_.fd(), .events = POLLIN, .revents = 0}};
    auto until = place_.deadline;
    for (const Waiting& guest : waiting_) {
      watched.push_back({.fd = guest.from.fd(), .events = POLLIN, .revents = 0});
      until = std::min(until, guest.until);
    }
    for (const Connection& one : joined_) {
      watched.push_back({.fd = one.fd(), .events = POLLRDHUP, .revents = 0});
    }
    const auto ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    poll(watched.data(), watched.size(), static_cast<int>(std::clamp<long>(ms + 1, 0, 1'000'000)));
    auto entry = watched.begin() + 1;
    for (auto guest = waiting_.begin(); guest != waiting_.end(); ++entry) {
      const bool gone = entry->revents != 0 && !hear(*guest);
      guest = gone || Clock::now() >= guest->until ? waiting_.erase(guest) : std::next(guest);
    }
    for (std::size_t i = 0; i < joined_.size(); ++i, ++entry) {
      if (entry->fd >= 0 && entry->revents != 0) fail_with_loss(i);
    }
    if (watched[0].revents != 0) let_in();
  }

  // All that have come, as a look at everybody costs more the more there are; of those who say
  // nothing the first has to go for the next.
  void let_in() {
    const bool full = waiting_.size() >= kMaxWaiting;
    while (let_in_one() && !full && waiting_.size() < kMaxWaiting) {
    }
  }

  // False: there is nobody more.
  bool let_in_one() {
    sockaddr_storage address{};
    socklen_t bytes = sizeof(address);
    Connection from(accept4(listener_.fd(), reinterpret_cast<sockaddr*>(&address), &bytes,
                            SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!from) {
      if (errno != EMFILE && errno != ENFILE) return false;  // it went away again
      if (!waiting_.empty()) {                               // strangers may hold them all
        waiting_.pop_front();
        return false;
      }
      throw Error(prefix() + "too many open files for " + std::to_string(place_.size) +
                  " processes; raise ulimit -n");
    }
    prepare_connection(from.fd());
    if (waiting_.size() >= kMaxWaiting) waiting_.pop_front();
    const Challenge challenge{kGreeting, random_nonce()};
    if (send(from.fd(), &challenge, sizeof(challenge), MSG_NOSIGNAL) != sizeof(challenge)) {
      return true;
    }
    waiting_.push_back({.from = std::move(from),
                        .where = text_of(address),
                        .challenge = challenge,
                        .until = Clock::now() + kPatience});
    return true;
  }

  // False: this one waits no more, whether it was let in or not.
  bool hear(Waiting& guest) {
    auto* to = reinterpret_cast<std::byte*>(&guest.hello);
    const ssize_t got = recv(guest.from.fd(), to + guest.have, sizeof(guest.hello) - guest.have, 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    guest.have += static_cast<std::size_t>(got);
    const std::size_t said = std::min(guest.have, kGreeting.size());
    if (got == 0 || !std::equal(to, to + said, std::as_bytes(std::span(kGreeting)).begin())) {
      complain(guest, "what it said is no greeting of this version");
      return false;
    }
    if (guest.have < sizeof(guest.hello)) return true;
    answer(guest);
    return false;
  }

  void answer(Waiting& guest) {
    const Hello& hello = guest.hello;
    const Proof wanted = proof_of_hello(place_.where.secret, guest.challenge, hello);
    GreetingVerdict verdict{Answer::kWelcome, place_.size, {}};
    const std::string who = "it says it is rank " + std::to_string(hello.rank) + " of " +
                            std::to_string(hello.size) + ", and ";
    if (!same_proof(wanted, hello.proof)) {
      verdict.answer = Answer::kOtherSecret;
      complain(guest, who + "its SPLITC_SECRET is another one");
    } else if (hello.size != place_.size) {
      verdict.answer = Answer::kOtherSize;
      complain(guest, who + "this job has SPLITC_SIZE=" + std::to_string(place_.size));
    } else if (hello.rank - 1 >= joined_.size()) {  // 0 is far above
      verdict.answer = Answer::kNoSuchRank;
      complain(guest,
               who + "nobody but ranks 1 to " + std::to_string(joined_.size()) + " is to come");
    } else if (joined_[hello.rank - 1]) {
      verdict.answer = Answer::kTaken;
      complain(guest, who + "that one is here already");
    }
    verdict.proof = proof_of_verdict(place_.where.secret, guest.challenge, hello, verdict);
    const bool sent =
        send(guest.from.fd(), &verdict, sizeof(verdict), MSG_NOSIGNAL) == sizeof(verdict);
    if (!sent || verdict.answer != Answer::kWelcome) return;
    joined_[hello.rank - 1] = std::move(guest.from);
    --missing_;
  }

  // Once about each process that comes again and again.
  void complain(const Waiting& guest, const std::string& what) {
    const std::string machine = guest.where.substr(0, guest.where.rfind(" port "));
    if (complaints_.size() == kMaxComplaints) return;
    if (!complaints_.insert(machine + what).second) return;
    std::fprintf(stderr, "%srefused a process at %s: %s\n", prefix().c_str(), guest.where.c_str(),
                 what.c_str());
  }

  [[noreturn]] void fail_at_deadline() const {
    std::vector<Rank> absent;
    for (Rank rank = 1; rank < place_.size; ++rank) {
      if (!joined_[rank - 1]) absent.push_back(rank);
    }
    throw Error(prefix() + names_of(absent) + " of " + std::to_string(place_.size) +
                " did not come in time; start every rank with the same SPLITC_RENDEZVOUS, "
                "SPLITC_SIZE and SPLITC_SECRET");
  }

  [[noreturn]] void fail_with_loss(std::size_t index) const {
    // Its last words, if it had any.
    std::array<std::byte, 4096> buffer;
    const ssize_t got = recv(joined_[index].fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    std::vector<Frame> frames;
    FrameReader reader(place_.size);
    if (got > 0 && reader.add(std::span(buffer.data(), static_cast<std::size_t>(got)), frames) &&
        !frames.empty() && frames.back().kind == FrameKind::kEnd) {
      throw Error(prefix() + "the job ends: " + read_end(frames.back()).why);
    }
    throw Error(prefix() + "rank " + std::to_string(index + 1) +
                " had come and has died while others were awaited");
  }

  void tell_joined(const std::string& why) {
    const std::vector<std::byte> end = end_frame(1, why);
    for (const Connection& one : joined_) {
      if (one) (void)send(one.fd(), end.data(), end.size(), MSG_NOSIGNAL);
    }
  }

  std::string prefix() const { return meeting_prefix(place_.where, place_.rank); }

  const MeetingPlace& place_;
  const Connection listener_;
  std::vector<Connection> joined_;  // of ranks 1 and up
  std::uint32_t missing_;           // of them
  std::list<Waiting> waiting_;
  std::set<std::string> complaints_;
};

}  // namespace

std::vector<Connection> meet_others(const MeetingPlace& place) { return Host(place).meet(); }

}  // namespace am
