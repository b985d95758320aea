#pragma once

namespace am {

// Something besides messages that makes progress when a bundle is polled: channels, zero-copy
// buffers, or a program's own (Bundle::add()).
//
// Thread rule: the bundle's.
class Poller {
 public:
  virtual ~Poller() = default;
  // Called by every Bundle::poll(), after the messages that have arrived. Like a handler it may not
  // wait; unlike one it may send, by try_request(). Returns how many things it has done, which
  // poll() adds to its count: anything but 0 keeps a wait from sleeping. What it throws comes out
  // of poll().
  virtual int poll() = 0;
  // Called before the process sleeps: whether poll() would do something. Work that comes later must
  // ring the process's doorbell (Router::notify()), or come as a message, to wake it.
  virtual bool has_work() noexcept = 0;
};

}  // namespace am
