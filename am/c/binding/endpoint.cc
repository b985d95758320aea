// Endpoints: their life, tag, segment and statistics.

#include <algorithm>
#include <array>
#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "am/c/binding/handles.h"
#include "am/c/binding/library.h"
#include "am/c/binding/own_queue.h"
#include "am/c/statistics.h"
#include "am/message/admission.h"
#include "am/route/router.h"
#include "shmem/mailbox_layout.h"

namespace am::c {
namespace {

// The most bytes that a segment may have: all memory of the process.
constexpr std::uintptr_t kMaxSegment = UINTPTR_MAX;

// The usual ones, but for inboxes: AM-II sets no limit to the translations that lead to an
// endpoint, and has no call to ask for one. One that is not used costs about 170 bytes, and address
// space.
Endpoint::Options options(const Bundle& bundle) {
  return {.translations = std::max(256U, bundle.router().size()), .inboxes = shmem::kMaxInboxes};
}

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

}  // namespace
}  // namespace am::c

using namespace am::c;

int AM_AllocateEndpoint(eb_t bundle, ep_t* endpoint, en_t* name) {
  return guarded("AM_AllocateEndpoint", [&] {
    am::Bundle& in = outside_handlers(core_of(bundle));
    check_result(endpoint);
    check_result(name);
    auto core = std::make_unique<EndpointState>(in, options(in));
    core->set_segment({});
    core->join(bundle);
    EndpointState& made = *core;
    *endpoint = made.handle = hold(endpoints, std::move(core), "endpoints");
    *name = to_c(made.name());
  });
}

int AM_FreeEndpoint(ep_t endpoint) {
  return guarded("AM_FreeEndpoint", [endpoint] {
    outside_handlers(core_of(endpoint));
    free_endpoint(endpoint);
  });
}

int AM_MoveEndpoint(ep_t endpoint, eb_t from, eb_t to) {
  return guarded("AM_MoveEndpoint", [&] {
    EndpointState& core = core_of(endpoint);
    am::Bundle& left = core_of(from);
    am::Bundle& joined = outside_handlers(core_of(to));
    if (core.bundle_handle != from) {
      refuse(AM_ERR_BAD_ARG, "the endpoint is not in the bundle that it is to leave");
    }
    const std::lock_guard lock(core.moving);
    joined.adopt(core);
    core.join(to);
    if (core.queue) {
      core.queue->leave(left);
      core.queue->join(joined);
    }
  });
}

int AM_GetEndpointName(ep_t endpoint, en_t* name) {
  return get("AM_GetEndpointName", endpoint, name, [](auto& core) { return to_c(core.name()); });
}

int AM_GetEndpointBundle(ep_t endpoint, eb_t* bundle) {
  return get("AM_GetEndpointBundle", endpoint, bundle,
             [](auto& core) { return core.bundle_handle.load(); });
}

int AM_SameEndpoint(en_t one, en_t other) {
  const am::Name a = from_c(one);
  const am::Name b = from_c(other);
  return a.rank == b.rank && a.serial == b.serial ? 1 : 0;
}

int AM_SetExpectedResources(ep_t endpoint, int endpoints, int outstanding) {
  return guarded("AM_SetExpectedResources", [=] {
    EndpointState& core = core_of(endpoint);
    if (endpoints < 1 || outstanding < 1) {
      refuse(AM_ERR_BAD_ARG, std::to_string(endpoints) + " endpoints and " +
                                 std::to_string(outstanding) +
                                 " requests to each; both are at least 1");
    }
    const auto wanted = static_cast<std::uint32_t>(endpoints);
    if (wanted > core.translations()) core.resize_translations(wanted);
  });
}

int AMX_SetLoopback(ep_t endpoint, int at_once) {
  return guarded("AMX_SetLoopback", [=] {
    EndpointState& core = core_of(endpoint);
    if (!core.queue && at_once == 0) return;
    if (!core.queue) core.queue = std::make_unique<OwnQueue>(core);
    core.queue->set_at_once(at_once != 0);
  });
}

int AM_SetTag(ep_t endpoint, tag_t tag) {
  return guarded("AM_SetTag", [=] { core_of(endpoint).set_tag(tag); });
}

int AM_GetTag(ep_t endpoint, tag_t* tag) {
  return get("AM_GetTag", endpoint, tag, [](auto& core) { return core.tag(); });
}

int AM_SetSeg(ep_t endpoint, void* address, uintptr_t nbytes) {
  return guarded("AM_SetSeg", [=] {
    EndpointState& core = core_of(endpoint);
    if (nbytes > kMaxSegment - reinterpret_cast<std::uintptr_t>(address)) {
      refuse(AM_ERR_BAD_ARG,
             std::to_string(nbytes) + " bytes from there on go beyond the last address");
    }
    if (address == nullptr && nbytes != 0 && nbytes != kMaxSegment) {
      refuse(AM_ERR_BAD_ARG, "NULL is no memory of " + std::to_string(nbytes) +
                                 " bytes; it goes with 0 bytes, or with (uintptr_t)-1 for all "
                                 "memory");
    }
    core.set_segment({static_cast<std::byte*>(address), nbytes});
  });
}

int AM_GetSeg(ep_t endpoint, void** address, uintptr_t* nbytes) {
  return guarded("AM_GetSeg", [=] {
    const std::span<std::byte> segment = core_of(endpoint).segment();
    check_result(address);
    check_result(nbytes);
    *address = segment.empty() ? nullptr : segment.data();
    *nbytes = segment.size();
  });
}

int AM_GetProcessSegment(void** address, uintptr_t* nbytes) {
  return guarded("AM_GetProcessSegment", [=] {
    check_in_use();
    check_result(address);
    check_result(nbytes);
    const am::Router& router = Library::get().job().router();
    *address = router.segment();
    *nbytes = router.segment_bytes();
  });
}

int AM_MaxSegLength(uintptr_t* nbytes) { return give("AM_MaxSegLength", nbytes, kMaxSegment); }

const AM_stats_t AM_initial_stats = {};

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
    const auto row = [&](const char* what, const std::uint64_t(&by_category)[3]) {
      std::fprintf(file, "%-22s %14" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n", what, by_category[0],
                   by_category[1], by_category[2]);
    };
    row("requests sent", statistics->RequestsSent);
    row("requests received", statistics->RequestsReceived);
    row("replies sent", statistics->RepliesSent);
    row("replies received", statistics->RepliesReceived);
    row("request bytes sent", statistics->RequestDataBytesSent);
    row("reply bytes sent", statistics->ReplyDataBytesSent);
    std::fprintf(
        file, "returned %" PRIu64 ", sent back %" PRIu64 ", waits for credit %" PRIu64 "\n",
        statistics->ReturnedMessages, statistics->RejectedMessages, statistics->CreditStalls);
  });
}
