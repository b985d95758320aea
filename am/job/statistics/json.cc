#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "am/job/statistics/summary.h"

namespace am::statistics {
namespace {

using Json = nlohmann::ordered_json;

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

Json packets_of(const SendStats& sent) {
  return {{"sends", sent.sends},
          {"messages", sent.messages},
          {"bytes", sent.bytes},
          {"accessed", sent.accessed}};
}

Json datagrams_of(const LossStats& losses) {
  return {{"sent", losses.sent},
          {"repeated", losses.repeated},
          {"twice", losses.twice},
          {"damaged", losses.damaged}};
}

}  // namespace

std::string to_json(std::span<const ProcessStatistics> processes, std::uint32_t nodes) {
  Json report = {{"processes", processes.size()}, {"nodes", nodes}};
  report["calls"] = calls_of(all_calls(processes));
  report["by_process"] = Json::array();
  for (std::size_t rank = 0; rank < processes.size(); ++rank) {
    const ProcessStatistics& process = processes[rank];
    report["by_process"].push_back({{"rank", rank},
                                    {"elapsed_ns", process.elapsed_ns},
                                    {"calls", calls_of(process.calls)},
                                    {"traffic", traffic_of(process)},
                                    {"packets", packets_of(process.sent)},
                                    {"datagrams", datagrams_of(process.losses)}});
  }
  report["advice"] = advise(processes);
  // A path need not be UTF-8, and JSON is.
  return report.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace am::statistics
