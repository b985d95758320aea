#include "tools/doctor/report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>

#include "am/job/config/config.h"
#include "tools/doctor/checks/text.h"

namespace am::doctor {
namespace {

using Json = nlohmann::ordered_json;

// What one check says, as an object; and back. Throws the library's exception at another object.
Json json_of(const Finding& finding) {
  return {{"check", finding.check}, {"severity", name_of(finding.severity)},
          {"seen", finding.seen},   {"measured", finding.measured},
          {"means", finding.means}, {"remedy", finding.remedy}};
}
Finding finding_of(const Json& one) {
  return {.check = one.at("check"),
          .severity = severity_of(one.at("severity").get<std::string>()),
          .seen = one.at("seen"),
          .measured = one.at("measured"),
          .means = one.at("means"),
          .remedy = one.at("remedy")};
}

std::array<std::size_t, 3> counts(const std::vector<Shared>& findings) {
  std::array<std::size_t, 3> all{};
  for (const Shared& one : findings) ++all[static_cast<std::size_t>(one.finding.severity)];
  return all;
}

std::string counts_text(const std::vector<Shared>& findings, bool all) {
  const auto [remarks, warnings, errors] = counts(findings);
  return (errors + warnings == 0 ? "nothing has to be done"
                                 : count_text(errors, "error", "errors") + ", " +
                                       count_text(warnings, "warning", "warnings")) +
         ", " + count_text(remarks, "remark", "remarks") +
         (all || remarks == 0 ? "" : " (--all prints them)");
}

bool has_something_to_do(const std::vector<Shared>& findings) {
  return std::ranges::any_of(
      findings, [](const Shared& one) { return one.finding.severity != Severity::kRemark; });
}

std::string node_text(const NodeReport& node) {
  return node.host + (node.ranks.empty() ? "" : ", ranks " + node.ranks);
}

// " on nodes 0-2", where there are others.
std::string where(const Shared& one, std::size_t nodes) {
  if (nodes == 1) return "";
  if (one.nodes.size() == nodes) return ", on all nodes";
  const std::vector<int> numbers(one.nodes.begin(), one.nodes.end());
  return (numbers.size() == 1 ? ", on node " : ", on nodes ") + ranges_text(numbers);
}

std::string seen_text(const Finding& finding) {
  return finding.seen + (finding.measured.empty() ? "" : " (" + finding.measured + ")");
}

// One paragraph for what asks for something, and one line for a remark.
std::string finding_text(const Shared& one, std::size_t nodes) {
  const Finding& finding = one.finding;
  std::string text =
      std::string(name_of(finding.severity)) + ": " + finding.check + where(one, nodes);
  if (finding.severity == Severity::kRemark) {
    text += ": " + seen_text(finding) + "; " + finding.means;
    if (!finding.remedy.empty()) text += "; to do: " + finding.remedy;
    return text + "\n";
  }
  text += "\n  seen:  " + seen_text(finding) + "\n  means: " + finding.means + "\n";
  if (!finding.remedy.empty()) text += "  to do: " + finding.remedy + "\n";
  return text;
}

std::string heading(const std::vector<NodeReport>& nodes, const std::vector<Shared>& findings,
                    bool all) {
  std::string text = "splitc-doctor (Splitphase " + std::string(kVersion) + ") on ";
  text += nodes.size() == 1 ? node_text(nodes[0]) : std::to_string(nodes.size()) + " nodes";
  text += ": " + counts_text(findings, all) + "\n";
  if (nodes.size() == 1 || !(all || has_something_to_do(findings))) return text;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    text += "node " + std::to_string(i) + ": " + node_text(nodes[i]) + "\n";
  }
  return text;
}

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

std::string text_of(const std::vector<NodeReport>& nodes, bool all) {
  const std::vector<Shared> findings = merge(nodes);
  std::string text = heading(nodes, findings, all);
  for (const Shared& one : findings) {
    if (all || one.finding.severity != Severity::kRemark) text += finding_text(one, nodes.size());
  }
  return text;
}

std::string json_of(const std::vector<NodeReport>& nodes) {
  const std::vector<Shared> merged = merge(nodes);
  const auto [remarks, warnings, errors] = counts(merged);
  Json all;
  all["version"] = kVersion;
  all["errors"] = errors;
  all["warnings"] = warnings;
  all["remarks"] = remarks;
  all["exit_code"] = exit_code_of(nodes);
  all["nodes"] = Json::array();
  for (const NodeReport& node : nodes) {
    Json one;
    one["host"] = node.host;
    one["ranks"] = node.ranks;
    all["nodes"].push_back(one);
  }
  all["findings"] = Json::array();
  for (const Shared& shared : merged) {
    Json one = json_of(shared.finding);
    one["nodes"] = shared.nodes;
    all["findings"].push_back(one);
  }
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int exit_code_of(const std::vector<NodeReport>& nodes) {
  int worst = 0;
  for (const NodeReport& node : nodes) worst = std::max(worst, exit_code(node.findings));
  return worst;
}

}  // namespace am::doctor
