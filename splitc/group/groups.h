#pragma once

#include <cstdint>
#include <exception>
#include <unordered_map>
#include <vector>

#include "am/collective/nodes.h"
#include "am/core/poller.h"
#include "splitc/group/boards.h"
#include "splitc/group/group.h"
#include "splitc/group/mail.h"
#include "splitc/group/plan.h"
#include "splitc/world/context.h"
#include "splitc/world/place.h"
#include "splitc/world/shared_owner.h"

namespace am {
class Bundle;
class Endpoint;
}  // namespace am

namespace splitc::detail {

class StartedGroupCall;

// All groups of this process. Part of every poll of its first thread while it has started calls.
//
// Thread rule: each thread may make calls, of each group one at a time; the first one also starts
// some. What messages come to is guarded by lock(), as any thread's poll may receive them.
class Groups final : public am::Poller {
 public:
  // Registers the handlers.
  explicit Groups(am::Endpoint& endpoint);
  ~Groups() override;
  // Those of the world. Throws Error outside run().
  static Groups& of_world() { return the_ != nullptr ? *the_ : none(); }
  static Groups* existing() noexcept { return the_; }

  Mail& mail() noexcept { return mail_; }
  Boards& boards() noexcept { return boards_; }
  Staging& staging() noexcept { return staging_; }
  // A number for a group whose first member this process is; no two groups have the same.
  std::uint64_t take_number() noexcept;
  // Holds what the polls of other threads touch as well: messages, performers, groups.
  auto lock() noexcept { return lock_among_threads(mail_.mutex()); }
  // The groups of all processes, for teams and for the calls of the job itself, and that of the
  // processes of this node. Made at first use.
  const SharedOwner<Group>& everybody();
  const SharedOwner<Group>& job();
  const SharedOwner<Group>& node();

  // Whether this process is between the two halves of a barrier; in checked builds they are a call
  // that is started.
  bool is_notified() const noexcept { return is_notified_; }
  void notify(const SharedOwner<StartedGroupCall>& call);
  SharedOwner<StartedGroupCall> end_notified() noexcept;

  // Throws Error where this process may not make a call of a group.
  void check_may_call(Call call) const;
  // Waits until the calls of `group` that were started have ended. Throws what dropped ones threw,
  // which will not be waited for any more.
  void end_started(Group& group, Call call);
  // Puts `call` behind those of its group that were started before.
  void start(const SharedOwner<StartedGroupCall>& call);
  void wait_for(StartedGroupCall& call, Call on_behalf);
  void keep(const std::exception_ptr& orphan) noexcept;
  // At the end of the program: all calls that were started have ended.
  void finish(Call call);

  // How this process can be known to others of its node.
  const am::Neighbour& self() const noexcept { return self_; }
  // Whether the kernel copies from the memory of `proc`, which has said how it can be known.
  bool can_read(std::uint32_t proc, const am::Neighbour& process);
  // Whether it has done so wherever that has been tried.
  bool kernel_reads() const noexcept;

  int poll() override;
  // False while a call waits for credits: their arrival wakes this process, or it polls within a
  // millisecond.
  bool has_work() noexcept override;

 private:
  // Those that are there from the start, by their number among those of their first member.
  enum Standing : std::uint32_t { kJob, kEverybody, kNode, kStanding };

  static Groups& none();
  static SharedOwner<Group> make(Standing number, std::vector<std::uint32_t> procs);
  static SharedOwner<Group> of_all(Standing number);
  int go_on(Group& group);
  template <class Done>
  void poll_until(Done done, Call on_behalf);

  static inline Groups* the_ = nullptr;

  Mail mail_;
  Boards boards_;
  Staging staging_;
  const am::Neighbour self_ = am::Neighbour::self();
  std::uint64_t made_ = kStanding;
  SharedOwner<Group> everybody_;
  SharedOwner<Group> job_;
  SharedOwner<Group> node_;
  SharedOwner<StartedGroupCall> notified_;
  bool is_notified_ = false;
  std::unordered_map<std::uint32_t, bool> readable_;  // processes of this node
  std::vector<Group*> busy_;                          // which have started calls
  std::exception_ptr orphan_;
  bool ending_ = false;     // a started call goes on, perhaps its operation
  std::uint64_t seen_ = 0;  // of the messages, at the last poll
};

}  // namespace splitc::detail
