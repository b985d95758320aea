#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "am/types/types.h"

namespace am {

class Endpoint;

// How processes make themselves known to each other, before they can send: an am::Job is one.
//
//   job.connect(endpoint);                                       // the usual case
//
//   const std::vector<am::Name> names = job.exchange(second.name());
//   second.set_tag(7);
//   for (am::Rank r = 0; r < names.size(); ++r) second.map(r, names[r], 7);
//
// All calls are collective, and wait without running handlers: no process may wait for a message of
// another meanwhile. One thread at a time.
class Exchange {
 public:
  static constexpr std::size_t kMaxBytes = 512;  // of one value

  virtual ~Exchange() = default;

  // Gives `mine`, a trivially copyable value of at most 512 bytes, to all processes, and returns
  // the values of all, by rank. Throws Error if the job ends meanwhile. Costs a message to the
  // launcher and back: it is for set-up. `where` is named by the report on a job that stands still.
  template <class T>
  std::vector<T> exchange(const T& mine, Here where = {}) {
    static_assert(std::is_trivially_copyable_v<T>, "exchange() copies the bytes of a value");
    static_assert(sizeof(T) <= kMaxBytes,
                  "exchange() takes at most 512 bytes; exchange an address of the rest");
    static_assert(!std::is_same_v<T, bool>,
                  "std::vector<bool> holds no bool that could be copied to; exchange an int");
    const auto blobs = exchange_bytes(std::as_bytes(std::span(&mine, 1)), {"Job::exchange", where});
    std::vector<T> all(blobs.size());
    for (std::size_t rank = 0; rank < blobs.size(); ++rank)
      std::memcpy(&all[rank], blobs[rank].data(), sizeof(T));
    return all;
  }

  // Gives `endpoint` the tag `tag`, and maps at index r of it the endpoint that process r passes:
  // AM_SetTag, and AM_Map of all. `tag` is the same everywhere. Handlers should be registered
  // before, as requests may come as soon as another process returns. Throws Error if an index below
  // the number of processes is in use. Costs one exchange(); connections are made at their first
  // use.
  void connect(Endpoint& endpoint, Tag tag = 1, Here where = {});

 private:
  // What each process passes, by rank. `call` waits.
  virtual std::vector<std::vector<std::byte>> exchange_bytes(std::span<const std::byte> mine,
                                                             Call call) = 0;
};

}  // namespace am
