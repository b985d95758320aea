// Requests and gets of an endpoint to endpoints of its own process that found no credit. Waiting
// for credit would run handlers inside the request call, and would never end where the receiving
// bundle is one that only the calling thread polls, later. So they are kept here, and sent by the
// polls of the bundle.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <variant>
#include <vector>

#include "am/c/binding/handles.h"
#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/core/poller.h"

namespace am::c {

// Whether there was credit, and it is sent.
inline bool try_send(Endpoint& from, std::uint32_t to, const UntypedRequest& request) {
  return from.try_request_index(to, request);
}
inline bool try_send(Endpoint& from, std::uint32_t to, const UntypedGet& get) {
  return from.try_get_index(to, get);
}

// Thread rule: that of the endpoint's bundle; several threads of a parallel one.
class OwnQueue final : public Poller {
 public:
  explicit OwnQueue(Endpoint& endpoint) noexcept : endpoint_(endpoint) {}
  ~OwnQueue() override;

  bool empty() const noexcept { return reasons() == (at_once() ? 1 : 0); }
  // Whether messages of the endpoint to this process are handled in the call that sends them, where
  // there is credit. Not while others use the endpoint.
  bool at_once() const noexcept { return at_once_.load(std::memory_order_relaxed); }
  void set_at_once(bool at_once) noexcept;
  // Whether messages of the endpoint go through send_slowly(): some are queued, or some are to be
  // handled at once. One question for both, as each message asks.
  bool diverts() const noexcept { return reasons() != 0; }
  // Copies a request, payload and all, or a get.
  template <class Message>
  void add(std::uint32_t to, Message message);
  // Polls all bundles of the thread until all are sent, on behalf of `call`. Throws what handlers
  // throw meanwhile.
  void wait_until_sent(const char* call);
  // The endpoint goes from the bundle `from` to another: leaves it, and joins the other.
  void leave(Bundle& from) noexcept;
  void join(Bundle& to);

  // What a bundle calls.
  int poll() override;
  bool has_work() noexcept override;

 private:
  struct Waiting {
    std::uint32_t to;
    std::variant<UntypedRequest, UntypedGet> message;  // of the two below
    std::vector<std::uint32_t> arguments;
    std::vector<std::byte> payload;
  };

  std::size_t reasons() const noexcept { return count_.load(std::memory_order_relaxed); }
  bool try_send_oldest();

  Endpoint& endpoint_;
  std::mutex mutex_;             // guards the rest, but for count_'s readers
  std::deque<Waiting> waiting_;  // a poller of in_ while there are any
  Bundle* in_ = nullptr;
  std::atomic<bool> at_once_{false};
  std::atomic<std::size_t> count_{0};  // of these that wait, and one more while at_once_
};

// --- What happens with requests and gets that find no credit: AM_Request and its like wait,
// AM_RequestXferAsync and AM_GetXferAsync return AM_ERR_NOT_SENT, and what goes to the own process
// is queued.

// Whether a call waits for credit, or returns AM_ERR_NOT_SENT.
enum class Patience { kWaits, kTries };

// Messages to this process that had no credit go first, or are to be handled at once.
inline bool has_queued(const EndpointState& from) noexcept {
  return from.queue && from.queue->diverts();
}

// Sends a request or a get that found no credit, or has to go behind others of that kind. Returns a
// code, or throws what the core throws.
template <class Message>
int send_slowly(const char* call, EndpointState& from, std::uint32_t to, const Message& message,
                Patience patience);

}  // namespace am::c
