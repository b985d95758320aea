// What the kernel allows, and how fast its clock is.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/text.h"

namespace am::doctor {
namespace {

// Reading these asks a device, or counts interrupts.
constexpr std::string_view kSlowClocks[] = {"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"};
constexpr double kSlowReadNs = 1'000;

bool is_slow(std::string_view source) {
  return std::ranges::find(kSlowClocks, source) != std::end(kSlowClocks);
}

std::string cross_memory_remedy(const CrossMemoryFacts& facts) {
  if (facts.ptrace_scope.value_or(0) > 0) {
    return "sysctl kernel.yama.ptrace_scope=0 (it is " + std::to_string(*facts.ptrace_scope) +
           ", which keeps processes from one another's memory)";
  }
  return "in a container --cap-add=SYS_PTRACE, or a seccomp profile that permits "
         "process_vm_readv and process_vm_writev";
}

}  // namespace

Finding check_cross_memory(const CrossMemoryFacts& facts) {
  if (!facts.wanted) {
    return {.check = "cross-memory",
            .seen = "SPLITC_CROSS_MEMORY=off",
            .means = "zero-copy transfers within a node go by messages"};
  }
  if (!facts.tried) {
    return {.check = "cross-memory",
            .severity = Severity::kWarning,
            .seen = "no two processes could be started to try it",
            .means = "it is not known whether processes can read one another's memory",
            .remedy = "raise the limit of processes (ulimit -u, or pids.max of the control group)"};
  }
  if (facts.error == 0) {
    return {.check = "cross-memory",
            .seen = "a process has read the memory of its sibling (process_vm_readv)",
            .means = "zero-copy transfers within a node are one copy by the kernel"};
  }
  return {
      .check = "cross-memory",
      .severity = Severity::kWarning,
      .seen = std::string("a process may not read the memory of its sibling (process_vm_readv: ") +
              std::strerror(facts.error) + ")",
      .means =
          "zero-copy transfers of memory outside of segments go by messages within a node, "
          "which is slower; everything else is as fast",
      .remedy = cross_memory_remedy(facts)};
}

Finding check_userfault(const UserfaultFacts& facts) {
  if (facts.refusal.empty()) {
    return {.check = "userfaultfd",
            .seen = "userfaultfd reports unmapped memory",
            .means = "registrations of memory with the network are kept and used again"};
  }
  return {.check = "userfaultfd",
          .severity = facts.hardware ? Severity::kWarning : Severity::kRemark,
          .seen = facts.refusal,
          .means = std::string("memory is registered with the network anew for each transfer") +
                   (facts.hardware ? ", which is slow with this hardware"
                                   : ", which costs 0.5 us with providers in software"),
          .remedy = facts.hardware
                        ? "a seccomp profile that permits userfaultfd; Linux 5.11 or newer"
                        : ""};
}

Finding check_membarrier(const MembarrierFacts& facts) {
  if (facts.enrolled) {
    return {.check = "membarrier",
            .seen = "the kernel makes fences for others (membarrier)",
            .means = "sending to a process of the node takes no fence"};
  }
  return {.check = "membarrier",
          .severity = Severity::kWarning,
          .seen = "membarrier is refused",
          .means =
              "each message to a process of the node takes a fence of the processor, about as "
              "long as a cache miss",
          .remedy = "a seccomp profile that permits membarrier; Linux 4.16 or newer"};
}

Finding check_clock(const ClockFacts& facts) {
  char took[64];
  std::snprintf(took, sizeof took, "reading it takes %.0f ns", facts.read_ns);
  const std::string name = facts.source.empty() ? "not named by the kernel" : facts.source;
  const std::string seen = "the kernel's clock is " + name;
  if (!is_slow(facts.source) && facts.read_ns < kSlowReadNs) {
    return {.check = "clock", .seen = seen, .measured = took, .means = "fast enough"};
  }
  const bool has_tsc = std::ranges::find(facts.available, "tsc") != facts.available.end();
  return {.check = "clock",
          .severity = Severity::kWarning,
          .seen = seen,
          .measured = took,
          .means = "processes that wait, and those that talk to other nodes, read it often",
          .remedy = has_tsc && facts.source != "tsc"
                        ? "echo tsc > "
                          "/sys/devices/system/clocksource/clocksource0/current_clocksource (dmesg "
                          "says why the kernel has left it); there are " +
                              list_text(facts.available)
                        : "dmesg | grep -i clocksource says why it is not tsc; there are " +
                              list_text(facts.available)};
}

}  // namespace am::doctor
