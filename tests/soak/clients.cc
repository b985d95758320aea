// Endpoints that come and go within a round, in the world's bundle or one of their own. Each asks
// the lasting endpoint of some process, and leaves: when all answers are there, with or without
// unmap(), or at once. What it has asked before is handled all the same.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "am/am.h"
#include "splitc/splitc.h"
#include "tests/soak/families.h"

namespace soak {
namespace clients {

constexpr std::string_view kName = "clients";
constexpr am::Tag kTag = 21;
constexpr std::uint32_t kMost = 2;  // clients of a process at a time

enum class Leave : std::uint32_t { kUnmapped, kAnswered, kAtOnce, kLeaves };

struct Client {
  std::uint64_t id = 0;
  std::uint32_t who = 0;
  std::uint32_t server = 0;
  std::uint32_t requests = 1;
  bool own_bundle = false;
  Leave leave = Leave::kUnmapped;
};

// What this process has of a client.
struct Open {
  std::unique_ptr<am::Bundle> bundle;  // if it has one of its own
  std::unique_ptr<am::Endpoint> endpoint;
  std::uint32_t sent = 0;
};

class Clients : public Family {
 public:
  explicit Clients(const Settings&);
  ~Clients() override { current = nullptr; }

  void plan(const Round& round, Schedule& schedule) override;
  bool arrived() override { return awaited_ == 0; }

  static void on_ask(am::Request request, std::uint64_t id, std::uint32_t number);
  static void on_answer(am::Reply reply, std::uint64_t id, std::uint64_t check);

 private:
  static inline Clients* current = nullptr;  // of the handlers

  void open(const Client& client, Open& mine);
  bool attempt(const Client& client, Open& mine);

  const Round* round_ = nullptr;
  am::Endpoint server_{splitc::world().bundle()};
  const std::vector<am::Name> servers_;
  std::vector<Client> clients_;         // of this round, of all, by id
  std::vector<std::uint64_t> asked_;    // by id: a bit for each request that has come here
  std::vector<std::uint32_t> answers_;  // by id: that have come here
  std::uint64_t awaited_ = 0;           // requests that have not
  std::uint32_t live_ = 0;              // own clients
};

Clients::Clients(const Settings&) : servers_(splitc::world().job().exchange(server_.name())) {
  current = this;
  server_.add_handlers<&Clients::on_ask, &Clients::on_answer>();
  server_.set_tag(kTag);
  server_.on_returned([this](const am::Returned& back) {
    // An answer to one that has left.
    if (back.role == am::Role::kReply && back.status == am::Status::kBadEndpoint) return;
    round_->fail(
        kName, back.destination,
        "the answer to a client of this rank came back: " + std::string(am::describe(back.status)));
  });
  splitc::barrier();
}

void Clients::on_ask(am::Request request, std::uint64_t id, std::uint32_t number) {
  Clients& self = *current;
  const bool known = id < self.clients_.size() && self.clients_[id].server == self.round_->me() &&
                     self.clients_[id].who == request.source() &&
                     number < self.clients_[id].requests;
  if (!known || (self.asked_[id] >> number & 1) != 0) {
    self.round_->fail(kName, id,
                      "request " + std::to_string(number) + " of rank " +
                          std::to_string(request.source()) + " came twice, or was not sent");
  }
  self.asked_[id] |= std::uint64_t{1} << number;
  --self.awaited_;
  std::move(request).reply<&Clients::on_answer>(id, self.round_->key(kName, id));
}

void Clients::on_answer(am::Reply reply, std::uint64_t id, std::uint64_t check) {
  Clients& self = *current;
  if (id >= self.clients_.size() || self.clients_[id].server != reply.source() ||
      check != self.round_->key(kName, id) || ++self.answers_[id] > self.clients_[id].requests) {
    self.round_->fail(kName, id, "an answer that was not expected");
  }
}

void Clients::open(const Client& client, Open& mine) {
  ++live_;
  if (client.own_bundle) mine.bundle = std::make_unique<am::Bundle>(splitc::world().job());
  mine.endpoint =
      std::make_unique<am::Endpoint>(mine.bundle ? *mine.bundle : splitc::world().bundle());
  mine.endpoint->add_handlers<&Clients::on_ask, &Clients::on_answer>();
  mine.endpoint->set_tag(kTag);
  mine.endpoint->map(0, servers_[client.server], kTag);
}

bool Clients::attempt(const Client& client, Open& mine) {
  if (!mine.endpoint) {
    if (live_ == kMost) return false;
    open(client, mine);
  }
  if (mine.bundle) mine.bundle->poll();
  while (mine.sent != client.requests) {
    if (!mine.endpoint->try_request<&Clients::on_ask>(0, client.id, mine.sent)) return false;
    ++mine.sent;
  }
  if (client.leave != Leave::kAtOnce && answers_[client.id] != client.requests) return false;
  if (client.leave == Leave::kUnmapped) mine.endpoint->unmap(0);
  mine.endpoint.reset();
  mine.bundle.reset();
  --live_;
  return true;
}

void Clients::plan(const Round& round, Schedule& schedule) {
  round_ = &round;
  clients_.clear();
  awaited_ = 0;
  Random random = round.for_all(kName);
  const std::uint64_t count = std::uint64_t{round.operations(random)} * round.procs() / 4;
  for (std::uint64_t id = 0; id < count; ++id) {
    clients_.push_back(
        {.id = id,
         .who = random.below(round.procs()),
         .server = random.below(round.procs()),
         .requests = static_cast<std::uint32_t>(random.between(1, 40)),
         .own_bundle = random.one_in(2),
         .leave = static_cast<Leave>(random.below(static_cast<std::uint32_t>(Leave::kLeaves)))});
  }
  asked_.assign(count, 0);
  answers_.assign(count, 0);
  for (const Client& client : clients_) {
    if (client.server == round.me()) awaited_ += client.requests;
    if (client.who != round.me()) continue;
    schedule.add(kName, client.id, [this, &client, mine = std::make_shared<Open>()] {
      return attempt(client, *mine);
    });
  }
}

}  // namespace clients

std::unique_ptr<Family> make_clients(const Settings& settings) {
  return std::make_unique<clients::Clients>(settings);
}

}  // namespace soak
