// A libfabric whose only provider is found, and then crashes in the call that BRITTLE_CALL names
// (fi_getinfo, fi_fabric, fi_domain, fi_cq_open); with none that one fails.

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

void crash_in(std::string_view call) {
  const char* const wanted = std::getenv("BRITTLE_CALL");
  if (wanted != nullptr && wanted == call) std::raise(SIGSEGV);  // what a sanitizer lets happen
}

fid common(std::size_t kind) {
  static fi_ops operations = [] {
    fi_ops all{};
    all.size = sizeof all;
    all.close = [](fid*) { return 0; };
    return all;
  }();
  fid opened{};
  opened.fclass = kind;
  opened.ops = &operations;
  return opened;
}

int open_queue(fid_domain*, fi_cq_attr*, fid_cq**, void*) {
  crash_in("fi_cq_open");
  return -FI_ENOSYS;
}

int open_domain(fid_fabric*, fi_info*, fid_domain** domain, void*) {
  crash_in("fi_domain");
  static fi_ops_domain operations = [] {
    fi_ops_domain all{};
    all.size = sizeof all;
    all.cq_open = open_queue;
    return all;
  }();
  static fid_domain opened{};
  opened.fid = common(FI_CLASS_DOMAIN);
  opened.ops = &operations;
  *domain = &opened;
  return 0;
}

template <class T>
T* copy_of(const T* from) {
  return from == nullptr ? new T{} : new T(*from);
}

}  // namespace

// What the library looks for; see brittle_libfabric.lds.
extern "C" {

std::uint32_t fi_version() { return FI_VERSION(9, 9); }

const char* fi_strerror(int) { return "an error"; }

void fi_freeinfo(fi_info* info) {
  while (info != nullptr) {
    fi_info* const next = info->next;
    std::free(info->domain_attr->name);
    std::free(info->fabric_attr->name);
    std::free(info->fabric_attr->prov_name);
    delete info->tx_attr;
    delete info->rx_attr;
    delete info->ep_attr;
    delete info->domain_attr;
    delete info->fabric_attr;
    delete info;
    info = next;
  }
}

fi_info* fi_dupinfo(const fi_info* from) {
  fi_info* const info = copy_of(from);
  info->next = nullptr;
  info->tx_attr = copy_of(info->tx_attr);
  info->rx_attr = copy_of(info->rx_attr);
  info->ep_attr = copy_of(info->ep_attr);
  info->domain_attr = copy_of(info->domain_attr);
  info->fabric_attr = copy_of(info->fabric_attr);
  for (char** name :
       {&info->domain_attr->name, &info->fabric_attr->name, &info->fabric_attr->prov_name}) {
    if (*name != nullptr) *name = strdup(*name);
  }
  return info;
}

int fi_getinfo(std::uint32_t, const char*, const char*, std::uint64_t, const fi_info* hints,
               fi_info** found) {
  crash_in("fi_getinfo");
  *found = fi_dupinfo(hints);
  (*found)->addr_format = FI_ADDR_STR;
  (*found)->domain_attr->name = strdup("brittle0");
  (*found)->fabric_attr->name = strdup("brittle");
  (*found)->fabric_attr->prov_name = strdup("brittle");
  return 0;
}

int fi_fabric(fi_fabric_attr*, fid_fabric** fabric, void*) {
  crash_in("fi_fabric");
  static fi_ops_fabric operations = [] {
    fi_ops_fabric all{};
    all.size = sizeof all;
    all.domain = open_domain;
    return all;
  }();
  static fid_fabric opened{};
  opened.fid = common(FI_CLASS_FABRIC);
  opened.ops = &operations;
  *fabric = &opened;
  return 0;
}

}  // extern "C"
