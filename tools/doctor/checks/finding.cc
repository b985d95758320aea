#include "tools/doctor/checks/finding.h"

#include <algorithm>
#include <functional>

namespace am::doctor {
namespace {

constexpr std::string_view kNames[] = {"remark", "warning", "error"};

}  // namespace

std::string_view name_of(Severity severity) { return kNames[static_cast<int>(severity)]; }

Severity severity_of(std::string_view name) {
  for (const Severity one : {Severity::kRemark, Severity::kWarning}) {
    if (name_of(one) == name) return one;
  }
  return Severity::kError;
}

bool Finding::same_as(const Finding& other) const {
  return check == other.check && severity == other.severity && seen == other.seen &&
         means == other.means && remedy == other.remedy;
}

void sort_by_severity(Findings& findings) {
  std::ranges::stable_sort(findings, std::ranges::greater(), &Finding::severity);
}

std::size_t count(const Findings& findings, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
}

int exit_code(const Findings& findings) {
  int worst = 0;
  for (const Finding& one : findings) worst = std::max(worst, static_cast<int>(one.severity));
  return worst;
}

}  // namespace am::doctor
