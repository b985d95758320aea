// Which link a job takes to its other nodes (SPLITC_LINK).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/config/config.h"
#include "am/link/link.h"
#include "am/route/router.h"
#include "rdma/open_fabric.h"

namespace am {

// Opens links as `config` says, the same in all processes; each knows all processes of other nodes.
// Collective: all processes of the job call take(), once.
//
// Throws Error, rdma::Error: no network that all share, or none that can be used.
class Links {
 public:
  Links(Bootstrap& bootstrap, const Config& config, bool one_host, Router& router);

  std::unique_ptr<link::Link> take();

 private:
  std::unique_ptr<link::Link> open_reliable();
  std::unique_ptr<link::Link> open_datagrams();
  template <class Make>
  std::unique_ptr<link::Link> open(const rdma::FabricOptions& options, const Make& make);
  rdma::Way agree(const std::vector<rdma::Candidate>& candidates);
  template <class AnyLink>
  std::vector<std::byte> card_of(AnyLink& link) const;
  template <class AnyLink>
  void introduce(AnyLink& link);

  Bootstrap& bootstrap_;
  const Config& config_;
  const bool one_host_;
  Router& router_;
  const std::string who_;
};

}  // namespace am
