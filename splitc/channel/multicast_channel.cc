#include "splitc/channel/multicast_channel.h"

#include <string>
#include <vector>

#include "splitc/collective/barrier.h"
#include "splitc/collective/collective.h"
#include "splitc/world/world.h"

namespace splitc::detail {

Multicast::Multicast(std::span<std::byte> mine, std::uint32_t root) : root_(root) {
  if (root >= procs()) {
    refuse("multicast_channel", "there is no process " + std::to_string(root) + " among " +
                                    std::to_string(procs()) + "; pass the root's number");
  }
  am::ChannelHandle handle;
  if (my_proc() != root) {
    in_.emplace(world().bundle(), mine, [] {});
    handle = in_->handle();
  }
  std::vector<am::ChannelHandle> handles = all_gather(handle);
  if (my_proc() == root) {
    handles.erase(handles.begin() + root);
    out_.emplace(world().bundle(), handles);
    out_->associate(mine);
  }
  barrier();  // the root waits for some of the others, who answer here
}

void Multicast::put() {
  if (!out_) refuse("multicast_channel::put", "this process is not the root, which alone sends");
  out_->put();
}

void Multicast::wait(am::SourceLocation where) {
  world().bundle().wait_until([this] { return arrived(); }, am::Wake::kRung,
                              [&] {
                                return am::Reason{.call = {"multicast_channel::wait", where},
                                                  .needs = "a put",
                                                  .peer = root_,
                                                  .needs_all = true};
                              });
}

void Multicast::ready() {
  if (in_) in_->ready();
}

}  // namespace splitc::detail
