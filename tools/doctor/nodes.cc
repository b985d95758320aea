#include "tools/doctor/nodes.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "tools/doctor/finding_json.h"

namespace am::doctor {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::vector<Shared> merge(const std::vector<NodeReport>& nodes) {
  std::vector<Shared> all;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    for (const Finding& finding : nodes[node].findings) {
      const auto known = std::ranges::find_if(
          all, [&](const Shared& one) { return one.finding.same_as(finding); });
      if (known == all.end()) {
        all.push_back({finding, {node}});
      } else if (known->nodes.back() != node) {
        known->nodes.push_back(node);
      }
    }
  }
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const Shared& one) { return one.finding.severity; });
  return all;
}

std::string to_bytes(const NodeReport& report) {
  Json findings = Json::array();
  for (const Finding& one : report.findings) findings.push_back(json_of(one));
  const Json all{{"host", report.host}, {"ranks", report.ranks}, {"findings", findings}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

NodeReport from_bytes(std::string_view bytes) {
  try {
    const Json all = Json::parse(bytes);
    NodeReport report{.host = all.at("host"), .ranks = all.at("ranks"), .findings = {}};
    for (const Json& one : all.at("findings")) report.findings.push_back(finding_of(one));
    return report;
  } catch (const Json::exception& error) {
    return {.host = "?",
            .ranks = "",
            .findings = {{.check = "start",
                          .severity = Severity::kError,
                          .seen = std::string("a node has sent no report (") + error.what() + ")",
                          .means = "it is not known what is wrong there",
                          .remedy = "run splitc-doctor there alone"}}};
  }
}

}  // namespace am::doctor
