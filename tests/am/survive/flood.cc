// A job of which some processes die while everyone floods everyone with requests of all kinds. Each
// process that lives accounts for every request that it has sent.
//
//   flood SEED DEATHS REQUESTS LEDGER [parallel]
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "am/am.h"
#include "tests/am/survive/ledger.h"

namespace am {
namespace {

using Bytes = std::span<const std::byte>;

constexpr Tag kTag = 5;
constexpr std::uint64_t kRoom = 16'384;                 // of a long payload
constexpr std::uint64_t kRooms = 32;                    // in turn: twice the window
constexpr std::uint64_t kAnswers = 8 * kRooms * kRoom;  // where long replies go, in the segment

void check(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "WRONG: pid %d: %s\n", getpid(), what.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

std::byte content(std::uint64_t number, std::size_t at) {
  return static_cast<std::byte>(number * 31 + at * 7);
}
void check_content(Bytes bytes, std::uint64_t number) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    check(bytes[i] == content(number, i), "a payload is damaged");
  }
}

enum class Death { kWhileSending, kInHandler, kAnywhere };

class Flood {
 public:
  Flood(Job& job, Bundle& bundle, std::uint64_t seed, std::uint32_t deaths, std::uint64_t requests,
        const std::string& ledger);
  ~Flood() {
    if (killer_.joinable()) killer_.join();
  }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

  void run();

  void on_short(Request r, std::uint64_t number, std::uint64_t sender) {
    handle(number, sender);
    std::move(r).reply<&Flood::on_answer>(number);
  }
  void on_medium(Request r, Bytes payload, std::uint64_t number, std::uint64_t sender) {
    check_content(payload, number);
    handle(number, sender);
    if (number % 4 < 2) {
      return std::move(r).reply_medium<&Flood::on_medium_answer>(payload, number);
    }
    PreparedReply reply = std::move(r).prepare_reply_medium(payload.size(), max_medium());
    std::ranges::copy(payload, reply.span().begin());
    std::move(reply).commit<&Flood::on_medium_answer>(payload.size(), number);
  }
  void on_long(Request r, std::span<std::byte> payload, std::uint64_t number,
               std::uint64_t sender) {
    check_content(payload, number);
    handle(number, sender);
    const auto at = static_cast<std::uint64_t>(payload.data() - endpoint_.segment().data());
    const std::uint64_t room = kAnswers + (job_.rank() * kRooms + at / kRoom % kRooms) * kRoom;
    std::move(r).reply_long<&Flood::on_long_answer>(room, payload, number);
  }
  void on_short_one(OneWay, std::uint64_t number, std::uint64_t sender) { handle(number, sender); }
  void on_medium_one(OneWay, Bytes payload, std::uint64_t number, std::uint64_t sender) {
    check_content(payload, number);
    handle(number, sender);
  }
  void on_long_one(OneWay, std::span<std::byte> payload, std::uint64_t number,
                   std::uint64_t sender) {
    check_content(payload, number);
    handle(number, sender);
  }
  void on_answer(Reply, std::uint64_t number) { answered(number); }
  void on_medium_answer(Reply, Bytes payload, std::uint64_t number) {
    check_content(payload, number);
    answered(number);
  }
  void on_long_answer(Reply, std::span<std::byte> payload, std::uint64_t number) {
    check_content(payload, number);
    answered(number);
  }

 private:
  struct Sent {
    Rank to = 0;
    int answered = 0;
    int returned = 0;
  };
  static bool is_one_way(std::uint64_t number) { return number % 2 == 1; }

  [[noreturn]] void die() {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  void handle(std::uint64_t number, std::uint64_t sender) {
    if (dies_ && death_ == Death::kInHandler && ++handled_ == when_) die();
    ledger_.handled(sender, number);
  }
  void answered(std::uint64_t number) { ++sent_.at(number).answered; }
  void returned(const Returned& r);
  void send(std::uint64_t number);
  void send_prepared(Rank to, Bytes payload, std::uint64_t number);
  void send_all();
  void await_dead();
  void check_account() const;
  void check_refusals();
  template <class Call>
  void check_refused(const char* name, Call&& call);
  void check_release();

  Job& job_;
  Bundle& bundle_;
  std::mt19937_64 random_;
  const std::uint64_t requests_;
  test::Ledger ledger_;
  std::vector<Rank> victims_;
  bool dies_ = false;
  Death death_{};
  std::uint64_t when_ = 0;
  std::uint64_t handled_ = 0;
  std::vector<Sent> sent_;
  std::array<std::uint64_t, test::Ledger::kProcesses> longs_{};  // sent to each
  std::vector<std::byte> payload_ = std::vector<std::byte>(10'000);
  Endpoint endpoint_;
  std::thread killer_;
};

// Who dies is the same everywhere; when and how is the victim's.
Flood::Flood(Job& job, Bundle& bundle, std::uint64_t seed, std::uint32_t deaths,
             std::uint64_t requests, const std::string& ledger)
    : job_(job),
      bundle_(bundle),
      random_(seed),
      requests_(requests),
      ledger_(ledger),
      endpoint_(bundle) {
  std::vector<Rank> ranks(job.size());
  for (Rank rank = 0; rank < ranks.size(); ++rank) ranks[rank] = rank;
  std::ranges::shuffle(ranks, random_);
  victims_.assign(ranks.begin(), ranks.begin() + deaths);
  std::ranges::sort(victims_);
  random_.seed(seed * 1000 + job.rank());
  dies_ = std::ranges::binary_search(victims_, job.rank());
  death_ = static_cast<Death>(random_() % 3);
  when_ = 1 + random_() % requests;
  endpoint_.add_handlers<&Flood::on_short, &Flood::on_medium, &Flood::on_long, &Flood::on_short_one,
                         &Flood::on_medium_one, &Flood::on_long_one, &Flood::on_answer,
                         &Flood::on_medium_answer, &Flood::on_long_answer>(*this);
  endpoint_.on_returned([this](const Returned& r) { returned(r); });
  job.connect(endpoint_, kTag);
}

void Flood::returned(const Returned& r) {
  std::uint64_t number = 0;
  check(r.role != Role::kReply, "a reply came back");
  check(r.arguments.size() == 16, "the arguments have not come back");
  std::memcpy(&number, r.arguments.data(), sizeof number);
  Sent& sent = sent_.at(number);
  check(r.destination == sent.to, "another destination came back");
  check(r.status == Status::kUnreachable, "came back as " + std::string(describe(r.status)));
  check(std::ranges::binary_search(victims_, sent.to), "a request to the living came back");
  check((r.role == Role::kOneWay) == is_one_way(number), "another role came back");
  if (r.kind == Kind::kMedium) check_content(r.payload, number);
  ++sent.returned;
}

void Flood::send(std::uint64_t number) {
  Sent& sent = sent_.emplace_back();
  sent.to = static_cast<Rank>(random_() % job_.size());
  const std::uint64_t me = job_.rank();
  const bool is_long = number % 6 >= 4;
  const std::uint64_t turn = is_long ? longs_[sent.to]++ % kRooms : 0;
  const std::uint64_t offset = (me * kRooms + turn) * kRoom;
  const std::size_t few = random_() % 4097;
  const std::size_t many = random_() % (payload_.size() + 1);
  const std::size_t size = number % 6 / 2 == 1 ? few : many;
  for (std::size_t i = 0; i < size; ++i) payload_[i] = content(number, i);
  const Bytes payload = Bytes(payload_).first(size);
  const bool prepares = (number % 6 == 2 || number % 6 == 3) && number % 4 < 2;
  if (prepares) return send_prepared(sent.to, payload, number);
  switch (number % 6) {
    case 0: return endpoint_.request<&Flood::on_short>(sent.to, number, me);
    case 1: return endpoint_.request<&Flood::on_short_one>(sent.to, number, me);
    case 2: return endpoint_.request_medium<&Flood::on_medium>(sent.to, payload, number, me);
    case 3: return endpoint_.request_medium<&Flood::on_medium_one>(sent.to, payload, number, me);
    case 4: return endpoint_.request_long<&Flood::on_long>(sent.to, offset, payload, number, me);
    default:
      return endpoint_.request_long<&Flood::on_long_one>(sent.to, offset, payload, number, me);
  }
}

void Flood::send_prepared(Rank to, Bytes payload, std::uint64_t number) {
  const std::uint64_t me = job_.rank();
  PreparedMedium prepared = endpoint_.prepare_medium(to, payload.size(), max_medium());
  std::ranges::copy(payload, prepared.span().begin());
  if (number % 6 == 2) {
    std::move(prepared).commit<&Flood::on_medium>(payload.size(), number, me);
  } else {
    std::move(prepared).commit<&Flood::on_medium_one>(payload.size(), number, me);
  }
}

void Flood::send_all() {
  sent_.reserve(requests_);
  if (dies_ && death_ == Death::kAnywhere) {
    killer_ = std::thread([this] {
      for (volatile std::uint64_t i = 0; i < when_ * 2000;) i = i + 1;
      die();
    });
  }
  for (std::uint64_t number = 0; number < requests_; ++number) {
    if (dies_ && death_ == Death::kWhileSending && number == when_) die();
    send(number);
    if (random_() % 8 == 0) bundle_.poll();
  }
  if (dies_) die();  // nothing has killed it so far
}

// Some requests are sent to the dead when everybody knows that they are.
void Flood::await_dead() {
  bundle_.wait_until(
      [this] { return std::ranges::all_of(victims_, [this](Rank r) { return job_.is_dead(r); }); });
  for (std::uint64_t i = 0; i < 600; ++i) send(sent_.size());
  endpoint_.flush();
}

void Flood::check_account() const {
  const std::uint64_t me = job_.rank();
  for (std::uint64_t number = 0; number < sent_.size(); ++number) {
    const Sent& sent = sent_[number];
    const int handled = ledger_.times_handled(me, number);
    const std::string who =
        "request " + std::to_string(number) + " of rank " + std::to_string(me) + " to rank " +
        std::to_string(sent.to) + ": handled " + std::to_string(handled) + ", answered " +
        std::to_string(sent.answered) + ", returned " + std::to_string(sent.returned);
    check(handled <= 1 && handled >= sent.answered, who);
    if (!is_one_way(number)) check(sent.answered + sent.returned == 1, who);
    if (!std::ranges::binary_search(victims_, sent.to)) {
      check(handled == 1 && sent.returned == 0, who);
    } else if (is_one_way(number)) {
      check(sent.returned <= 1 && handled + sent.returned >= 1, who);
    }
  }
}

template <class Call>
void Flood::check_refused(const char* name, Call&& call) {
  try {
    call();
  } catch (const PeerDied& died) {
    const std::string text = died.what();
    check(died.rank == victims_.front(), text);
    const std::string dead = "rank " + std::to_string(victims_.front()) + " has died";
    check(text.find(dead) != std::string::npos && text.find(name) != std::string::npos, text);
    return;
  }
  check(false, std::string(name) + " was not refused");
}

void Flood::check_refusals() {
  check_refused("barrier", [this] { job_.barrier(bundle_); });
  check_refused("barrier", [this] { job_.barrier(bundle_); });
  check_refused("exchange", [this] { job_.exchange(1); });
  check_refused("quiesce", [this] { job_.quiesce(bundle_); });
}

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("memfd:") != line.npos;
  return count;
}

// Nothing is left of the mailbox of one that was dead before it could be unmapped.
void Flood::check_release() {
  for (const Rank dead : victims_) {
    const std::size_t before = mappings();
    const bool near = job_.router().is_near(dead);
    endpoint_.unmap(dead);
    // Where nobody else writes, as others may not have heard of the death.
    volatile std::byte* const mine =
        near ? job_.router().peer(dead).segment + job_.rank() * kRooms * kRoom : nullptr;
    if (near) *mine = std::byte{1};
    job_.discard_segment(dead);
    if (near) check(*mine == std::byte{}, "the segment is kept");
    check(!near || mappings() < before, "the mailbox of the dead is still mapped");
  }
}

void Flood::run() {
  send_all();
  await_dead();
  check_account();
  if (!victims_.empty()) {
    check_refusals();
    check_release();
  }
  std::printf("rank %u is well\n", job_.rank());
}

int run(char** argv) {
  Job job;
  Bundle bundle(job, argv[5] != nullptr ? Access::kParallel : Access::kSequential);
  Flood flood(job, bundle, std::strtoull(argv[1], nullptr, 10),
              static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)),
              std::strtoull(argv[3], nullptr, 10), argv[4]);
  flood.run();
  job.finish(bundle);
  return 0;
}

}  // namespace
}  // namespace am

int main(int argc, char** argv) { return argc >= 5 ? am::run(argv) : 2; }
