// Requests whose payloads are not copied, in C.
#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "am/c/binding/token.h"
#include "am/c/transfers/held.h"
#include "am/c/transfers/zero_copy_state.h"
#include "am/c/zero_copy.h"
#include "am/route/router.h"
#include "am/types/of_thread.h"
#include "am/zero_copy/zero_copy.h"

// What a handler gets: lives while it runs.
struct AM_ZeroCopyRequestState {
  am::ZeroCopyRequest& core;
};

namespace am::c {
namespace {

constexpr int kMostPayloads = zero_copy::PartsAlong::kMostParts;
constexpr int kMostArguments = zero_copy::Announcement::kMostWords;

// That of the handler that runs in this thread; handlers are not nested.
struct Current {
  AM_zero_copy_request_t request = nullptr;
};
Current& current() { return OfThread<Current>::get(); }

void deliver_request(ZeroCopyRequest& core, std::span<const std::uint32_t> words, void* context) {
  AM_ZeroCopyRequestState request{core};
  const Handling handling;
  struct Leave {
    ~Leave() { current().request = nullptr; }
  } const leave;
  current().request = &request;
  const auto& handler = *static_cast<const ZeroCopyState::Handler*>(context);
  handler.function(&request, static_cast<int>(words.size()),
                   reinterpret_cast<const std::int32_t*>(words.data()), handler.data);
}

int check(const char* call, AM_zero_copy_request_t request) noexcept {
  if (request != nullptr && current().request == request) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call,
              "that is not the request of the handler that runs in this thread; it ends with its "
              "handler");
}
int check_untaken(const char* call, AM_zero_copy_request_t request) noexcept {
  if (const int code = check(call, request)) return code;
  if (!request->core.taken()) return AM_OK;
  return fail(AM_ERR_IN_USE, call,
              "this request has its memory already; it takes one AM_ZeroCopyReceive() or "
              "AM_ZeroCopyMatch()");
}

// Checks a list of `count` things, at most `most` of them.
int check_list(const char* call, const void* list, int count, int most, const char* what) noexcept {
  if (count >= 0 && count <= most && (list != nullptr || count == 0)) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call,
              std::to_string(count) + " " + what + (list == nullptr ? " at NULL" : "") +
                  " cannot be passed; pass 0 to " + std::to_string(most));
}

int check_memories(const char* call, std::span<const AM_memory_t> list) noexcept {
  for (const AM_memory_t& one : list) {
    if (const int code = check_memory(call, one.address, one.nbytes)) return code;
  }
  return AM_OK;
}

std::span<const AM_memory_t> list_of(const AM_memory_t* first, int count) noexcept {
  return {first, static_cast<std::size_t>(std::max(count, 0))};
}
std::span<std::byte> bytes_of(const AM_memory_t& memory) noexcept {
  return {static_cast<std::byte*>(memory.address), memory.nbytes};
}

// What a program sends.
struct Sent {
  std::span<const int> to;
  std::span<const AM_memory_t> payloads;
  int handler;
  std::span<const std::int32_t> args;
};

int check(const char* call, const ZeroCopyState& from, const Sent& sent) noexcept {
  const int processes = static_cast<int>(from.bundle->core->router().size());
  for (const int process : sent.to) {
    if (process >= 0 && process < processes) continue;
    return fail(
        AM_ERR_BAD_ARG, call,
        "there is no process " + std::to_string(process) + " among " + std::to_string(processes));
  }
  const int handlers = static_cast<int>(from.handlers.size());
  if (sent.handler < 0 || sent.handler >= handlers) {
    return fail(AM_ERR_BAD_ARG, call,
                std::to_string(sent.handler) + " is none of the " + std::to_string(handlers) +
                    " handlers; AM_ZeroCopyAddHandler() stores which to pass");
  }
  return check_memories(call, sent.payloads);
}

void request(ZeroCopyState& from, const Sent& sent, ZeroCopyCallback done) {
  std::vector<std::span<const std::byte>> payloads;
  for (const AM_memory_t& one : sent.payloads) payloads.emplace_back(bytes_of(one));
  const std::vector<Rank> to(sent.to.begin(), sent.to.end());
  const auto* const words = reinterpret_cast<const std::uint32_t*>(sent.args.data());
  from.core.request_untyped(to, payloads, std::move(done), static_cast<HandlerIndex>(sent.handler),
                            {words, sent.args.size()});
}

}  // namespace
}  // namespace am::c

using am::c::check_list;
using am::c::check_result;
using am::c::guarded;
using am::c::to_callback;

int AM_ZeroCopyAddHandler(AM_zero_copy_t zero, AM_zero_copy_handler_t function, void* data,
                          int* handler) {
  constexpr const char* kCall = "AM_ZeroCopyAddHandler";
  if (const int code = am::c::check_zero_copy(kCall, zero)) return code;
  if (const int code = check_result(kCall, handler)) return code;
  if (function == nullptr) return am::c::fail(AM_ERR_BAD_ARG, kCall, "NULL is no function");
  return guarded(kCall, [&] {
    am::c::ZeroCopyState& state = *zero->core;
    state.handlers.push_back({function, data});
    try {
      *handler = state.core.add_untyped_handler(&am::c::deliver_request, &state.handlers.back());
    } catch (...) {
      state.handlers.pop_back();
      throw;
    }
  });
}

int AM_ZeroCopyRequest(AM_zero_copy_t zero, const int* to, int nprocesses,
                       const AM_memory_t* payloads, int npayloads, AM_transfer_callback_t done,
                       void* data, int handler, int numargs, const int32_t* args) {
  constexpr const char* kCall = "AM_ZeroCopyRequest";
  constexpr int kAny = std::numeric_limits<int>::max();
  if (const int code = am::c::check_zero_copy(kCall, zero)) return code;
  if (const int code = check_list(kCall, to, nprocesses, kAny, "processes")) return code;
  if (const int code = check_list(kCall, payloads, npayloads, am::c::kMostPayloads, "payloads"))
    return code;
  if (const int code = check_list(kCall, args, numargs, am::c::kMostArguments, "arguments"))
    return code;
  const am::c::Sent sent{{to, static_cast<std::size_t>(nprocesses)},
                         am::c::list_of(payloads, npayloads),
                         handler,
                         {args, static_cast<std::size_t>(numargs)}};
  if (const int code = am::c::check(kCall, *zero->core, sent)) return code;
  return guarded(kCall, [&] { am::c::request(*zero->core, sent, to_callback(done, data)); });
}

int AM_ZeroCopyRequestSource(AM_zero_copy_request_t request, int* process) {
  constexpr const char* kCall = "AM_ZeroCopyRequestSource";
  if (const int code = am::c::check(kCall, request)) return code;
  if (const int code = check_result(kCall, process)) return code;
  *process = static_cast<int>(request->core.source());
  return AM_OK;
}

int AM_ZeroCopyRequestSizes(AM_zero_copy_request_t request, size_t* sizes, int room,
                            int* npayloads) {
  constexpr const char* kCall = "AM_ZeroCopyRequestSizes";
  constexpr int kAny = std::numeric_limits<int>::max();
  if (const int code = am::c::check(kCall, request)) return code;
  if (const int code = check_list(kCall, sizes, room, kAny, "sizes")) return code;
  if (const int code = check_result(kCall, npayloads)) return code;
  *npayloads = static_cast<int>(request->core.payloads());
  for (int i = 0; i < std::min(room, *npayloads); ++i) {
    sizes[i] = request->core.bytes(static_cast<std::size_t>(i));
  }
  return AM_OK;
}

int AM_ZeroCopyReceive(AM_zero_copy_request_t request, const AM_memory_t* memory, int count,
                       AM_transfer_callback_t done, void* data, uint64_t reference) {
  constexpr const char* kCall = "AM_ZeroCopyReceive";
  if (const int code = am::c::check_untaken(kCall, request)) return code;
  if (const int code = check_list(kCall, memory, count, am::c::kMostPayloads, "memories"))
    return code;
  const auto list = am::c::list_of(memory, count);
  if (const int code = am::c::check_memories(kCall, list)) return code;
  return guarded(kCall, [&] {
    auto callback = to_callback(done, data);
    if (count == 1) {
      return request->core.receive(am::c::bytes_of(*memory), std::move(callback), reference);
    }
    std::vector<std::span<std::byte>> each;
    for (const AM_memory_t& one : list) each.push_back(am::c::bytes_of(one));
    request->core.receive(each, std::move(callback), reference);
  });
}

int AM_ZeroCopyMatch(AM_zero_copy_request_t request, uint64_t tag) {
  constexpr const char* kCall = "AM_ZeroCopyMatch";
  if (const int code = am::c::check_untaken(kCall, request)) return code;
  return guarded(kCall, [&] { request->core.match(tag); });
}

int AM_ZeroCopyPost(AM_zero_copy_t zero, uint64_t tag, void* memory, size_t nbytes,
                    AM_transfer_callback_t done, void* data, uint64_t reference) {
  constexpr const char* kCall = "AM_ZeroCopyPost";
  if (const int code = am::c::check_zero_copy(kCall, zero)) return code;
  if (const int code = am::c::check_memory(kCall, memory, nbytes)) return code;
  return guarded(kCall, [&] {
    zero->core->core.post(tag, {static_cast<std::byte*>(memory), nbytes}, to_callback(done, data),
                          reference);
  });
}
