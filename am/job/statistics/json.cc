#include <cstddef>
#include <nlohmann/json.hpp>

#include "am/job/statistics/summary.h"
#include "am/types/types.h"

namespace am::statistics {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kMostProcesses = 1 << 24;

Json calls_of(std::span<const CallStatistics> calls) {
  Json all = Json::array();
  for (const CallStatistics& call : calls) {
    all.push_back({{"call", call.call},
                   {"place", call.place},
                   {"operations", call.far.operations},
                   {"bytes", call.far.bytes},
                   {"near_operations", call.near.operations},
                   {"near_bytes", call.near.bytes},
                   {"waits", call.waits},
                   {"waited_ns", call.waited_ns},
                   {"needs", call.needs}});
  }
  return all;
}

// Those to which anything went.
Json traffic_of(const ProcessStatistics& process) {
  Json all = Json::array();
  for (std::size_t to = 0; to < process.traffic.size(); ++to) {
    const auto& traffic = process.traffic[to];
    if (traffic.operations == 0) continue;
    all.push_back({{"to", to}, {"operations", traffic.operations}, {"bytes", traffic.bytes}});
  }
  return all;
}

Json json_of(const ProcessStatistics& process) {
  const SendStats& sent = process.sent;
  const LossStats& losses = process.losses;
  return {{"elapsed_ns", process.elapsed_ns},
          {"calls", calls_of(process.calls)},
          {"traffic", traffic_of(process)},
          {"packets",
           {{"sends", sent.sends},
            {"messages", sent.messages},
            {"bytes", sent.bytes},
            {"accessed", sent.accessed}}},
          {"datagrams",
           {{"sent", losses.sent},
            {"repeated", losses.repeated},
            {"twice", losses.twice},
            {"damaged", losses.damaged}}}};
}

ProcessStatistics statistics_of(const Json& all) {
  ProcessStatistics process;
  process.elapsed_ns = all.at("elapsed_ns");
  for (const Json& one : all.at("calls")) {
    process.calls.push_back({.call = one.at("call"),
                             .place = one.at("place"),
                             .far = {one.at("operations"), one.at("bytes")},
                             .near = {one.at("near_operations"), one.at("near_bytes")},
                             .waits = one.at("waits"),
                             .waited_ns = one.at("waited_ns"),
                             .needs = one.at("needs")});
  }
  for (const Json& one : all.at("traffic")) {
    const Rank to = one.at("to");
    if (to >= kMostProcesses) continue;
    if (to >= process.traffic.size()) process.traffic.resize(to + 1);
    process.traffic[to] = {one.at("operations"), one.at("bytes")};
  }
  const Json& sent = all.at("packets");
  const Json& losses = all.at("datagrams");
  process.sent = {sent.at("sends"), sent.at("messages"), sent.at("bytes"), sent.at("accessed")};
  process.losses = {losses.at("sent"), losses.at("repeated"), losses.at("twice"),
                    losses.at("damaged")};
  return process;
}

}  // namespace

std::string pack(const ProcessStatistics& process) {
  std::string text;
  Json::to_cbor(json_of(process), text);
  return text;
}

ProcessStatistics unpack(std::string_view text) {
  try {
    return statistics_of(Json::from_cbor(text));
  } catch (const Json::exception&) {
    return {};
  }
}

std::string to_json(std::span<const ProcessStatistics> processes, std::uint32_t nodes) {
  Json report = {{"processes", processes.size()}, {"nodes", nodes}};
  report["calls"] = calls_of(all_calls(processes));
  report["by_process"] = Json::array();
  for (std::size_t rank = 0; rank < processes.size(); ++rank) {
    Json process = {{"rank", rank}};
    process.update(json_of(processes[rank]));
    report["by_process"].push_back(process);
  }
  report["advice"] = advise(processes);
  // A path need not be UTF-8, and JSON is.
  return report.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace am::statistics
