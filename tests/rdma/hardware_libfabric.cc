// A libfabric whose only provider is one of hardware, as far as programs can tell: the real one's
// provider over TCP, by the name, the abilities and the demands of the one that HARDWARE names
// (`efa`, `cxi` or `verbs;ofi_rxm`: fi_efa(7), fi_cxi(7), fi_verbs(7) and fi_rxm(7); `psm2` has the
// least of all that the library could be given). What such hardware would not do, or would do
// wrong, ends the process with a sentence.
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace {

struct Hardware {
  const char* name;
  int mr_mode;  // that programs must keep to
  bool write_before_send;
  std::size_t data_bytes;  // of completion data
  std::size_t key_bytes;
  std::size_t inject_bytes;
  bool wait_fd;
  bool delivery_complete = true;
};

constexpr int kBasic = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
constexpr Hardware kKnown[] = {
    {"efa", kBasic, false, 4, 8, 32, false},
    {"cxi", FI_MR_ALLOCATED | FI_MR_ENDPOINT, false, 8, 4, 128, true},
    {"verbs;ofi_rxm", kBasic, true, 4, 8, 64, true},
    {"psm2", 0, false, 4, 8, 16, false, false},
};

[[noreturn]] void wrong(const std::string& what) {
  std::fprintf(stderr, "hardware_libfabric: %s\n", what.c_str());
  std::abort();
}

const Hardware& hardware() {
  static const Hardware& chosen = [] {
    const char* const wanted = std::getenv("HARDWARE");
    for (const Hardware& one : kKnown) {
      if (wanted != nullptr && std::string_view(wanted) == one.name) return std::cref(one);
    }
    wrong("HARDWARE names none that is known");
  }();
  return chosen;
}

bool demands(std::uint64_t mode) {
  return (static_cast<std::uint64_t>(hardware().mr_mode) & mode) != 0;
}

// --- The real library

// Loaded with this one, when the program keeps its signal handlers from libraries.
void* const library = [] {
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/",
                             "/usr/lib64/", "/usr/lib/", "/usr/local/lib/"}) {
    const std::string path = std::string(folder) + "libfabric.so.1";
    if (void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return opened;
  }
  wrong("there is no real libfabric");
}();

template <class Function>
Function* real(const char* name, const char* version) {
  void* const found = dlvsym(library, name, version);
  if (found == nullptr) wrong(std::string("the real libfabric has no ") + name);
  return reinterpret_cast<Function*>(found);
}
#define REAL(name, version) real<decltype(name)>(#name, version)

// As the real provider is called.
std::string& real_name() {
  static auto& name = *new std::string("net");
  return name;
}

void rename(fi_info& info, const std::string& name) {
  if (info.fabric_attr == nullptr || info.fabric_attr->prov_name == nullptr) return;
  std::free(info.fabric_attr->prov_name);
  info.fabric_attr->prov_name = strdup(name.c_str());
}

// What the real provider is to be opened with. Freed by the caller.
fi_info* real_info(const fi_info& info) {
  fi_info* const made = REAL(fi_dupinfo, "FABRIC_1.3")(&info);
  rename(*made, real_name());
  made->domain_attr->mr_mode &= ~(FI_MR_LOCAL | FI_MR_ENDPOINT);
  return made;
}

// --- Memory: what is registered, by descriptor

struct Registered {
  const std::byte* begin;
  const std::byte* end;
};
// Never destroyed: memory is closed by what ends later.
std::mutex memory_mutex;
auto& registered = *new std::map<void*, Registered>;

void check_local(const char* call, const void* at, std::size_t bytes, void* descriptor) {
  if (!demands(FI_MR_LOCAL) || bytes == 0) return;
  const std::lock_guard lock(memory_mutex);
  const auto found = registered.find(descriptor);
  const auto* const begin = static_cast<const std::byte*>(at);
  if (found == registered.end() || begin < found->second.begin ||
      begin + bytes > found->second.end) {
    wrong(std::string(call) + " of memory that is not registered with its descriptor");
  }
}

struct Memory {
  fi_ops operations{};
  const fi_ops* real = nullptr;
  fid* endpoint = nullptr;
  bool enabled = false;
};
auto& memories = *new std::map<fid*, Memory>;

int close_memory(fid* closed) {
  const fi_ops* real = nullptr;
  {
    const std::lock_guard lock(memory_mutex);
    const auto found = memories.find(closed);
    real = found->second.real;
    registered.erase(reinterpret_cast<fid_mr*>(closed)->mem_desc);
    memories.erase(found);
  }
  return real->close(closed);
}

int bind_memory(fid* memory, fid* endpoint, std::uint64_t) {
  const std::lock_guard lock(memory_mutex);
  memories.at(memory).endpoint = endpoint;
  return 0;
}

int control_memory(fid* memory, int command, void* argument) {
  const std::lock_guard lock(memory_mutex);
  Memory& known = memories.at(memory);
  if (command != FI_ENABLE) return known.real->control(memory, command, argument);
  if (known.endpoint == nullptr) wrong("memory is enabled that is bound to no endpoint");
  known.enabled = true;
  return 0;
}

fi_ops_mr* real_memory_operations;

int register_memory(fid* domain, const void* at, std::size_t bytes, std::uint64_t access,
                    std::uint64_t offset, std::uint64_t key, std::uint64_t flags, fid_mr** memory,
                    void* context) {
  const bool own_key = !demands(FI_MR_PROV_KEY);
  if (own_key && hardware().key_bytes < sizeof key && key >> (8 * hardware().key_bytes) != 0) {
    return -FI_EKEYREJECTED;
  }
  const int result =
      real_memory_operations->reg(domain, at, bytes, access, offset, key, flags, memory, context);
  if (result != 0) return result;
  const std::lock_guard lock(memory_mutex);
  const auto* const begin = static_cast<const std::byte*>(at);
  registered[(*memory)->mem_desc] = {begin, begin + bytes};
  Memory& known = memories[&(*memory)->fid];
  known.real = (*memory)->fid.ops;
  known.operations = *known.real;
  known.operations.close = close_memory;
  known.operations.bind = bind_memory;
  known.operations.control = control_memory;
  (*memory)->fid.ops = &known.operations;
  return 0;
}

// --- Operations: all endpoints of the real provider share one table of each kind

fi_ops_msg* real_messages;
fi_ops_rma* real_accesses;

void check_injected(const char* call, std::size_t bytes) {
  if (bytes > hardware().inject_bytes) wrong(std::string(call) + " of more than can be injected");
}

void check_data(const char* call, std::uint64_t data) {
  if (hardware().data_bytes < sizeof data && data >> (8 * hardware().data_bytes) != 0) {
    wrong(std::string(call) + " with more completion data than it carries");
  }
}

void replace_messages(fid_ep& endpoint) {
  real_messages = endpoint.msg;
  static fi_ops_msg ours = *real_messages;
  ours.recv = [](fid_ep* ep, void* at, std::size_t bytes, void* descriptor, fi_addr_t from,
                 void* context) {
    check_local("fi_recv", at, bytes, descriptor);
    return real_messages->recv(ep, at, bytes, descriptor, from, context);
  };
  ours.send = [](fid_ep* ep, const void* at, std::size_t bytes, void* descriptor, fi_addr_t to,
                 void* context) {
    check_local("fi_send", at, bytes, descriptor);
    return real_messages->send(ep, at, bytes, descriptor, to, context);
  };
  ours.inject = [](fid_ep* ep, const void* at, std::size_t bytes, fi_addr_t to) {
    check_injected("fi_inject", bytes);
    return real_messages->inject(ep, at, bytes, to);
  };
  endpoint.msg = &ours;
}

void replace_accesses(fid_ep& endpoint) {
  real_accesses = endpoint.rma;
  static fi_ops_rma ours = *real_accesses;
  ours.read = [](fid_ep* ep, void* at, std::size_t bytes, void* descriptor, fi_addr_t from,
                 std::uint64_t there, std::uint64_t key, void* context) {
    check_local("fi_read", at, bytes, descriptor);
    return real_accesses->read(ep, at, bytes, descriptor, from, there, key, context);
  };
  ours.writemsg = [](fid_ep* ep, const fi_msg_rma* message, std::uint64_t flags) {
    if (message->iov_count != 1 || message->rma_iov_count != 1) {
      wrong("fi_writemsg of several ranges, which is only for some");
    }
    check_local("fi_writemsg", message->msg_iov->iov_base, message->msg_iov->iov_len,
                message->desc[0]);
    if ((flags & FI_REMOTE_CQ_DATA) != 0) check_data("fi_writemsg", message->data);
    return real_accesses->writemsg(ep, message, flags);
  };
  ours.writedata = [](fid_ep* ep, const void* at, std::size_t bytes, void* descriptor,
                      std::uint64_t data, fi_addr_t to, std::uint64_t there, std::uint64_t key,
                      void* context) {
    check_local("fi_writedata", at, bytes, descriptor);
    check_data("fi_writedata", data);
    return real_accesses->writedata(ep, at, bytes, descriptor, data, to, there, key, context);
  };
  ours.injectdata = [](fid_ep* ep, const void* at, std::size_t bytes, std::uint64_t data,
                       fi_addr_t to, std::uint64_t there, std::uint64_t key) {
    check_injected("fi_inject_writedata", bytes);
    check_data("fi_inject_writedata", data);
    return real_accesses->injectdata(ep, at, bytes, data, to, there, key);
  };
  endpoint.rma = &ours;
}

// --- Opening

fi_ops_domain* real_domain_operations;
fi_ops_fabric* real_fabric_operations;

// The real provider, too, opens endpoints of its domain, of another type.
int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context) {
  if (info->ep_attr->type != FI_EP_RDM) {
    return real_domain_operations->endpoint(domain, info, endpoint, context);
  }
  fi_info* const used = real_info(*info);
  const int result = real_domain_operations->endpoint(domain, used, endpoint, context);
  REAL(fi_freeinfo, "FABRIC_1.3")(used);
  if (result != 0) return result;
  replace_messages(**endpoint);
  replace_accesses(**endpoint);
  return 0;
}

int open_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** queue, void* context) {
  if (attributes->wait_obj == FI_WAIT_FD && !hardware().wait_fd) return -FI_ENOSYS;
  return real_domain_operations->cq_open(domain, attributes, queue, context);
}

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context) {
  fi_info* const used = real_info(*info);
  const int result = real_fabric_operations->domain(fabric, used, domain, context);
  REAL(fi_freeinfo, "FABRIC_1.3")(used);
  if (result != 0) return result;
  real_domain_operations = (*domain)->ops;
  static fi_ops_domain operations = *real_domain_operations;
  operations.endpoint = open_endpoint;
  operations.cq_open = open_queue;
  (*domain)->ops = &operations;
  real_memory_operations = (*domain)->mr;
  static fi_ops_mr memory = *real_memory_operations;
  memory.reg = register_memory;
  (*domain)->mr = &memory;
  return 0;
}

// Shows the real provider as the hardware.
void disguise(fi_info& info) {
  const Hardware& as = hardware();
  rename(info, as.name);
  info.domain_attr->mr_mode = as.mr_mode;
  info.domain_attr->cq_data_size = as.data_bytes;
  info.domain_attr->mr_key_size = as.key_bytes;
  info.tx_attr->inject_size = as.inject_bytes;
  info.tx_attr->iov_limit = 1;
  info.tx_attr->rma_iov_limit = 1;
  if (!as.write_before_send) info.tx_attr->msg_order &= ~std::uint64_t{FI_ORDER_SAW};
}

}  // namespace

// What the library looks for; see brittle_libfabric.lds.
extern "C" {

std::uint32_t fi_version() { return REAL(fi_version, "FABRIC_1.0")(); }

const char* fi_strerror(int code) { return REAL(fi_strerror, "FABRIC_1.0")(code); }

void fi_freeinfo(fi_info* info) { REAL(fi_freeinfo, "FABRIC_1.3")(info); }

fi_info* fi_dupinfo(const fi_info* from) { return REAL(fi_dupinfo, "FABRIC_1.3")(from); }

int fi_getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
               const fi_info* hints, fi_info** found) {
  const bool ordered = (hints->tx_attr->msg_order & FI_ORDER_SAW) != 0;
  const bool delivered = (hints->tx_attr->op_flags & FI_DELIVERY_COMPLETE) != 0;
  if (ordered && !hardware().write_before_send) return -FI_ENODATA;
  if (delivered && !hardware().delivery_complete) return -FI_ENODATA;
  fi_info* const asked = real_info(*hints);
  asked->domain_attr->mr_mode = hardware().mr_mode & ~(FI_MR_LOCAL | FI_MR_ENDPOINT);
  fi_info* all = nullptr;
  const int result = REAL(fi_getinfo, "FABRIC_1.3")(version, node, service, flags, asked, &all);
  fi_freeinfo(asked);
  if (result != 0) return result;
  *found = nullptr;
  fi_info** end = found;
  for (const fi_info* one = all; one != nullptr; one = one->next) {
    const std::string_view provider = one->fabric_attr->prov_name;
    if (provider != "net" && provider != "tcp") continue;
    real_name() = provider;
    fi_info* const shown = fi_dupinfo(one);
    disguise(*shown);
    *end = shown;
    end = &shown->next;
  }
  fi_freeinfo(all);
  return *found != nullptr ? 0 : -FI_ENODATA;
}

int fi_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
  fi_fabric_attr used = *attributes;
  used.prov_name = real_name().data();
  const int result = REAL(fi_fabric, "FABRIC_1.1")(&used, fabric, context);
  if (result != 0) return result;
  real_fabric_operations = (*fabric)->ops;
  static fi_ops_fabric operations = *real_fabric_operations;
  operations.domain = open_domain;
  (*fabric)->ops = &operations;
  return 0;
}

}  // extern "C"
