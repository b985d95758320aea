#include "am/collective/exchange.h"

#include "am/core/endpoint.h"

namespace am {

void Exchange::connect(Endpoint& endpoint, Tag tag, SourceLocation where) {
  endpoint.set_tag(tag);
  const std::vector<Name> names = exchange(endpoint.name(), where);
  for (Rank rank = 0; rank < names.size(); ++rank) endpoint.map(rank, names[rank], tag);
}

}  // namespace am
