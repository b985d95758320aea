#pragma once

#include <cstdint>
#include <vector>

#include "am/channel/ends.h"
#include "am/channel/seats.h"
#include "am/observe/observers.h"
#include "am/route/router.h"
#include "am/types/object_pool.h"

namespace am {

class Bundle;

// The senders' ends of a process: how each put is sent, and the puts that found no room yet.
//
// Thread rule: the bundle's.
class ChannelSenders {
 public:
  ChannelSenders(Bundle& bundle, ChannelSeats& seats);

  // Throws Error if the handle is none, or stale as far as can be seen from here.
  void open(detail::SendEnd& end);
  void close(detail::SendEnd& end);
  void put(detail::SendEnd& end);
  void spoil() noexcept {  // so that each put is refused
    for (detail::SendEnd* const end : ends_) end->source_count = 0;
  }

  // Starts what found no room; returns how much.
  int poll() {
    seats_.poll();
    return waiting_.empty() ? 0 : resume();
  }
  bool has_work() const noexcept { return !waiting_.empty(); }

 private:
  using End = detail::SendEnd;
  // Of a put or row that the network writes. Each has its own: another thread may report several
  // before this one looks.
  struct Write : link::Completion {
    ChannelSenders* owner = nullptr;
    End* end = nullptr;
  };

  void start(End& end);
  void put_noted(End& end);  // which is counted, traced, or both
  void put_traced(Trace& trace, End& end);
  void open_near(End& end);
  void wait_for_last(End& end);
  void check(const End& end) const;
  void put_near(End& end, const End::Source& source);
  bool try_start(End& end);
  bool try_write(End& end, const link::RmaAccess& access);
  static void left(link::Completion& completion);
  bool try_write_rows(End& end, const End::Source& source);
  bool try_send_pieces(End& end, const End::Source& source);
  void send_piece(const End& end, const End::Source& source, std::uint32_t bytes);
  int resume();
  [[noreturn]] void refuse(const char* call, const ChannelHandle& handle,
                           const std::string& what) const;

  // Constant after construction.
  Bundle& bundle_;
  Router& router_;
  ChannelSeats& seats_;
  // Owned by the bundle's thread.
  std::vector<End*> ends_;     // open ones
  std::vector<End*> waiting_;  // oldest first
  ObjectPool<Write> writes_;
};

}  // namespace am
