#include "rdma/memory.h"

#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "rdma/endpoint.h"
#include "rdma/error.h"

namespace rdma {
namespace {

constexpr int kKeyTries = 64;  // of random keys, until one is free

// A key that nobody can guess, of as many bytes as the domain's keys have.
std::uint64_t random_key(std::size_t bytes) {
  std::uint64_t all = 0;  // by the system: the processor's own way takes 25 us in some machines
  if (getentropy(&all, sizeof all) != 0) {
    const int code = errno;
    throw Error(std::string("rdma: the system has no random numbers (") + std::strerror(code) +
                ")");
  }
  return bytes >= sizeof(all) ? all : all & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

std::string what(const MemoryRules& rules, std::span<std::byte> range) {
  return "cannot register " + std::to_string(range.size()) + " bytes of memory with " +
         rules.provider;
}

[[noreturn]] void refuse(const MemoryRules& rules, std::span<std::byte> range,
                         const std::string& why) {
  throw Error("rdma: " + what(rules, range) + ": " + why);
}

[[noreturn]] void throw_failed(const MemoryRules& rules, std::span<std::byte> range, int result) {
  // When too much would be pinned the kernel answers FI_ENOMEM, or one of these.
  if (result == -FI_EPERM || result == -FI_EAGAIN) {
    throw Error("rdma: " + what(rules, range) + " (" + category().message(-result) + ")" +
                    remedy(FI_ENOMEM),
                FI_ENOMEM);
  }
  fail(what(rules, range), result);
}

void check(const MemoryRules& rules, std::span<std::byte> range, fid_ep* endpoint) {
  if (range.empty()) refuse(rules, range, "register at least one");
  if ((rules.mode & FI_MR_PROV_KEY) != 0 && rules.key_bytes > sizeof(RemoteKey::key)) {
    refuse(rules, range,
           "its keys have " + std::to_string(rules.key_bytes) +
               " bytes and only 8 can be sent to others; use another provider");
  }
  if ((rules.mode & FI_MR_PROV_KEY) == 0 && rules.key_bytes == 0) {
    refuse(rules, range, "it leaves the choice of keys to us, but they have 0 bytes");
  }
  if ((rules.mode & FI_MR_ENDPOINT) != 0 && endpoint == nullptr) {
    refuse(rules, range, "this provider binds memory to an endpoint, and none was given");
  }
}

Fid<fid_mr> register_range(const MemoryRules& rules, std::span<std::byte> range,
                           std::uint64_t access) {
  const bool own_key = (rules.mode & FI_MR_PROV_KEY) == 0;
  fid_mr* region = nullptr;
  int result = -FI_ENOKEY;
  for (int i = 0; result == -FI_ENOKEY && i < (own_key ? kKeyTries : 1); ++i) {
    const std::uint64_t key = own_key ? random_key(rules.key_bytes) : 0;
    result =
        fi_mr_reg(rules.domain, range.data(), range.size(), access, 0, key, 0, &region, nullptr);
  }
  if (result != 0) throw_failed(rules, range, result);
  return Fid<fid_mr>(region);
}

MemoryRules rules_of(const Fabric& fabric) {
  const fi_info& info = fabric.info();
  return {.domain = fabric.domain(),
          .provider = info.fabric_attr->prov_name,
          .mode = info.domain_attr->mr_mode | (fabric.needs_local_keys() ? FI_MR_LOCAL : 0),
          .key_bytes = info.domain_attr->mr_key_size};
}

constexpr std::align_val_t kAlignment{4096};

}  // namespace

Memory::Memory(const Fabric& fabric, std::span<std::byte> range, std::uint64_t access,
               fid_ep* endpoint)
    : Memory(rules_of(fabric), range, access, endpoint) {}

Memory::Memory(const MemoryRules& rules, std::span<std::byte> range, std::uint64_t access,
               fid_ep* endpoint) {
  check(rules, range, endpoint);
  region_ = register_range(rules, range, access);
  if ((rules.mode & FI_MR_ENDPOINT) != 0) {
    int result = fi_mr_bind(region_.get(), &endpoint->fid, 0);
    if (result == 0) result = fi_mr_enable(region_.get());
    if (result != 0) throw_failed(rules, range, result);
  }
  if ((rules.mode & FI_MR_VIRT_ADDR) != 0) {
    key_.base = reinterpret_cast<std::uintptr_t>(range.data());
  }
  const bool remote = (access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0;
  if (remote) key_.key = fi_mr_key(region_.get());  // libfabric 2 gives the others none
  if (key_.key == FI_KEY_NOTAVAIL) {
    refuse(rules, range, "its keys cannot be had as 8 bytes; use another provider");
  }
  if ((rules.mode & FI_MR_LOCAL) != 0) descriptor_ = fi_mr_desc(region_.get());
}

void Buffers::Free::operator()(std::byte* data) const noexcept {
  ::operator delete(data, kAlignment);
}

Buffers::Buffers(std::size_t count, std::size_t bytes_each)
    : count_(count),
      bytes_each_(bytes_each),
      data_(static_cast<std::byte*>(::operator new(count* bytes_each, kAlignment))) {}

Buffers::Buffers(Fabric& fabric, Endpoint& endpoint, std::size_t count, std::size_t bytes_each)
    : Buffers(count, bytes_each) {
  if (!fabric.needs_local_keys()) return;
  memory_.emplace(fabric, std::span(data_.get(), count * bytes_each), FI_SEND | FI_RECV,
                  &endpoint.fid());
}

}  // namespace rdma
