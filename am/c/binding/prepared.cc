// Medium payloads that C programs write where they are sent from.

#include "am/core/prepared.h"

#include <memory>
#include <optional>
#include <utility>

#include "am/c/am2.h"
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

int prepare(const char* call, Patience patience, ep_t endpoint, int index, std::size_t nbytes,
            void** payload) noexcept {
  return guarded(call, [&] {
    EndpointState& from = outside_handlers(core_of(endpoint));
    check_result(payload);
    check_prepared_bytes(nbytes);
    check_mapped(from, index);
    if (OfThisThread::get()) {
      refuse(AM_ERR_IN_USE,
             "this thread has prepared a payload already; AMX_CommitMedium() or AMX_DropMedium() "
             "it before");
    }
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

// What this thread has prepared, which is `payload`.
std::optional<Pending>& find_prepared(const void* payload) {
  std::optional<Pending>* const pending = OfThisThread::find();
  if (pending != nullptr && *pending && (*pending)->payload() == payload) return *pending;
  refuse(AM_ERR_BAD_ARG,
         "that is no payload that this thread has prepared and not yet sent; pass what "
         "AMX_PrepareMedium() has stored");
}

}  // namespace

void drop_prepared(ep_t endpoint) noexcept {
  std::optional<Pending>* const pending = OfThisThread::find();
  if (pending != nullptr && *pending && (*pending)->endpoint == endpoint) pending->reset();
}

}  // namespace am::c

using namespace am::c;

int AMX_PrepareMedium(ep_t endpoint, int index, size_t nbytes, void** payload) {
  return prepare("AMX_PrepareMedium", Patience::kWaits, endpoint, index, nbytes, payload);
}

int AMX_TryPrepareMedium(ep_t endpoint, int index, size_t nbytes, void** payload) {
  return prepare("AMX_TryPrepareMedium", Patience::kTries, endpoint, index, nbytes, payload);
}

int AMX_CommitMedium(void* payload, size_t nbytes, handler_t handler, int numargs,
                     const int32_t* args) {
  return guarded("AMX_CommitMedium", [&] {
    std::optional<Pending>& pending = find_prepared(payload);
    const Outgoing given{am::Kind::kMedium, handler, numargs, args, payload, nbytes};
    check_message(given);
    check_committed_bytes(nbytes, pending->bytes);
    Pending sent = std::move(*pending);
    pending.reset();
    if (!sent.medium) {
      return AM_RequestIArgs(sent.endpoint, sent.index, handler, payload, nbytes, numargs, args);
    }
    EndpointState& from = *sent.endpoint->core;
    std::move(*sent.medium)
        .commit_index(nbytes, static_cast<am::HandlerIndex>(handler), given.words());
    from.request_bytes[static_cast<int>(am::Kind::kMedium)].add(given.bytes(), from.parallel);
    return AM_OK;
  });
}

int AMX_DropMedium(void* payload) {
  return guarded("AMX_DropMedium", [payload] { find_prepared(payload).reset(); });
}
