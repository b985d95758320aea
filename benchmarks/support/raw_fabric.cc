#include "benchmarks/support/raw_fabric.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "am/am.h"

namespace bench {
namespace {

// What a program must do itself. All that the providers ask for is granted, so that each can take
// its fastest way.
constexpr int kMemoryModes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

constexpr std::uint64_t kTargetKey = 1;
constexpr std::uint64_t kOwnKey = 2;
constexpr std::uint64_t kReceiveKey = 3;

[[noreturn]] void refuse(const std::string& what, ssize_t result) {
  throw std::runtime_error("raw libfabric: " + what + ": " +
                           fi_strerror(static_cast<int>(-result)));
}

void check(const char* call, ssize_t result) {
  if (result != 0) refuse(call, result);
}

bool sleeps(const RawFabric::Options& options) { return options.provider == "sockets"; }

}  // namespace

struct RawFabric::Card {
  std::uint64_t base;
  std::uint64_t key;
  std::uint64_t name_bytes;
  std::byte name[256];
};

fi_info* RawFabric::choose(const Options& options) {
  std::unique_ptr<fi_info, FreeInfo> hints(fi_allocinfo());
  hints->caps = FI_MSG | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = kMemoryModes;
  hints->domain_attr->threading = options.threading;
  hints->fabric_attr->prov_name = strdup(options.provider.c_str());
  fi_info* list = nullptr;
  const std::uint32_t version = std::min<std::uint32_t>(fi_version(), FI_VERSION(1, 17));
  const int result = fi_getinfo(version, nullptr, nullptr, 0, hints.get(), &list);
  if (result != 0) refuse("fi_getinfo for provider " + options.provider, result);
  const std::unique_ptr<fi_info, FreeInfo> owner(list);
  for (const fi_info* info = list; info != nullptr; info = info->next) {
    if (options.provider == info->fabric_attr->prov_name &&
        options.network == info->fabric_attr->name) {
      return fi_dupinfo(info);
    }
  }
  throw std::runtime_error("raw libfabric: provider " + options.provider + " has no network " +
                           options.network);
}

struct RawFabric::Opened {
  Fid<fid_fabric> fabric;
  Fid<fid_domain> domain;
  Fid<fid_av> addresses;
  Fid<fid_cq> queue;
  Fid<fid_ep> endpoint;
};

RawFabric::RawFabric(am::Job& job, const Options& options, std::span<std::byte> target,
                     std::span<std::byte> source)
    : info_(choose(options)),
      source_(source.data()),
      receives_(std::make_unique_for_overwrite<std::byte[]>(kReceives * kStride)) {
  sleeps_ = sleeps(options);
  patience_ = sleeps_ || job.size() > std::thread::hardware_concurrency() ? 1 : 2000;
  set_window(kLargestWindow);
  Opened opened = open(*info_, options);
  fabric_ = std::move(opened.fabric);
  domain_ = std::move(opened.domain);
  addresses_ = std::move(opened.addresses);
  queue_ = std::move(opened.queue);
  endpoint_ = std::move(opened.endpoint);
  constexpr std::uint64_t kRemote = FI_REMOTE_READ | FI_REMOTE_WRITE;
  if (!target.empty()) target_ = enroll(target, kRemote, kTargetKey);
  if ((info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0) {
    own_ = enroll(source, FI_SEND | FI_READ | FI_WRITE, kOwnKey);
    own_descriptor_ = fi_mr_desc(own_.get());
    receive_memory_ = enroll({receives_.get(), kReceives * kStride}, FI_RECV, kReceiveKey);
    receive_descriptor_ = fi_mr_desc(receive_memory_.get());
  }
  std::memset(receives_.get(), 0, kReceives * kStride);  // no page fault later
  for (std::size_t slot = 0; slot < kReceives; ++slot) post_receive(slot);
  if (source.empty()) source_ = receives_.get();
  meet_peers(job, target);
}

RawFabric::Opened RawFabric::open(fi_info& info, const Options& options) {
  Opened all;
  fid_fabric* fabric = nullptr;
  check("fi_fabric", fi_fabric(info.fabric_attr, &fabric, nullptr));
  all.fabric.reset(fabric);
  fid_domain* domain = nullptr;
  check("fi_domain", fi_domain(fabric, &info, &domain, nullptr));
  all.domain.reset(domain);
  fi_av_attr addresses{};
  addresses.type = FI_AV_TABLE;
  fid_av* table = nullptr;
  check("fi_av_open", fi_av_open(domain, &addresses, &table, nullptr));
  all.addresses.reset(table);
  fi_cq_attr queue{};
  queue.size = 4096;
  queue.format = FI_CQ_FORMAT_DATA;
  queue.wait_obj = sleeps(options) ? FI_WAIT_UNSPEC : options.wait;
  fid_cq* completions = nullptr;
  check("fi_cq_open", fi_cq_open(domain, &queue, &completions, nullptr));
  all.queue.reset(completions);
  fid_ep* endpoint = nullptr;
  check("fi_endpoint", fi_endpoint(domain, &info, &endpoint, nullptr));
  all.endpoint.reset(endpoint);
  check("fi_ep_bind of addresses", fi_ep_bind(endpoint, &table->fid, 0));
  check("fi_ep_bind of completions",
        fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV));
  check("fi_enable", fi_enable(endpoint));
  return all;
}

bool RawFabric::can_open(const Options& options) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      const std::unique_ptr<fi_info, FreeInfo> info(choose(options));
      open(*info, options);
    } catch (const std::exception&) {  // the parent will be told the same
    }
    _exit(0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
}

RawFabric::Fid<fid_mr> RawFabric::enroll(std::span<std::byte> bytes, std::uint64_t access,
                                         std::uint64_t key) {
  fid_mr* region = nullptr;
  check("fi_mr_reg",
        fi_mr_reg(domain_.get(), bytes.data(), bytes.size(), access, 0, key, 0, &region, nullptr));
  Fid<fid_mr> owner(region);
  if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
    check("fi_mr_bind", fi_mr_bind(region, &endpoint_->fid, 0));
    check("fi_mr_enable", fi_mr_enable(region));
  }
  return owner;
}

void RawFabric::meet_peers(am::Job& job, std::span<std::byte> target) {
  Card mine{};
  if (target_ != nullptr) {
    const bool virtual_addresses = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    mine.base = virtual_addresses ? reinterpret_cast<std::uintptr_t>(target.data()) : 0;
    mine.key = fi_mr_key(target_.get());
  }
  std::size_t bytes = sizeof mine.name;
  check("fi_getname", fi_getname(&endpoint_->fid, mine.name, &bytes));
  mine.name_bytes = bytes;
  for (const Card& card : job.exchange(mine)) {
    fi_addr_t at = FI_ADDR_UNSPEC;
    if (fi_av_insert(addresses_.get(), card.name, 1, &at, 0, nullptr) != 1) {
      refuse("fi_av_insert of another process's address", -FI_EADDRNOTAVAIL);
    }
    peers_.push_back({at, card.base, card.key});
  }
}

std::string RawFabric::describe() const {
  char text[200];
  std::snprintf(
      text, sizeof text, "raw: %s on %s, inject %zu B, progress %s, memory modes %#x, window %llu",
      info_->fabric_attr->prov_name, info_->domain_attr->name, inject_bytes(),
      info_->domain_attr->data_progress == FI_PROGRESS_AUTO ? "automatic" : "manual",
      static_cast<unsigned>(info_->domain_attr->mr_mode), static_cast<unsigned long long>(window_));
  return text;
}

void RawFabric::post_receive(std::size_t slot) {
  retry("fi_recv", [&] {
    return fi_recv(endpoint_.get(), receives_.get() + slot * kStride, kLargestMessage,
                   receive_descriptor_, FI_ADDR_UNSPEC, &receive_contexts_[slot]);
  });
}

void RawFabric::repost() {
  while (!used_.empty()) {
    const std::size_t slot = used_.back();
    used_.pop_back();
    post_receive(slot);
  }
}

void RawFabric::rest() {
  if (!sleeps_) {
    sched_yield();
    return;
  }
  constexpr int kMilliseconds = 1;
  fi_cq_data_entry entries[kBatch];
  handle_all(entries, fi_cq_sread(queue_.get(), entries, kBatch, nullptr, kMilliseconds));
}

ssize_t RawFabric::post_write(am::Rank to, std::size_t offset, std::size_t bytes, void* context,
                              std::uint64_t flags) {
  const Peer& peer = peers_[to];
  const iovec from{source_, bytes};
  const fi_rma_iov there{peer.base + offset, bytes, peer.key};
  void* descriptor = own_descriptor_;
  fi_msg_rma message{};
  message.msg_iov = &from;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = peer.at;
  message.rma_iov = &there;
  message.rma_iov_count = 1;
  message.context = context;
  return fi_writemsg(endpoint_.get(), &message, flags);
}

void RawFabric::fail_in_queue(ssize_t result) {
  if (result != -FI_EAVAIL) fail("fi_cq_read", result);
  fi_cq_err_entry error{};
  fi_cq_readerr(queue_.get(), &error, 0);
  fail("an operation", -error.err);
}

void RawFabric::fail(const char* call, ssize_t result) const { refuse(call, result); }

}  // namespace bench
