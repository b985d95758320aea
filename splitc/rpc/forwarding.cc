#include "splitc/rpc/forwarding.h"

#include "splitc/world/place.h"

namespace splitc::detail {

void refuse_other_flush(Call call) {
  refuse(call,
         "another process flushes another aggregator than this one; where several forward updates, "
         "flush them in the same order in every process");
}

}  // namespace splitc::detail
