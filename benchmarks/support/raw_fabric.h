#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "am/types/types.h"

namespace am {
class Job;
}

namespace bench {

// libfabric by hand, without the library: one reliable endpoint, its address vector and one
// completion queue in every process of a job. It is the limit that the library's figures across
// nodes are compared with, so it does no more than an operation needs.
//
// One thread. Whoever waits for the other process must call poll(), or nothing moves.
class RawFabric {
 public:
  struct Options {
    std::string provider{};  // libfabric's name
    std::string network{};   // libfabric's name of the fabric, such as a subnet
    fi_threading threading = FI_THREAD_DOMAIN;
    fi_wait_obj wait = FI_WAIT_NONE;
  };
  static constexpr std::size_t kLargestMessage = 64 << 10;  // of fi_send
  static constexpr std::uint64_t kLargestWindow = 64;

  // Collective over the job. Others may write to `target` and read it; `source` is what this
  // process's own operations read and write; without it they can send some bytes. Throws
  // std::runtime_error with libfabric's reason.
  RawFabric(am::Job& job, const Options& options, std::span<std::byte> target,
            std::span<std::byte> source);
  RawFabric(const RawFabric&) = delete;
  RawFabric& operator=(const RawFabric&) = delete;

  // Whether the provider can be opened that way: false when a child that tries it crashes.
  static bool can_open(const Options& options);

  // Its provider, interface and limits, in a line.
  std::string describe() const;
  std::size_t inject_bytes() const noexcept { return info_->tx_attr->inject_size; }
  // Operations of one kind that may be under way.
  std::uint64_t window() const noexcept { return window_; }
  void set_window(std::uint64_t operations) noexcept {
    window_ = std::min({operations, kLargestWindow, std::uint64_t{info_->tx_attr->size}});
  }

  // Handles completions; returns how many.
  int poll() {
    fi_cq_data_entry entries[kBatch];
    return handle_all(entries, fi_cq_read(queue_.get(), entries, kBatch));
  }
  // Gives the core away now and then in case somebody else needs it.
  template <class Condition>
  void wait_until(Condition&& condition) {
    for (int looks = 0; !condition();) look_and_rest(looks);
  }
  // Until everything that this process has started is complete.
  void drain() {
    wait_until([this] { return done_ == started_; });
  }
  // Until at most `window() - 1` operations are under way.
  void make_room() {
    if (started_ - done_ >= window_) wait_until([this] { return started_ - done_ < window_; });
  }

  // All of them return when the provider has taken the operation. Injected ones complete silently.
  void inject(am::Rank to, std::size_t bytes) {
    retry("fi_inject", [&] { return fi_inject(endpoint_.get(), source_, bytes, peers_[to].at); });
  }
  void send(am::Rank to, std::size_t bytes) {
    start("fi_send", [&](void* context) {
      return fi_send(endpoint_.get(), source_, bytes, own_descriptor_, peers_[to].at, context);
    });
  }
  // inject() if they fit, else send().
  void send_short(am::Rank to, std::size_t bytes) {
    bytes <= inject_bytes() ? inject(to, bytes) : send(to, bytes);
  }
  void read(am::Rank from, std::size_t offset, std::size_t bytes) {
    start("fi_read", [&](void* context) {
      const Peer& peer = peers_[from];
      return fi_read(endpoint_.get(), source_, bytes, own_descriptor_, peer.at, peer.base + offset,
                     peer.key, context);
    });
  }
  void write(am::Rank to, std::size_t offset, std::size_t bytes) {
    start("fi_write", [&](void* context) {
      const Peer& peer = peers_[to];
      return fi_write(endpoint_.get(), source_, bytes, own_descriptor_, peer.at, peer.base + offset,
                      peer.key, context);
    });
  }
  // Complete when the target has the bytes.
  void write_delivered(am::Rank to, std::size_t offset, std::size_t bytes) {
    start("fi_writemsg", [&](void* context) {
      return post_write(to, offset, bytes, context, FI_DELIVERY_COMPLETE | FI_COMPLETION);
    });
  }
  void inject_write(am::Rank to, std::size_t offset, const std::uint64_t& word) {
    retry("fi_inject_write", [&] {
      const Peer& peer = peers_[to];
      return fi_inject_write(endpoint_.get(), &word, sizeof word, peer.at, peer.base + offset,
                             peer.key);
    });
  }
  // The target counts it in written().
  void write_data(am::Rank to, std::size_t offset, std::size_t bytes) {
    const Peer& peer = peers_[to];
    if (bytes <= inject_bytes()) {
      retry("fi_inject_writedata", [&] {
        return fi_inject_writedata(endpoint_.get(), source_, bytes, 1, peer.at, peer.base + offset,
                                   peer.key);
      });
      return;
    }
    start("fi_writedata", [&](void* context) {
      return fi_writedata(endpoint_.get(), source_, bytes, own_descriptor_, 1, peer.at,
                          peer.base + offset, peer.key, context);
    });
  }

  // What has come: messages, and writes that carried data for the completion queue.
  std::uint64_t received() const noexcept { return received_; }
  std::uint64_t written() const noexcept { return written_; }
  bool idle() const noexcept { return done_ == started_; }
  // Gives the receives back whose messages have been counted. While it is called now and then, more
  // messages than kReceives may come.
  void repost();

 private:
  static constexpr std::size_t kBatch = 16;
  static constexpr std::size_t kReceives = 64;
  static constexpr std::size_t kContexts = 256;
  static constexpr std::size_t kStride = kLargestMessage + 64;  // apart in the caches, too

  struct Close {
    template <class F>
    void operator()(F* object) const noexcept {
      fi_close(&object->fid);
    }
  };
  template <class F>
  using Fid = std::unique_ptr<F, Close>;
  struct FreeInfo {
    void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
  };
  struct Peer {
    fi_addr_t at;
    std::uint64_t base;  // of the target, as the provider counts
    std::uint64_t key;
  };
  struct Card;  // what the others need to know

  struct Opened;  // the objects, without memory and peers

  static fi_info* choose(const Options& options);
  static Opened open(fi_info& info, const Options& options);
  Fid<fid_mr> enroll(std::span<std::byte> bytes, std::uint64_t access, std::uint64_t key);
  void meet_peers(am::Job& job, std::span<std::byte> target);
  void post_receive(std::size_t slot);
  ssize_t post_write(am::Rank to, std::size_t offset, std::size_t bytes, void* context,
                     std::uint64_t flags);
  [[noreturn]] void fail_in_queue(ssize_t result);
  [[noreturn]] void fail(const char* call, ssize_t result) const;

  template <class Call>
  void retry(const char* name, Call&& call) {
    for (int looks = 0;;) {
      const ssize_t result = call();
      if (result == 0) return;
      if (result != -FI_EAGAIN) fail(name, result);
      look_and_rest(looks);
    }
  }
  template <class Call>
  void start(const char* name, Call&& call) {
    make_room();
    fi_context2& context = contexts_[started_ % kContexts];
    retry(name, [&] { return call(&context); });
    ++started_;
  }
  void look_and_rest(int& looks) {
    if (poll() != 0 || ++looks < patience_) return;
    rest();
    looks = 0;
  }
  void rest();
  int handle_all(const fi_cq_data_entry* entries, ssize_t count) {
    if (count == -FI_EAGAIN) return 0;
    if (count < 0) fail_in_queue(count);
    for (ssize_t i = 0; i < count; ++i) handle(entries[i]);
    return static_cast<int>(count);
  }
  // By the context: the sockets provider has FI_REMOTE_CQ_DATA in the flags of own writes, too.
  void handle(const fi_cq_data_entry& entry) {
    const auto* const context = static_cast<const fi_context2*>(entry.op_context);
    if ((entry.flags & FI_RECV) != 0) {
      ++received_;
      used_.push_back(static_cast<std::size_t>(context - receive_contexts_.data()));
    } else if (context >= contexts_.data() && context < contexts_.data() + kContexts) {
      ++done_;
    } else {
      ++written_;
    }
  }

  // Constant after construction; closed from the last to the first.
  std::unique_ptr<fi_info, FreeInfo> info_;
  Fid<fid_fabric> fabric_;
  Fid<fid_domain> domain_;
  Fid<fid_av> addresses_;
  Fid<fid_cq> queue_;
  Fid<fid_mr> target_, own_, receive_memory_;
  Fid<fid_ep> endpoint_;
  std::byte* source_;
  void* own_descriptor_ = nullptr;
  void* receive_descriptor_ = nullptr;
  std::vector<Peer> peers_;  // by rank
  // The sockets provider moves data by threads of its own, which need a core that nobody spins on.
  bool sleeps_;
  int patience_;  // empty polls until the core is given away
  std::uint64_t window_ = kLargestWindow;
  // Counts only grow.
  std::uint64_t started_ = 0;  // with a completion
  std::uint64_t done_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t written_ = 0;
  std::array<fi_context2, kContexts> contexts_;
  std::array<fi_context2, kReceives> receive_contexts_;
  std::unique_ptr<std::byte[]> receives_;
  std::vector<std::size_t> used_;  // slots of receives_ to be posted again
};

}  // namespace bench
