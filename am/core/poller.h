#pragma once

namespace am {

// Something besides messages that polling a bundle brings on.
//
// Thread rule: the bundle's.
class Poller {
 public:
  virtual ~Poller() = default;
  // Called by every Bundle::poll(), after what has come was handled. Like a handler it may not
  // wait; unlike one it may send, by try_request(). Returns how many things it has done.
  virtual int poll() = 0;
  // Asked before the process sleeps: whether poll() would do something. What comes later must ring
  // the process's doorbell, or come as a message.
  virtual bool has_work() noexcept = 0;
};

}  // namespace am
