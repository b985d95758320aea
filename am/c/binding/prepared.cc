// Medium payloads that C programs write where they are sent from.

#include "am/core/prepared.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "am/c/am2.h"
#include "am/c/binding/errors.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/message_check.h"
#include "am/c/binding/own_queue.h"
#include "am/route/router.h"
#include "am/types/of_thread.h"

namespace am::c {
namespace {

// What a thread has prepared.
struct Pending {
  ep_t endpoint;
  int index;
  // One of them. Memory of its own goes to this process, as waiting for credit there might never
  // end (own_queue.h), and a commit is to find its place behind what is queued; and in parallel
  // bundles, where another thread may free the endpoint meanwhile: the commit looks for it by its
  // handle.
  std::optional<PreparedMedium> medium = {};
  std::unique_ptr<std::byte[]> own = {};
  std::size_t bytes;

  void* payload() const noexcept { return medium ? medium->span().data() : own.get(); }
};
using OfThisThread = OfThread<std::optional<Pending>>;

int check_prepare(const char* call, ep_t endpoint, int index, std::size_t nbytes, void** payload) {
  if (const int code = check_endpoint(call, endpoint)) return code;
  if (const int code = check_no_handler(call)) return code;
  if (const int code = check_result(call, payload)) return code;
  if (const int code = check_prepared_bytes(call, nbytes)) return code;
  if (index < 0 || !endpoint->core->mapped(static_cast<std::uint32_t>(index))) {
    return fail_not_mapped(call, index);
  }
  if (!OfThisThread::get()) return AM_OK;
  return fail(AM_ERR_IN_USE, call,
              "this thread has prepared a payload already; AMX_CommitMedium() or AMX_DropMedium() "
              "it before");
}

int prepare(const char* call, Patience patience, ep_t endpoint, int index, std::size_t nbytes,
            void** payload) noexcept {
  return guarded(call, [&] {
    if (const int code = check_prepare(call, endpoint, index, nbytes, payload)) return code;
    EndpointState& from = *endpoint->core;
    const auto to = static_cast<std::uint32_t>(index);
    Pending made{.endpoint = endpoint, .index = index, .bytes = nbytes};
    if (from.parallel || from.translation_name(to).rank == from.bundle().router().rank()) {
      made.own = std::make_unique_for_overwrite<std::byte[]>(nbytes);
    } else if (patience == Patience::kWaits) {
      made.medium.emplace(from.prepare_medium(To(to, SourceLocation()), 0, nbytes));
    } else if (auto tried = from.try_prepare_medium(to, 0, nbytes)) {
      made.medium.emplace(std::move(*tried));
    } else {
      return fail_no_credit(call, index);
    }
    *payload = made.payload();
    OfThisThread::get().emplace(std::move(made));
    return AM_OK;
  });
}

// What this thread has prepared, if that is `payload`; else nullptr, and `code` says so.
std::optional<Pending>* find(const char* call, const void* payload, int& code) noexcept {
  std::optional<Pending>* const pending = OfThisThread::find();
  if (pending != nullptr && *pending && (*pending)->payload() == payload) return pending;
  code = fail(AM_ERR_BAD_ARG, call,
              "that is no payload that this thread has prepared and not yet sent; pass what "
              "AMX_PrepareMedium() has stored");
  return nullptr;
}

}  // namespace

void drop_prepared(ep_t endpoint) noexcept {
  std::optional<Pending>* const pending = OfThisThread::find();
  if (pending != nullptr && *pending && (*pending)->endpoint == endpoint) pending->reset();
}

}  // namespace am::c

using am::c::Pending;

int AMX_PrepareMedium(ep_t endpoint, int index, size_t nbytes, void** payload) {
  return am::c::prepare("AMX_PrepareMedium", am::c::Patience::kWaits, endpoint, index, nbytes,
                        payload);
}

int AMX_TryPrepareMedium(ep_t endpoint, int index, size_t nbytes, void** payload) {
  return am::c::prepare("AMX_TryPrepareMedium", am::c::Patience::kTries, endpoint, index, nbytes,
                        payload);
}

int AMX_CommitMedium(void* payload, size_t nbytes, handler_t handler, int numargs,
                     const int32_t* args) {
  constexpr const char* kCall = "AMX_CommitMedium";
  int code = AM_OK;
  std::optional<Pending>* const pending = am::c::find(kCall, payload, code);
  if (pending == nullptr) return code;
  const am::c::Outgoing given{am::Kind::kMedium, handler, numargs, args, payload, nbytes};
  if (!is_valid(given)) return check_message(kCall, given);
  if (const int wrong = am::c::check_committed_bytes(kCall, nbytes, (*pending)->bytes))
    return wrong;
  Pending sent = std::move(**pending);
  pending->reset();
  if (!sent.medium) {
    return AM_RequestIArgs(sent.endpoint, sent.index, handler, payload, nbytes, numargs, args);
  }
  return am::c::guarded(kCall, [&] {
    am::c::EndpointState& from = *sent.endpoint->core;
    std::move(*sent.medium)
        .commit_index(nbytes, static_cast<am::HandlerIndex>(handler), given.words());
    from.request_bytes[static_cast<int>(am::Kind::kMedium)].add(given.bytes(), from.parallel);
  });
}

int AMX_DropMedium(void* payload) {
  int code = AM_OK;
  if (auto* const pending = am::c::find("AMX_DropMedium", payload, code)) pending->reset();
  return code;
}
