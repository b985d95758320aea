// Memory outside the segment.

#include <rdma/fi_domain.h>

#include "am/link/fabric_link.h"
#include "rdma/error.h"

namespace am::link {
namespace {

class Registered final : public Registration {
 public:
  Registered(std::span<std::byte> range, rdma::Memory memory) noexcept
      : Registration(range, {memory.key().base, memory.key().key}), memory_(std::move(memory)) {}

 private:
  rdma::Memory memory_;
};

}  // namespace

std::unique_ptr<Registration> FabricLink::register_memory(std::span<std::byte> range) {
  const std::string me = "rank " + std::to_string(options_.rank) + ": ";
  if (!has_rma()) {
    throw Error(me + "register_memory: the network (" + describe() +
                ") has no RMA; ask has_rma() first");
  }
  try {
    return std::make_unique<Registered>(
        range, rdma::Memory(*fabric_, range, FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE,
                            &endpoint_.fid()));
  } catch (const rdma::Error& error) {
    throw Error(me + error.what());
  }
}

}  // namespace am::link
