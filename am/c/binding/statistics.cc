#include "am/c/statistics.h"

#include <array>
#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <mutex>

#include "am/c/binding/handles.h"

const AM_stats_t AM_initial_stats = {};

namespace am::c {
namespace {

constexpr std::size_t kCounters = sizeof(AM_stats_t) / sizeof(std::uint64_t);

// All counters, in the order of AM_stats_t.
using Counters = std::array<std::uint64_t, kCounters>;
static_assert(sizeof(Counters) == sizeof(AM_stats_t));

AM_stats_t since_the_beginning(const EndpointState& core) {
  AM_stats_t now{};
  const Stats stats = core.stats();
  for (const Kind kind : {Kind::kShort, Kind::kMedium, Kind::kLong}) {
    const Stats::Category& from = stats[kind];
    const auto i = static_cast<std::size_t>(kind);
    now.RequestsSent[i] = from.requests_sent + from.one_way_sent;
    now.RequestsReceived[i] = from.requests_received + from.one_way_received;
    now.RepliesSent[i] = from.replies_sent;
    now.RepliesReceived[i] = from.replies_received;
    now.RequestDataBytesSent[i] = core.request_bytes[i].total();
    now.ReplyDataBytesSent[i] = core.reply_bytes[i].total();
  }
  now.ReturnedMessages = stats.returned_here;
  now.RejectedMessages = stats.returned_by_us;
  now.CreditStalls = stats.credit_stalls + core.queued;
  return now;
}

void print_row(std::FILE* file, const char* what, const std::uint64_t (&by_category)[3]) {
  std::fprintf(file, "%-22s %14" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n", what, by_category[0],
               by_category[1], by_category[2]);
}

}  // namespace
}  // namespace am::c

using namespace am::c;

int AM_GetEndpointStatistics(ep_t endpoint, AM_stats_t* statistics) {
  return get("AM_GetEndpointStatistics", endpoint, statistics, [](auto& core) {
    const std::lock_guard lock(core.mapping);
    auto now = std::bit_cast<Counters>(since_the_beginning(core));
    const auto before = std::bit_cast<Counters>(core.before);
    for (std::size_t i = 0; i < now.size(); ++i) now[i] -= before[i];
    return std::bit_cast<AM_stats_t>(now);
  });
}

int AM_ResetEndpointStatistics(ep_t endpoint) {
  return guarded("AM_ResetEndpointStatistics", [endpoint] {
    EndpointState& core = core_of(endpoint);
    const std::lock_guard lock(core.mapping);
    core.before = since_the_beginning(core);
  });
}

int AM_AggregateStatistics(AM_stats_t* sum, const AM_stats_t* more) {
  return guarded("AM_AggregateStatistics", [=] {
    check_result(sum);
    check_result(more);
    auto total = std::bit_cast<Counters>(*sum);
    const auto added = std::bit_cast<Counters>(*more);
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += added[i];
    *sum = std::bit_cast<AM_stats_t>(total);
  });
}

int AM_DumpStatistics(FILE* file, const AM_stats_t* statistics) {
  return guarded("AM_DumpStatistics", [=] {
    check_result(file);
    check_result(statistics);
    std::fprintf(file, "%-22s %14s %14s %14s\n", "", "short", "medium", "long");
    print_row(file, "requests sent", statistics->RequestsSent);
    print_row(file, "requests received", statistics->RequestsReceived);
    print_row(file, "replies sent", statistics->RepliesSent);
    print_row(file, "replies received", statistics->RepliesReceived);
    print_row(file, "request bytes sent", statistics->RequestDataBytesSent);
    print_row(file, "reply bytes sent", statistics->ReplyDataBytesSent);
    std::fprintf(
        file, "returned %" PRIu64 ", sent back %" PRIu64 ", waits for credit %" PRIu64 "\n",
        statistics->ReturnedMessages, statistics->RejectedMessages, statistics->CreditStalls);
  });
}
