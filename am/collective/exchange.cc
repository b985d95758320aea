#include "am/collective/exchange.h"

#include <utility>

#include "am/core/endpoint.h"
#include "am/route/router.h"
#include "am/table/node_rows.h"

namespace am {
namespace {

// What each process says of its endpoint, and the lowest of a node of memory for what all have
// said.
struct Said {
  Name name;
  shmem::Region::Address offer;
};

}  // namespace

void Exchange::connect(Endpoint& endpoint, Tag tag, Here where) {
  endpoint.set_tag(tag);
  const Router& router = endpoint.bundle().router();
  NodeRows names(router.size(), sizeof(Name));
  Said mine{endpoint.name(), {}};
  if (router.leads_node() && router.options().near > 1) mine.offer = names.offer();
  std::vector<Said> all = exchange(mine, where);
  for (Rank rank = 0; rank < all.size(); ++rank) {
    all[rank].name.rank = 0;  // a row need not say which it is
    names.set(rank, std::as_bytes(std::span(&all[rank].name, 1)));
  }
  names.settle(all[router.near_ranks().front()].offer);
  EndpointParts& parts = endpoint.parts();
  const EndpointLock lock(parts);
  parts.translations.bind_all(std::move(names), tag, {"Job::connect", where});
}

}  // namespace am
