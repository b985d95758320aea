// Work that may crash or hang, in a process of its own.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace am::doctor {

struct ChildResult {
  std::string out;      // what `work` has returned
  std::string said;     // on standard error, at most the first 4096 bytes
  std::string failure;  // "crashed (SIGSEGV)", "did not answer within 10 s", ...; "": it returned
};

// Longer than rdma/provider_guard.h has, which names the provider of libfabric that does not
// answer.
constexpr std::chrono::seconds kPatience(90);

// Runs `work` in a child of this process, which ends with it, and ends the child after `patience`.
// An exception of `work` is a failure: "failed: " and what it says. The caller's descriptors and
// threads are not touched; `work` may not rely on other threads. Throws nothing.
ChildResult in_child(const std::function<std::string()>& work,
                     std::chrono::milliseconds patience = kPatience);

}  // namespace am::doctor
