#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "am/core/poller.h"
#include "splitc/team/group.h"
#include "splitc/team/mail.h"
#include "splitc/world/place.h"
#include "splitc/world/shared_owner.h"

namespace am {
class Bundle;
class Endpoint;
}  // namespace am

namespace splitc::detail {

class StartedTeamCall;

// All teams of this process. Part of every poll while it has started calls of some.
//
// Thread rule: the world's thread.
class Teams final : public am::Poller {
 public:
  // Registers the handlers.
  Teams(am::Bundle& bundle, am::Endpoint& endpoint);
  ~Teams() override;
  // Those of the world. Throws Error outside run().
  static Teams& of_world() { return the_ != nullptr ? *the_ : none(); }
  static Teams* existing() noexcept { return the_; }

  TeamMail& mail() noexcept { return mail_; }
  // The number of the next team whose first member this process is; no two teams have the same.
  std::uint64_t next_number() const noexcept;
  void use_number() noexcept { ++made_; }
  // Of all processes, and of those of this node; made at their first use.
  const SharedOwner<Group>& everybody();
  const SharedOwner<Group>& node();

  // Throws Error where this process may not make a call of a team.
  void check_may_call(Call call) const;
  // The same, and waits until the calls of `group` that were started have ended. Throws what those
  // threw that nobody will wait for any more.
  void before_call(Group& group, Call call);
  // Puts `call` behind those of its team that were started before.
  void start(const SharedOwner<StartedTeamCall>& call);
  void wait_for(StartedTeamCall& call, Call on_behalf);
  void keep(const std::exception_ptr& orphan) noexcept;
  // At the end of the program: all calls that were started have ended.
  void finish(Call call);

  int poll() override;
  // Not while a call waits for credits: what brings them wakes this process, or it looks in a
  // millisecond.
  bool has_work() noexcept override;

 private:
  static Teams& none();
  int go_on(Group& group);
  template <class Done>
  void poll_until(Done done, Call on_behalf);

  static inline Teams* the_ = nullptr;

  am::Bundle& bundle_;
  TeamMail mail_;
  std::uint64_t made_ = 2;  // beside the two that are there from the start
  SharedOwner<Group> everybody_;
  SharedOwner<Group> node_;
  std::vector<Group*> busy_;  // which have started calls
  std::exception_ptr orphan_;
  bool ending_ = false;     // a started call goes on, perhaps its operation
  std::uint64_t seen_ = 0;  // of the messages, at the last poll
};

}  // namespace splitc::detail
