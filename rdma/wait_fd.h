#pragma once

#include "rdma/open_fabric.h"

namespace rdma {

// The descriptor to sleep on for what comes to a completion queue whose own descriptor is `fd`.
//
// That is `fd`, but for the provider net of libfabric 1.17, whose descriptor is for ever readable
// after the first completion: it holds a signal that nobody takes back, and beside it the set of
// all sockets (an epoll descriptor), which alone becomes readable when something is to be polled
// for.
int quiet_wait_fd(const Fabric& fabric, int fd);

}  // namespace rdma
