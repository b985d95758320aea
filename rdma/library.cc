#include "rdma/library.h"

#include <dlfcn.h>
#include <signal.h>

#include <array>
#include <cstddef>
#include <cstdlib>

#include "rdma/error.h"

namespace rdma {
namespace {

// The functions that handle fi_info are those of libfabric 1.9, which every later one has as well:
// so a program runs with each of them, whichever headers it was built with. Later headers only
// append members to the structures, which those functions leave out and which are not used here.
constexpr const char* kInfoVersion = "FABRIC_1.3";
static_assert(FI_MAJOR_VERSION > 1 || FI_MINOR_VERSION >= 9, "headers older than libfabric 1.9");
static_assert(offsetof(fi_info, nic) == 14 * sizeof(void*), "another fi_info than libfabric 1.9's");
static_assert(offsetof(fi_domain_attr, tclass) == 23 * sizeof(void*),
              "another fi_domain_attr than libfabric 1.9's");
static_assert(offsetof(fi_ep_attr, auth_key_size) == 10 * sizeof(void*),
              "another fi_ep_attr than libfabric 1.9's");
static_assert(offsetof(fi_tx_attr, tclass) == 9 * sizeof(void*),
              "another fi_tx_attr than libfabric 1.9's");

// Puts back the signal handlers that libraries take over when they are loaded: Debian's
// libinfinipath catches the signals of crashes and SIGTERM, writes files and ends with exit code 1.
class KeepSignals {
 public:
  KeepSignals() {
    for (int i = 1; i < kSignals; ++i) known_[at(i)] = sigaction(i, nullptr, &before_[at(i)]) == 0;
  }
  KeepSignals(const KeepSignals&) = delete;
  KeepSignals& operator=(const KeepSignals&) = delete;
  ~KeepSignals() {
    for (int i = 1; i < kSignals; ++i) {
      struct sigaction now {};
      if (!known_[at(i)] || sigaction(i, nullptr, &now) != 0) continue;
      if (now.sa_sigaction != before_[at(i)].sa_sigaction) sigaction(i, &before_[at(i)], nullptr);
    }
  }

 private:
  static constexpr int kSignals = 32;  // those that are not of real time
  static std::size_t at(int signal) { return static_cast<std::size_t>(signal); }

  std::array<struct sigaction, kSignals> before_{};
  std::array<bool, kSignals> known_{};
};

template <class Function>
void find(void* handle, const char* name, const char* version, Function& function) {
  function = reinterpret_cast<Function>(dlvsym(handle, name, version));
  if (function != nullptr) return;
  throw Error(std::string("rdma: the installed libfabric has no ") + name + " of version " +
              version + "; install libfabric 1.9 or newer");
}

// How many packets ofi_rxd has under way to a peer before it waits for an answer, 128 by default.
// While packets come faster than they are handled, the queue in which its udp keeps them and
// the answers grows; when it is full, libfabric before 2.4 overwrites what is in it, frees memory
// twice and may never return. (A flood of 12 KiB messages from one peer did it in one job of two
// with 128, in none of 36 with 64, 32 and 16. With 32 and less it is faster, too.)
constexpr const char* kPacketsUnderWay = "16";

Library load() {
  setenv("FI_OFI_RXD_MAX_UNACKED", kPacketsUnderWay, 0);
  const KeepSignals signals;
  void* handle = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);  // for good
  if (handle == nullptr) {
    throw Error(std::string("rdma: cannot load libfabric (") + dlerror() +
                "); install it (Debian: libfabric1) on every machine of the job");
  }
  Library library{};
  find(handle, "fi_getinfo", kInfoVersion, library.getinfo);
  find(handle, "fi_freeinfo", kInfoVersion, library.freeinfo);
  find(handle, "fi_dupinfo", kInfoVersion, library.dupinfo);
  find(handle, "fi_fabric", "FABRIC_1.1", library.fabric);
  find(handle, "fi_version", "FABRIC_1.0", library.version);
  find(handle, "fi_strerror", "FABRIC_1.0", library.strerror);
  return library;
}

}  // namespace

const Library& Library::get() {
  static const Library library = load();
  return library;
}

std::string library_text() {
  const std::uint32_t number = Library::get().version();
  return "libfabric " + std::to_string(FI_MAJOR(number)) + "." + std::to_string(FI_MINOR(number));
}

}  // namespace rdma

// Libraries that are loaded while a program runs lose memory of their own: libfabric 1.17 a copy of
// its settings with every connection, libpmix 4.2 two words. Programs built with a leak checker
// shall be told of their own leaks alone; a program can have only one such list.
#if defined(__SANITIZE_ADDRESS__)
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfabric.so\nleak:libpmix.so\n";
}
#endif
