// This room is for jobs that no launcher holds together: the processes find rank 0 over TCP, prove
// that they belong to the job, and stay connected to it. It uses am/job/bootstrap, which does not
// know it, am/job/config/config.h, am/sodium and shmem. Nobody is believed before the proof, no
// message may be larger than the job's largest, and no loss goes unnoticed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/bootstrap/rendezvous/messages.h"
#include "am/job/config/config.h"
#include "am/types/types.h"

namespace am {

// The connections while the job runs: a star around rank 0. A thread of its own sleeps on them, so
// that the end of a process is noticed at once, whatever the others are doing: a connection that
// closes before its process had finished ends the whole job, with a sentence.
//
// Used by one thread beside its own.
class Watch {
 public:
  // `connections`: at rank 0 those of all others, in order; elsewhere only that of rank 0. Throws
  // Error.
  Watch(Rank me, std::uint32_t size, std::vector<Connection> connections);
  // At rank 0 after finish(): waits until all others have finished, to notify them if a process
  // dies meanwhile. Without finish() closing the connections ends the job.
  ~Watch();

  // Waits for room. What is for a process that has gone is dropped.
  void send(Rank to, FrameKind kind, std::span<const std::byte> bytes);
  // The next frame from that rank. Waits for it; ends the process if none can come.
  Frame receive(Rank from);
  // Notifies the others that this process may leave.
  void finish();
  // Has all others but `except` end with `exit_code`, because of `why`. The caller ends this
  // process.
  void end_others(Rank except, int exit_code, std::string_view why);

 private:
  struct Peer {
    Rank rank;
    Connection connection;
    FrameReader reader;
    // Guarded by mutex_.
    std::deque<Frame> frames = {};
    bool finished = false;
    bool gone = false;
  };

  Peer& peer(Rank rank) { return peers_[rank == 0 ? 0 : rank - 1]; }
  void run();
  bool hear(Peer& peer);
  void take(Peer& peer, Frame frame);
  void notice_loss(Peer& peer);
  [[noreturn]] void end_process(Rank cause, int exit_code, const std::string& why);

  const Rank me_;
  const Connection alarm_;   // readable: the thread is to return
  std::vector<Peer> peers_;  // which are always the same
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;     // guarded by mutex_: this process has
  std::timed_mutex sending_;  // held while a frame is being sent
  std::once_flag ending_;     // one thread reports why
  std::thread thread_;
};

// A process that no launcher started, or one that says nothing of the others: it was given its rank
// and a place to meet (SPLITC_RENDEZVOUS).
class BootstrapRendezvous final : public Bootstrap {
 public:
  // Meets the others. Throws Error when that does not succeed within `patience`.
  BootstrapRendezvous(Rank rank, std::uint32_t size, const Rendezvous& where,
                      std::chrono::milliseconds patience = std::chrono::seconds(30));
  ~BootstrapRendezvous() override;

  Rank rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }
  std::string launcher() const override { return "rendezvous"; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override;
  void barrier() override { exchange({}); }
  void finished() override;

 private:
  void report_abort(int exit_code, std::string_view sentence) override;
  std::vector<std::byte> share(std::span<const std::byte> mine);

  const Rank rank_;
  const std::uint32_t size_;
  Watch watch_;
  bool finished_ = false;
};

}  // namespace am
