// The providers that a machine without special hardware has, as values of a GoogleTest parameter.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace test {

// "net" stands for that or its later name, tcp.
inline auto software_providers() {
  return testing::Values("net", "tcp;ofi_rxm", "sockets", "shm", "udp;ofi_rxd");
}

// As the end of a test's name.
inline std::string provider_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, ';', '_');
  return name;
}

}  // namespace test
