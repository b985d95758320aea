#include "rdma/endpoint.h"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <unistd.h>

#include <fstream>

#include "rdma/error.h"
#include "rdma/process.h"

namespace rdma {
namespace {

bool is_epoll(int fd) {
  std::array<char, 64> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  return readlink(link.c_str(), target.data(), target.size() - 1) > 0 &&
         std::string(target.data()) == "anon_inode:[eventpoll]";
}

// The descriptor to sleep on for what comes to a completion queue whose own descriptor is `fd`.
//
// That is `fd`, but for the provider net of libfabric 1.17, whose descriptor is for ever readable
// after the first completion: it holds a signal that nobody takes back, and beside it the set of
// all sockets (an epoll descriptor), which alone becomes readable when something is to be polled
// for.
int quiet_wait_fd(const Fabric& fabric, int fd) {
  if (fabric.candidate().provider != "net") return fd;
  std::ifstream watched("/proc/self/fdinfo/" + std::to_string(fd));  // "tfd: 7 events: ..."
  for (std::string word; watched >> word;) {
    int inner = -1;
    if (word == "tfd:" && watched >> inner && is_epoll(inner)) return inner;
  }
  return fd;
}

// What a call that may find no room has returned.
bool started(ssize_t result, const char* call) {
  if (result == 0) [[likely]]
    return true;
  if (result == -FI_EAGAIN) return false;
  fail(call, result);
}

// Notes that an operation has started that will be reported.
bool started(ssize_t result, const char* call, Op& op) {
  op.in_flight = started(result, call);
  return op.in_flight;
}

// A put of another process has arrived: its word comes with no operation of this side. (The
// writer's own completion has FI_REMOTE_CQ_DATA, too, with sockets, and so has a message that
// carries a word.)
bool is_arrival(const fi_cq_data_entry& event) noexcept {
  return (event.flags & FI_REMOTE_CQ_DATA) != 0 &&
         (event.flags & (FI_RECV | FI_SEND | FI_READ | FI_WRITE)) == 0;
}

void check(long result, const char* call) {
  if (result != 0) fail(call, result);
}

// Runs `call`, which opens an object and stores it where its argument points.
template <class F, class Call>
void open(Fid<F>& object, ProviderGuard& guard, const char* name, Call&& call) {
  F* opened = nullptr;
  guard.run(name, [&] { return call(&opened); });
  object.reset(opened);
}

}  // namespace

Endpoint::Endpoint(Fabric& fabric, const Options& options)
    : fabric_(fabric),
      most_sends_(fabric.most_sends()),
      widens_(fabric.candidate().provider == "sockets") {
  ProviderGuard guard = fabric.guard();
  open_queue(options, guard);
  fi_av_attr addresses{};
  addresses.type = fabric.info().domain_attr->av_type;
  open(addresses_, guard, "fi_av_open",
       [&](fid_av** opened) { return fi_av_open(fabric.domain(), &addresses, opened, nullptr); });
  // libfabric does not write to the info, and does not say so.
  open(endpoint_, guard, "fi_endpoint", [&](fid_ep** opened) {
    return fi_endpoint(fabric.domain(), const_cast<fi_info*>(&fabric.info()), opened, nullptr);
  });
  fid_ep* const endpoint = endpoint_.get();
  guard.run("fi_ep_bind",
            [&] { return fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV); });
  guard.run("fi_ep_bind", [&] { return fi_ep_bind(endpoint, &addresses_->fid, 0); });
  guard.run("fi_enable", [&] { return fi_enable(endpoint); });
}

void Endpoint::open_queue(const Options& options, ProviderGuard& guard) {
  fi_cq_attr attributes{};
  attributes.size = options.operations;
  attributes.format = FI_CQ_FORMAT_DATA;
  attributes.wait_obj = options.wait_fd && fabric_.has_wait_fd() ? FI_WAIT_FD : FI_WAIT_NONE;
  open(queue_, guard, "fi_cq_open",
       [&](fid_cq** opened) { return fi_cq_open(fabric_.domain(), &attributes, opened, nullptr); });
  if (attributes.wait_obj == FI_WAIT_FD) {
    check(fi_control(&queue_->fid, FI_GETWAIT, &wait_fd_), "fi_control(FI_GETWAIT)");
    wait_fd_ = quiet_wait_fd(fabric_, wait_fd_);
  }
}

std::vector<std::byte> Endpoint::address() const {
  std::array<std::byte, 256> bytes;
  std::size_t length = bytes.size();
  check(fi_getname(&endpoint_->fid, bytes.data(), &length), "fi_getname");
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)};
}

fi_addr_t Endpoint::insert(std::span<const std::byte> address) {
  fi_addr_t result = FI_ADDR_UNSPEC;
  const int inserted = fi_av_insert(addresses_.get(), address.data(), 1, &result, 0, nullptr);
  if (inserted != 1) fail("fi_av_insert", inserted < 0 ? inserted : -FI_EINVAL);
  return result;
}

bool Endpoint::try_inject(fi_addr_t to, std::span<const std::byte> message) {
  return started(fi_inject(endpoint_.get(), message.data(), message.size(), to), "fi_inject");
}

bool Endpoint::try_send(fi_addr_t to, std::span<const std::byte> message, void* descriptor,
                        Op& op) {
  if (sends_ == most_sends_) [[unlikely]]
    return false;
  if (!started(fi_send(endpoint_.get(), message.data(), message.size(), descriptor, to, &op),
               "fi_send", op)) {
    return false;
  }
  if (most_sends_ != Fabric::kRefusesMore) [[unlikely]]
    ++sends_;
  return true;
}

bool Endpoint::try_receive(std::span<std::byte> room, void* descriptor, Op& op) {
  const ssize_t result =
      fi_recv(endpoint_.get(), room.data(), room.size(), descriptor, FI_ADDR_UNSPEC, &op);
  // shm of libfabric 1.17 says so where it has no room for more receives.
  return started(result == -FI_ENOMEM ? -FI_EAGAIN : result, "fi_recv", op);
}

bool Endpoint::try_read(fi_addr_t from, const RemoteKey& key, std::uint64_t offset,
                        std::span<std::byte> to, void* descriptor, Op& op) {
  return started(fi_read(endpoint_.get(), to.data(), to.size(), descriptor, from, key.base + offset,
                         key.key, &op),
                 "fi_read", op);
}

bool Endpoint::try_write(fi_addr_t to, const RemoteKey& key, std::uint64_t offset,
                         std::span<const std::byte> from, void* descriptor, bool delivered,
                         Op& op) {
  iovec part{const_cast<std::byte*>(from.data()), from.size()};
  fi_rma_iov target{key.base + offset, from.size(), key.key};
  fi_msg_rma message{};
  message.msg_iov = &part;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = to;
  message.rma_iov = &target;
  message.rma_iov_count = 1;
  message.context = &op;
  const std::uint64_t flags = delivered ? FI_DELIVERY_COMPLETE : 0;
  return started(fi_writemsg(endpoint_.get(), &message, flags | FI_COMPLETION), "fi_writemsg", op);
}

bool Endpoint::try_put(fi_addr_t to, const RemoteKey& key, std::span<const std::byte> from,
                       void* descriptor, std::uint64_t data, Op& op) {
  return started(fi_writedata(endpoint_.get(), from.data(), from.size(), descriptor, data, to,
                              key.base, key.key, &op),
                 "fi_writedata", op);
}

bool Endpoint::try_put(fi_addr_t to, const std::array<Part, 2>& parts, std::uint64_t data, Op& op) {
  std::array<iovec, 2> from{};
  std::array<void*, 2> descriptors{};
  std::array<fi_rma_iov, 2> target{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    from[i] = {const_cast<std::byte*>(part.from.data()), part.from.size()};
    descriptors[i] = part.descriptor;
    target[i] = {part.to.base, part.from.size(), part.to.key};
  }
  fi_msg_rma message{};
  message.msg_iov = from.data();
  message.desc = descriptors.data();
  message.iov_count = from.size();
  message.addr = to;
  message.rma_iov = target.data();
  message.rma_iov_count = target.size();
  message.context = &op;
  message.data = data;
  return started(fi_writemsg(endpoint_.get(), &message, FI_REMOTE_CQ_DATA | FI_COMPLETION),
                 "fi_writemsg", op);
}

bool Endpoint::try_inject_put(fi_addr_t to, const RemoteKey& key, std::span<const std::byte> from,
                              std::uint64_t data) {
  return started(
      fi_inject_writedata(endpoint_.get(), from.data(), from.size(), data, to, key.base, key.key),
      "fi_inject_writedata");
}

int Endpoint::poll(std::span<fi_cq_data_entry> events, Failure& failure) {
  const ssize_t count = fi_cq_read(queue_.get(), events.data(), events.size());
  if (count >= 0) [[likely]]
    return static_cast<int>(keep_ours(events.first(static_cast<std::size_t>(count))));
  if (count == -FI_EAGAIN) {
    if (widens_) [[unlikely]]
      nothing_came();
    return 0;
  }
  if (count != -FI_EAVAIL) fail("fi_cq_read", count);
  fi_cq_err_entry entry{};  // zeroed: a provider may fill in only some of it
  const ssize_t errors = fi_cq_readerr(queue_.get(), &entry, 0);
  if (errors == -FI_EAGAIN || errors == 0) return 0;
  if (errors < 0) fail("fi_cq_readerr", errors);
  Op* const op = static_cast<Op*>(entry.op_context);
  failure.op = op != nullptr && end(*op) ? op : nullptr;
  failure.code = entry.err;
  failure.text = category().message(entry.err);
  const char* const words =
      fi_cq_strerror(queue_.get(), entry.prov_errno, entry.err_data, nullptr, 0);
  // Providers over sockets give the errno of whichever call came last: as a rule, nothing to read.
  if (words != nullptr && entry.prov_errno != 0 && entry.prov_errno != FI_EAGAIN &&
      failure.text != words) {
    failure.text += std::string(": ") + words;
  }
  return -1;
}

// Moves those of ours to the front, and returns how many they are.
std::size_t Endpoint::keep_ours(std::span<fi_cq_data_entry> events) noexcept {
  std::size_t kept = 0;
  for (fi_cq_data_entry& event : events) {
    if (is_arrival(event)) {
      event.op_context = nullptr;
    } else if (event.op_context == nullptr || !end(Op::of(event.op_context))) [[unlikely]] {
      ++dropped_;
      continue;
    }
    if (&events[kept] != &event) [[unlikely]]
      events[kept] = event;
    ++kept;
  }
  return kept;
}

// False: it had ended already.
bool Endpoint::end(Op& op) noexcept {
  if (!op.in_flight) [[unlikely]]
    return false;
  op.in_flight = false;
  if (op.kind == Op::Kind::kSend && most_sends_ != Fabric::kRefusesMore) [[unlikely]]
    --sends_;
  return true;
}

// Its connections are made by the provider itself, at any time: so they are looked for, now and
// then.
void Endpoint::nothing_came() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_widening_) return;
  next_widening_ = now + std::chrono::milliseconds(100);
  widen_receive_windows();
}

void Endpoint::drive() noexcept { fi_cq_read(queue_.get(), nullptr, 0); }

bool Endpoint::may_sleep() noexcept {
  struct fid* waited_for = &queue_->fid;
  return fi_trywait(fabric_.fabric(), &waited_for, 1) == FI_SUCCESS;
}

Receives::Receives(Fabric& fabric, Endpoint& endpoint, std::size_t count, std::size_t bytes)
    : fabric_(fabric), endpoint_(endpoint), bytes_(bytes) {
  add(count);
}

void Receives::add(std::size_t count) {
  const Buffers& buffers = buffers_.emplace_back(fabric_, endpoint_, count, bytes_);
  refused_.reserve(slots_.size() + count);  // so that renew() never allocates
  for (std::size_t i = 0; i < count; ++i) {
    refused_.push_back(&slots_.emplace_back(buffers[i], buffers.descriptor()));
  }
  retry();
}

void Receives::renew(const Op& op) {
  refused_.push_back(&slot_of(op));
  retry();
}

void Receives::retry() {
  while (!refused_.empty()) {
    Slot& slot = *refused_.back();
    if (!endpoint_.try_receive(slot.buffer, slot.descriptor, slot.op)) return;
    refused_.pop_back();
  }
}

}  // namespace rdma
