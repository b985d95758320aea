#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/doctor/checks/finding.h"

namespace am::doctor {

// What one check says, as an object; and back. Throws the library's exception at another object.
inline nlohmann::ordered_json json_of(const Finding& finding) {
  return {{"check", finding.check}, {"severity", name_of(finding.severity)},
          {"seen", finding.seen},   {"measured", finding.measured},
          {"means", finding.means}, {"remedy", finding.remedy}};
}
inline Finding finding_of(const nlohmann::ordered_json& one) {
  return {.check = one.at("check"),
          .severity = severity_of(one.at("severity").get<std::string>()),
          .seen = one.at("seen"),
          .measured = one.at("measured"),
          .means = one.at("means"),
          .remedy = one.at("remedy")};
}

}  // namespace am::doctor
