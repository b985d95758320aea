#pragma once

#include <sys/stat.h>

#include <string>

#include "shmem/region.h"

namespace shmem {

// A new descriptor of the file that `address` names, this process's own or a neighbour's. It is
// found through /proc, or, where that shows other processes than those of this PID namespace, by
// the kernel's pidfd_getfd. Throws as Region::open.
int open_neighbours(const Region::Address& address);

// "the region of process 12 (descriptor 5, 4096 bytes)".
std::string name_of(const Region::Address& address);

}  // namespace shmem
