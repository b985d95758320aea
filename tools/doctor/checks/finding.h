// tools/doctor/checks: what is wrong with a machine, or with how a job is set up there, and what to
// do about it. Every check is a pure function of facts (facts.h) that others have gathered
// (tools/doctor/facts): nothing here looks at the machine. It uses am/types and rdma/choose.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace am::doctor {

enum class Severity : std::uint8_t {
  kRemark,   // nothing to do, or nothing that has to be done
  kWarning,  // jobs run, but are slow or fail under some conditions
  kError,    // jobs of this kind do not start, or fail
};

std::string_view name_of(Severity severity);  // "remark", "warning", "error"
// The severity of that name; kError for any other word.
Severity severity_of(std::string_view name);

// What one check says.
struct Finding {
  std::string check;  // its name, such as "memlock"
  Severity severity = Severity::kRemark;
  std::string seen;           // what was looked at, with its value
  std::string measured = {};  // of it what is another value a moment later; "": nothing
  std::string means = {};     // for a program that uses the library
  std::string remedy = {};    // what to do, with a command where there is one; "": nothing

  // Whether both say the same of two nodes, whatever was measured there.
  bool same_as(const Finding& other) const;
  bool operator==(const Finding&) const = default;
};
using Findings = std::vector<Finding>;

// Worst first, else in the order that they have.
void sort_by_severity(Findings& findings);

std::size_t count(const Findings& findings, Severity severity);

// 0: only remarks; 1: warnings; 2: errors.
int exit_code(const Findings& findings);

}  // namespace am::doctor
