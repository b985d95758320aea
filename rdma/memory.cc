#include "rdma/memory.h"

#include <rdma/fi_endpoint.h>

#include <random>
#include <string>

#include "rdma/error.h"

namespace rdma {
namespace {

constexpr int kKeyTries = 64;

// A key that nobody can guess, of as many bytes as the domain's keys have.
std::uint64_t random_key(std::size_t bytes) {
  std::random_device entropy;
  const std::uint64_t all = std::uint64_t{entropy()} << 32 | entropy();
  return bytes >= sizeof(all) ? all : all & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

std::string text_of(const Fabric& fabric, std::span<std::byte> range) {
  return "cannot register " + std::to_string(range.size()) + " bytes of memory with " +
         fabric.info().fabric_attr->prov_name;
}

Fid<fid_mr> register_range(const Fabric& fabric, std::span<std::byte> range, std::uint64_t access) {
  const fi_domain_attr& domain = *fabric.info().domain_attr;
  const bool own_key = (domain.mr_mode & FI_MR_PROV_KEY) == 0;
  fid_mr* region = nullptr;
  int result = 0;
  for (int i = 0; i < kKeyTries; ++i) {
    const std::uint64_t key = own_key ? random_key(domain.mr_key_size) : 0;
    result =
        fi_mr_reg(fabric.domain(), range.data(), range.size(), access, 0, key, 0, &region, nullptr);
    if (result != -FI_ENOKEY || !own_key) break;
  }
  if (result != 0) fail(text_of(fabric, range), result);
  return Fid<fid_mr>(region);
}

}  // namespace

Memory::Memory(const Fabric& fabric, std::span<std::byte> range, std::uint64_t access,
               fid_ep* endpoint)
    : range_(range) {
  const int mode = fabric.info().domain_attr->mr_mode;
  region_ = register_range(fabric, range, access);
  if (fabric.binds_memory()) {
    if (endpoint == nullptr)
      throw Error("rdma: " + text_of(fabric, range) + ": its endpoint is needed");
    int result = fi_mr_bind(region_.get(), &endpoint->fid, 0);
    if (result == 0) result = fi_mr_enable(region_.get());
    if (result != 0) fail(text_of(fabric, range), result);
  }
  key_ = {
      .base = (mode & FI_MR_VIRT_ADDR) != 0 ? reinterpret_cast<std::uintptr_t>(range.data()) : 0,
      .key = fi_mr_key(region_.get())};
  if (key_.key == FI_KEY_NOTAVAIL) {
    throw Error("rdma: " + text_of(fabric, range) +
                ": its keys are longer than 8 bytes; use another provider");
  }
  if (fabric.needs_local_keys()) descriptor_ = fi_mr_desc(region_.get());
}

}  // namespace rdma
