#pragma once

#include <atomic>
#include <thread>

namespace am {

class DeathNotices;
class Router;

// A thread that sleeps until the launcher says that a process of the job has died, and then notes
// it at the router. Only in a job that goes on without its dead.
class DeathWatch {
 public:
  // Both outlive it.
  DeathWatch(DeathNotices& notices, Router& router);
  ~DeathWatch();
  DeathWatch(const DeathWatch&) = delete;
  DeathWatch& operator=(const DeathWatch&) = delete;

 private:
  void watch() noexcept;

  DeathNotices& notices_;
  Router& router_;
  std::atomic<bool> stops_{false};
  std::atomic<bool> has_stopped_{false};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace am
