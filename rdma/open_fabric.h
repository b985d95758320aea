// The provider and network that a process talks through: chosen among what libfabric offers, then
// opened as one fabric and one domain.
//
//   auto ways = rdma::Fabric::candidates(options);              // best first
//   ... every process sends its ways (8 bytes each) to all ...
//   rdma::Fabric fabric(options, rdma::common_way(all_ways));   // the same for all
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "rdma/choose.h"
#include "rdma/library.h"
#include "rdma/provider_guard.h"

namespace rdma {

class Fabric {
 public:
  using Options = FabricOptions;
  using Candidate = rdma::Candidate;

  static constexpr std::size_t kMaxCandidates = 32;

  // What may be used, best first, at most kMaxCandidates and at least one. Hardware before TCP
  // before what emulates it; IPv4 before IPv6. Left out unless named: bridges and other virtual
  // interfaces, loopback (but for one_host), addresses of one link, the provider shm.
  // Throws Error: none left (says what there is and why it was refused), or a name nobody has.
  static std::vector<Candidate> candidates(const Options& options);

  // Everything that libfabric lists, whether it may be used or not, which choose() says. Throws
  // Error: libfabric cannot be loaded, or cannot list.
  static std::vector<Offer> offers(const Options& options);

  // Opens the best candidate that `way` includes.
  // Throws Error: none is included, or libfabric refuses.
  Fabric(const Options& options, Way way);

  const fi_info& info() const { return *info_; }  // what to open an endpoint with
  fid_fabric* fabric() const { return fabric_.get(); }
  fid_domain* domain() const { return domain_.get(); }
  const Candidate& candidate() const { return candidate_; }

  // For calls that set up something else of this provider.
  ProviderGuard guard() const;

  // One line: what it is and why: "tcp on eth0 (192.0.2.0/24): inject 128 B, RMA, ... (best of
  // ...)"
  std::string describe() const;

  // Its endpoints send and receive unreliable datagrams (FI_EP_DGRAM); what follows is about the
  // others.
  bool is_unreliable() const { return info_->ep_attr->type == FI_EP_DGRAM; }

  bool has_rma() const { return (info_->caps & FI_RMA) != 0; }

  // Whether it has RMA that can be used. Every read and write comes to its end: under load, when
  // packets are lost, those of ofi_rxd may not (libfabric 1.17), as a read is never answered, or
  // fi_cq_read() never returns. And the completion of a write can mean that it is in the target's
  // memory (FI_DELIVERY_COMPLETE).
  bool has_usable_rma() const { return has_rma() && !is_rxd() && delivery_complete_; }

  // How many bits of completion data a put carries to its target.
  unsigned put_data_bits() const { return info_->domain_attr->cq_data_size >= 8 ? 64 : 32; }

  // The longest write that can notify its target, with 4 bytes at least, that it is complete
  // (FI_REMOTE_CQ_DATA). 0: there is none.
  std::size_t max_put() const {
    return has_rma() && info_->domain_attr->cq_data_size >= 4 ? info_->ep_attr->max_msg_size : 0;
  }

  // Whether a put can be of two ranges to two places.
  bool puts_in_parts() const {
    return max_put() != 0 && info_->tx_attr->iov_limit >= 2 && info_->tx_attr->rma_iov_limit >= 2;
  }

  // A send posted after a write is delivered after it (FI_ORDER_SAW).
  bool write_before_send() const { return (info_->tx_attr->msg_order & FI_ORDER_SAW) != 0; }

  // A completion queue can be waited for as a descriptor (FI_WAIT_FD).
  bool has_wait_fd() const { return wait_fd_; }

  // Whether one that is only polled is as fast as one without. (ofi_rxm takes 1.3 us more a
  // message.)
  bool has_cheap_wait_fd() const { return wait_fd_ && !candidate_.provider.ends_with("ofi_rxm"); }

  // The network reads and writes memory itself; else the provider has the target's processor do it.
  bool is_hardware() const { return is_hardware_provider(candidate_.provider); }

  // A TCP connection to each process, nothing above it: a message for which no receive is posted
  // waits in its socket.
  bool is_native_tcp() const { return rdma::is_native_tcp(candidate_.provider); }

  // Local buffers need a Memory::descriptor() (FI_MR_LOCAL).
  bool needs_local_keys() const { return local_keys_; }

  // An operation whose local memory cannot be read or written is never reported: the provider takes
  // the system's answer for a full socket, or copies between processes and waits for the other one.
  bool waits_for_bad_memory() const { return waits_for_bad_memory_; }

  // Messages and writes up to that size may be injected: their buffer may be reused on return. 0
  // where each send must be counted.
  std::size_t inject_bytes() const { return is_rxd() ? 0 : info_->tx_attr->inject_size; }

  // A message up to that size is sent at once; for a longer one ofi_rxm asks the receiver first, or
  // takes it apart. And from about there on another byte costs what it costs in a long message.
  std::size_t eager_bytes() const;

  // How many sends may be in flight. Before libfabric 2.4 ofi_rxd takes those that it has no
  // room for as well, and loses them; the others refuse them. Endpoint counts sends wherever there
  // is a limit, but not those that are injected: inject_bytes() is 0 there.
  static constexpr std::size_t kRefusesMore = std::numeric_limits<std::size_t>::max();
  std::size_t most_sends() const { return is_rxd() ? info_->tx_attr->size : kRefusesMore; }

 private:
  void open();
  bool is_rxd() const { return candidate_.provider.ends_with("ofi_rxd"); }

  std::string who_;
  Candidate candidate_;
  std::string reason_;
  Info info_;
  Fid<fid_fabric> fabric_;
  Fid<fid_domain> domain_;
  bool local_keys_ = false;
  bool waits_for_bad_memory_ = false;
  bool wait_fd_ = false;
  bool delivery_complete_ = false;
};

}  // namespace rdma
