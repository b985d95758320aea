#include "am/route/port.h"

#include <poll.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "am/link/progress_thread.h"
#include "am/route/event_descriptor.h"
#include "am/route/router.h"
#include "am/types/forked.h"
#include "am/types/shared_words.h"
#include "am/types/thread.h"

namespace am {
namespace {

// How long to sleep where no descriptor becomes readable when something arrives.
constexpr std::int64_t kBlindNapNs = 100'000;

// A time, or `limit` if that is shorter. A negative limit is none.
std::int64_t shortened(std::int64_t time, std::int64_t limit) {
  return limit < 0 ? time : std::min(time, limit);
}

// Shows pieces of long accesses that are over: where a look before a sleep ends the last one, too,
// as nobody polls any more then.
void note_pieces(Activity& activity, std::uint64_t pieces, std::uint64_t& noted) noexcept {
  if (pieces != noted) [[unlikely]]
    activity.count_pieces(pieces - std::exchange(noted, pieces));
}

}  // namespace

Port::Port(Router& router, Owned<link::Link> link, bool progress_thread)
    : router_(router),
      link_(std::move(link)),
      rings_(router.rings()),
      sinks_([this](Rank from, const link::PacketHeader& packet) { refuse(from, packet); }) {
  if (progress_thread) {
    progress_ =
        std::make_unique<link::ProgressThread>(*link_, [&router] { router.notify(router.rank()); });
  }
}

std::shared_ptr<link::Registration> Port::register_memory(std::span<std::byte> memory) {
  const Lock network(*this);
  return {link_->can().registrar->register_memory(memory).release(),
          [this](const link::Registration* registration) {
            const Lock now_inside(*this);
            delete registration;
          }};
}

Port::~Port() {
  if (is_forked()) static_cast<void>(link_.release());
}

void Port::spoil() noexcept {
  lock_.begin_in_child();
  link::spoil(*link_);
  static_cast<void>(progress_.release());  // the thread is not in the child
}

void Port::stop_progress() noexcept { progress_.reset(); }

bool Port::expects() noexcept {
  if (attention_.load(std::memory_order_relaxed) != 0 ||
      expected_.load(std::memory_order_relaxed) != 0) {
    return true;
  }
  const TryLock inside(*this);
  return inside && (link_->busy() ||
                    std::ranges::any_of(resumed_, [](const Resumed* one) { return !one->idle(); }));
}

int Port::poll() {
  skipped_.store(0, std::memory_order_relaxed);
  const int count = lock_.biased() ? (resume(), link_->poll(sinks_)) : poll_among_threads(false);
  const SendStats& sent = link_->stats().sent;
  router_.activity().note_network(count, sent.bytes + sent.accessed);
  note_pieces(router_.activity(), sent.pieces, pieces_);
  const int attention = attention_.load(std::memory_order_relaxed);
  if (count != 0) {
    attention_.store(kAttention, std::memory_order_relaxed);
  } else if (attention > 0) {
    attention_.store(attention - 1, std::memory_order_relaxed);
  }
  return count;
}

// What a poll of the link leaves unread makes no descriptor readable for those who sleep: so there
// is nothing left, or they are woken; and nobody falls asleep.
int Port::poll_among_threads(bool all) {
  here_ = 0;
  resume();
  int count = 0;
  int round = 0;
  do {
    const int more = link_->poll(sinks_);
    drained_ = more == 0;
    count += more;
  } while (!drained_ && (all || sleepers_ != 0) && ++round < kRounds);
  if (count != here_ || (!drained_ && sleepers_ != 0)) wake_others();
  return count;
}

void Port::wake_others() noexcept { router_.notify(router_.rank()); }

bool Port::fetch() {
  resume();
  const bool kept = lock_.biased() ? link_->fetch(sinks_) : (poll_among_threads(true), false);
  note_pieces(router_.activity(), link_->stats().sent.pieces, pieces_);
  resume();  // there may be room now, and nothing else that comes before the caller sleeps
  return kept;
}

void Port::forget_dead() {
  const std::uint32_t deaths = router_.deaths()->count();
  for (Rank rank = 0; rank < router_.size(); ++rank) {
    if (router_.is_dead(rank) && !router_.is_near(rank)) link_->forget(rank);
  }
  forgotten_ = deaths;
}

void Port::resume() {
  const Deaths* const deaths = router_.deaths();
  if (deaths != nullptr && deaths->count() != forgotten_) [[unlikely]]
    forget_dead();
  for (Resumed* const one : resumed_) one->resume();
}

void Port::refuse(Rank from, const link::PacketHeader& packet) const {
  router_.fatal("poll: a message of rank " + std::to_string(from) + " (type " +
                std::to_string(static_cast<int>(packet.type)) + ", " +
                std::to_string(packet.bytes) +
                " bytes) is damaged; all programs of a job must be built from the same Splitphase");
}

// Whether one may sleep now, and how long: then the thread counts as asleep. What was rung since it
// took its ticket may have been taken from the socket by wake_up(); from here on it stays there.
bool Port::fall_asleep(std::uint32_t ticket, std::int64_t& limit_ns) noexcept {
  const std::lock_guard inside(lock_);
  if (!lock_.biased() && !drained_) return false;
  const std::int64_t longest_ns = link_->longest_sleep_ns();
  if (longest_ns == 0) return false;
  limit_ns = shortened(limit_ns, longest_ns);
  if (router_.self().header->bell.rung_since(ticket)) limit_ns = 0;
  ++sleepers_;
  return true;
}

// All threads sleep on the same descriptors. A ring wakes each of them that is in ppoll() when it
// looks: so the last one up takes it back. Who is armed is signalled then, and may take long until
// it is up.
void Port::wake_up(bool rung) noexcept {
  const std::lock_guard inside(lock_);
  if (--sleepers_ == armed_ && rung) rings_.take_back();
}

bool Port::arm(std::uint32_t ticket, std::int64_t& limit_ns) noexcept {
  const std::lock_guard inside(lock_);
  if (router_.self().header->bell.rung_since(ticket) || !fall_asleep(ticket, limit_ns)) {
    return false;
  }
  ++armed_;
  return true;
}

void Port::disarm() noexcept {
  const std::lock_guard inside(lock_);
  --sleepers_;
  --armed_;
  attention_.store(1, std::memory_order_relaxed);  // the next glance shall look
}

void Port::take_back_rings() noexcept {
  const std::lock_guard inside(lock_);
  if (sleepers_ == armed_) rings_.take_back();
}

void Port::sleep(std::uint32_t ticket, std::int64_t timeout_ns) noexcept {
  std::int64_t limit = timeout_ns;
  if (!fall_asleep(ticket, limit)) return;
  if (link_->can().wait_fd < 0) {
    router_.self().header->bell.sleep(ticket, std::min(limit, kBlindNapNs));
    return wake_up(false);
  }
  pollfd watched[] = {{.fd = link_->can().wait_fd, .events = POLLIN, .revents = 0},
                      {.fd = rings_.fd(), .events = POLLIN, .revents = 0}};
  const timespec time{.tv_sec = limit / 1'000'000'000, .tv_nsec = limit % 1'000'000'000};
  ppoll(watched, 2, &time, nullptr);
  wake_up(watched[1].revents != 0);
  attention_.store(1, std::memory_order_relaxed);  // the next glance shall look
}

void Port::bring_on_until(const bool& done) noexcept {
  const auto bring_on = [this] {
    const Lock lock(*this);
    poll();
    resume();
  };
  shmem::Doorbell& bell = router_.self().header->bell;
  while (!is_released(done)) {
    const std::uint32_t ticket = bell.about_to_sleep();
    bring_on();
    if (!is_released(done)) sleep(ticket, shmem::SleepLimit::kShortestNs);
  }
}

bool Port::fetch_inside() {
  const Lock lock(*this);
  return fetch();
}

void Port::tend_until(const std::atomic<bool>& done) {
  shmem::SleepLimit limit;
  shmem::Doorbell& bell = router_.self().header->bell;
  for (;;) {
    const std::uint32_t ticket = bell.about_to_sleep();
    router_.fence().heavy();
    const bool kept = fetch_inside();
    if (done.load(std::memory_order_acquire)) return;  // pairs with: the store in tend_while()
    // While a packet that poll() is to handle is first, nothing wakes for what is behind it.
    sleep(ticket, kept ? limit.kShortestNs : limit.next(ticket));
  }
}

void Port::tend_while(FunctionRef<void()> blocking) {
  std::atomic<bool> done{false};
  lock_.give_up_bias();  // to `tending`, which does the far calls of this one meanwhile
  std::thread tending =
      start_thread("rank " + std::to_string(router_.rank()) + ": ",
                   "that serves other nodes while this process waits for them", [&] {
                     try {
                       tend_until(done);
                       lock_.give_up_bias();
                     } catch (const std::exception& error) {
                       // Others may need what this process no longer serves, before they let
                       // `blocking` return.
                       router_.fatal(error.what());
                     }
                   });
  const auto stop = [&] {
    done.store(true, std::memory_order_release);  // pairs with: the load in tend_until()
    router_.notify(router_.rank());
    tending.join();
  };
  try {
    blocking();
  } catch (...) {
    stop();
    throw;
  }
  stop();
}

}  // namespace am
