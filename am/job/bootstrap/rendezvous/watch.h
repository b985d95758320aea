// The connections of a rendezvous while the job runs: a star around rank 0, and those by which
// processes pass on what it says (rendezvous.h). A thread of its own sleeps on them, so that the
// end of a process is noticed at once, whatever the others are doing: a connection that closes
// before its process had finished ends the whole job, with a sentence.
#pragma once

#include <poll.h>

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "am/job/bootstrap/rendezvous/meeting.h"
#include "am/job/bootstrap/rendezvous/messages.h"
#include "am/types/types.h"

namespace am {

// Used by one thread beside its own.
class Watch {
 public:
  // `connections`: at rank 0 those of all others, elsewhere only that of rank 0. Throws Error.
  Watch(Rank me, std::uint32_t size, std::vector<Met> connections);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  // At rank 0 after finish(): waits until all others have finished, to notify them if a process
  // dies meanwhile. Without finish() closing the connections ends the job.
  ~Watch();

  // More connections, to processes that have none here.
  void add(std::vector<Met> connections);
  // This process's end of the connection to `rank`.
  SocketAddress here(Rank rank);

  // Waits for room. What is for a process that has gone is dropped.
  void send(Rank to, FrameKind kind, std::span<const std::byte> bytes);

  // The next frame from that rank. Waits for it; ends the process if none can come.
  Frame receive(Rank from);

  // Notifies the others that this process may leave.
  void finish();

  // Has the others end with `exit_code`, because of `why`. The caller ends this process.
  void end_others(int exit_code, std::string_view why);

 private:
  struct Peer {
    Connection connection;
    FrameReader reader;
    std::list<Frame> frames;  // guarded by mutex_
    bool finished = false;    // guarded by mutex_
    bool gone = false;        // guarded by mutex_
  };

  void note(std::vector<Met> connections);
  void ring();
  Peer& peer(Rank rank);
  std::vector<Rank> ranks();
  void run();
  bool is_to_watch(std::vector<pollfd>& watched);
  bool hear(Rank rank);
  void take(Rank rank, Frame frame);
  void notice_loss(Rank rank);
  bool all_settled() const;
  [[noreturn]] void end_process(Rank cause, int exit_code, const std::string& why);
  void send_end(Rank except, int exit_code, std::string_view why);

  const Rank me_;
  const std::uint32_t size_;
  const Connection alarm_;     // readable: the thread is to check added_ and stop_
  std::vector<Rank> watched_;  // by the thread, which alone uses it

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Rank, Peer> peers_;  // guarded by mutex_, but for what is in those that are there
  bool added_ = true;           // guarded by mutex_: the thread does not know all of peers_
  bool stop_ = false;           // guarded by mutex_: it is to return
  bool finished_ = false;       // guarded by mutex_: this process has

  std::timed_mutex sending_;  // held while a frame is being sent
  std::once_flag ending_;     // one thread reports why
  std::thread thread_;
};

}  // namespace am
