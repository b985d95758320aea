// libfabric itself, loaded when it is first used.
//
// Programs are not linked to it: those of one machine run where it is not installed, and do without
// what its dependencies do when they are loaded (Debian's libpsm measures the clock for 0.2 s).
// Everything else of libfabric is called through its objects, by the inline functions of its
// headers.
#pragma once

#include <rdma/fabric.h>

#include <string>

namespace rdma {

struct Library {
  decltype(&fi_getinfo) getinfo;
  decltype(&fi_freeinfo) freeinfo;
  decltype(&fi_dupinfo) dupinfo;  // of nullptr: a new one
  decltype(&::fi_fabric) fabric;
  decltype(&fi_version) version;
  const char* (*strerror)(int);

  // Any thread, but the first call sets a variable of the environment (FI_OFI_RXD_MAX_UNACKED),
  // which no other thread may read meanwhile. The signal handlers of the program stay as they are.
  // Throws Error: not installed, or another ABI.
  static const Library& get();
};

// "libfabric 2.6", as the library itself says.
std::string library_text();

}  // namespace rdma
