// Requests whose payloads are not copied, in C.
#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "am/c/binding/token.h"
#include "am/c/transfers/held.h"
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
constexpr int kAny = std::numeric_limits<int>::max();

// That of the handler that runs in this thread; handlers are not nested.
struct Current {
  AM_zero_copy_request_t request = nullptr;
};
Current& current() { return OfThread<Current>::get(); }

void deliver_request(ZeroCopyRequest& core, std::span<const std::uint32_t> words, void* context) {
  AM_ZeroCopyRequestState request{core};
  const Handling handling;
  const Finally leave([] { current().request = nullptr; });
  current().request = &request;
  const auto& handler = *static_cast<const ZeroCopyState::Handler*>(context);
  handler.function(&request, static_cast<int>(words.size()),
                   reinterpret_cast<const std::int32_t*>(words.data()), handler.data);
}

ZeroCopyRequest& core_of(AM_zero_copy_request_t request) {
  if (request != nullptr && current().request == request) return request->core;
  refuse(AM_ERR_BAD_ARG,
         "that is not the request of the handler that runs in this thread; it ends with its "
         "handler");
}
ZeroCopyRequest& untaken(AM_zero_copy_request_t request) {
  ZeroCopyRequest& core = core_of(request);
  if (!core.taken()) return core;
  refuse(AM_ERR_IN_USE,
         "this request has its memory already; it takes one AM_ZeroCopyReceive() or "
         "AM_ZeroCopyMatch()");
}

// A list of `count` things, at most `most` of them.
template <class T>
std::span<T> checked(T* list, int count, int most, const char* what) {
  if (count >= 0 && count <= most && (list != nullptr || count == 0)) {
    return {list, static_cast<std::size_t>(count)};
  }
  refuse(AM_ERR_BAD_ARG, std::to_string(count) + " " + what + (list == nullptr ? " at NULL" : "") +
                             " cannot be passed; pass 0 to " + std::to_string(most));
}

std::vector<std::span<std::byte>> bytes_of(std::span<const AM_memory_t> list) {
  std::vector<std::span<std::byte>> all;
  for (const AM_memory_t& one : list) {
    check_memory(one.address, one.nbytes);
    all.emplace_back(static_cast<std::byte*>(one.address), one.nbytes);
  }
  return all;
}

void check_receivers(const ZeroCopyState& from, std::span<const int> to, int handler) {
  const int processes = static_cast<int>(from.bundle->core->router().size());
  for (const int process : to) {
    if (process >= 0 && process < processes) continue;
    refuse(AM_ERR_BAD_ARG, "there is no process " + std::to_string(process) + " among " +
                               std::to_string(processes));
  }
  const int handlers = static_cast<int>(from.handlers.size());
  if (handler >= 0 && handler < handlers) return;
  refuse(AM_ERR_BAD_ARG, std::to_string(handler) + " is none of the " + std::to_string(handlers) +
                             " handlers; AM_ZeroCopyAddHandler() stores which to pass");
}

}  // namespace
}  // namespace am::c

using namespace am::c;

int AM_ZeroCopyAddHandler(AM_zero_copy_t zero, AM_zero_copy_handler_t function, void* data,
                          int* handler) {
  return guarded("AM_ZeroCopyAddHandler", [=] {
    ZeroCopyState& state = core_of(zero);
    check_result(handler);
    if (function == nullptr) refuse(AM_ERR_BAD_ARG, "NULL is no function");
    state.handlers.push_back({function, data});
    try {
      *handler = state.core.add_untyped_handler(&deliver_request, &state.handlers.back());
    } catch (...) {
      state.handlers.pop_back();
      throw;
    }
  });
}

int AM_ZeroCopyRequest(AM_zero_copy_t zero, const int* to, int nprocesses,
                       const AM_memory_t* payloads, int npayloads, AM_transfer_callback_t done,
                       void* data, int handler, int numargs, const int32_t* args) {
  return guarded("AM_ZeroCopyRequest", [=] {
    ZeroCopyState& from = core_of(zero);
    const auto receivers = checked(to, nprocesses, kAny, "processes");
    const auto list = checked(payloads, npayloads, kMostPayloads, "payloads");
    const auto words = checked(args, numargs, kMostArguments, "arguments");
    check_receivers(from, receivers, handler);
    const auto memories = bytes_of(list);
    from.core.request_untyped(
        std::vector<am::Rank>(receivers.begin(), receivers.end()),
        std::vector<std::span<const std::byte>>(memories.begin(), memories.end()),
        to_callback(done, data), static_cast<am::HandlerIndex>(handler),
        {reinterpret_cast<const std::uint32_t*>(words.data()), words.size()});
  });
}

int AM_ZeroCopyRequestSource(AM_zero_copy_request_t request, int* process) {
  return answer("AM_ZeroCopyRequestSource", process,
                [=] { return static_cast<int>(core_of(request).source()); });
}

int AM_ZeroCopyRequestSizes(AM_zero_copy_request_t request, size_t* sizes, int room,
                            int* npayloads) {
  return guarded("AM_ZeroCopyRequestSizes", [=] {
    const am::ZeroCopyRequest& core = core_of(request);
    const auto to = checked(sizes, room, kAny, "sizes");
    check_result(npayloads);
    *npayloads = static_cast<int>(core.payloads());
    for (std::size_t i = 0; i < std::min(to.size(), core.payloads()); ++i) to[i] = core.bytes(i);
  });
}

int AM_ZeroCopyReceive(AM_zero_copy_request_t request, const AM_memory_t* memory, int count,
                       AM_transfer_callback_t done, void* data, uint64_t reference) {
  return guarded("AM_ZeroCopyReceive", [=] {
    am::ZeroCopyRequest& core = untaken(request);
    const auto list = bytes_of(checked(memory, count, kMostPayloads, "memories"));
    if (list.size() == 1) return core.receive(list[0], to_callback(done, data), reference);
    core.receive(list, to_callback(done, data), reference);
  });
}

int AM_ZeroCopyMatch(AM_zero_copy_request_t request, uint64_t tag) {
  return guarded("AM_ZeroCopyMatch", [=] { untaken(request).match(tag); });
}

int AM_ZeroCopyPost(AM_zero_copy_t zero, uint64_t tag, void* memory, size_t nbytes,
                    AM_transfer_callback_t done, void* data, uint64_t reference) {
  return guarded("AM_ZeroCopyPost", [=] {
    am::ZeroCopy& core = core_of(zero).core;
    check_memory(memory, nbytes);
    core.post(tag, {static_cast<std::byte*>(memory), nbytes}, to_callback(done, data), reference);
  });
}
