#include "tests/soak/families.h"

namespace soak {

std::span<const FamilyEntry> families() {
  static constexpr FamilyEntry kFamilies[] = {
      {"access", "*p, bulk_read, bulk_write", make_access},
      {"split", "get, put, their bulk forms, sync, and others who read what was put", make_split},
      {"stores", "store, bulk_store, store_sync, all_store_sync, counters", make_stores},
      {"words", "fetch_and_add, exchange, cmp_and_swap, test_and_set", make_words},
      {"locks", "objects that are read and written under a lock", make_locks},
      {"calls", "atomic, atomic_get, atomic_put", make_calls},
      {"arrays", "spread arrays and memory that come and go", make_arrays},
      {"collectives", "barriers, broadcasts, reductions, scans, gathers", make_collectives},
      {"messages", "requests and replies of every kind, and those that come back", make_messages},
      {"clients", "endpoints and bundles that come and go within a round", make_clients},
      {"channels", "put channels of Active Messages, of one source or two", make_channels},
      {"halos", "typed channels: put, multicast, reduce", make_halos},
      {"zero_copy", "get and put of buffers in every mode and kind of memory", make_zero_copy},
      {"offers", "requests whose payload is not copied", make_offers},
  };
  return kFamilies;
}

}  // namespace soak
