#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "am/barrier.h"
#include "am/endpoint.h"
#include "am/job/bootstrap.h"
#include "am/job/config.h"
#include "am/router.h"

namespace am {

struct Card;
struct Layout;

// This process's place in its job, from the launcher's first word to a router that reaches every
// peer: the composition root. One per process.
//
//   am::Job job;                       // a job of one when started bare, of N under a launcher
//   am::Bundle bundle(job);
//   am::Endpoint endpoint(bundle);
//   endpoint.add_handlers<&on_ping, &on_pong>();
//   job.connect(endpoint);             // now index r is the endpoint of rank r
//   ...
//   job.finish(bundle);
class Job {
 public:
  // Reads the environment. Throws Error, with cause and remedy, if the job cannot start.
  Job() : Job(read_config()) {}
  explicit Job(const Config& config);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  Rank rank() const noexcept { return router_->rank(); }
  std::uint32_t size() const noexcept { return router_->size(); }
  Router& router() noexcept { return *router_; }
  operator Router&() noexcept { return *router_; }
  const Config& config() const noexcept { return config_; }
  std::string launcher() const { return bootstrap_->launcher(); }

  // Gives `mine` to all and returns everybody's, by rank. Collective; blocks without progress, so
  // it is for set-up: no process may wait for a message of another meanwhile.
  template <class T>
  std::vector<T> exchange(const T& mine) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= Bootstrap::kMaxBlob);
    std::vector<T> all(size());
    const auto blobs = exchange_bytes(std::as_bytes(std::span(&mine, 1)));
    for (Rank rank = 0; rank < size(); ++rank)
      std::memcpy(&all[rank], blobs[rank].data(), sizeof(T));
    return all;
  }

  // Maps the endpoint that each process passes here at index = its rank, with `tag` as the tag of
  // all. Collective and blocking, like exchange(). Connections are made at their first use.
  void connect(Endpoint& endpoint, Tag tag = 1);

  // All processes meet, making progress on `bundle` meanwhile.
  void barrier(Bundle& bundle) { barrier_->wait(bundle); }
  Barrier& barrier() noexcept { return *barrier_; }

  // The last collective call: a barrier after which this process may leave with exit code 0 and
  // nobody needs its endpoints any more.
  void finish(Bundle& bundle);

  // Prints "rank R: <sentence>" and ends every process of the job.
  [[noreturn]] void abort(int exit_code, const std::string& sentence);

 private:
  std::vector<std::vector<std::byte>> exchange_bytes(std::span<const std::byte> mine);
  void open_neighbours(const std::vector<Card>& cards);
  void leave_network();
  void tell(const Layout& layout) const;

  const Config config_;
  std::unique_ptr<Bootstrap> bootstrap_;
  std::unique_ptr<Router> router_;
  std::unique_ptr<Barrier> barrier_;
};

}  // namespace am
