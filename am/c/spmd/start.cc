// The SPMD layer: start, barrier, all-gather.

#include <utility>

#include "am/c/am2.h"
#include "am/c/binding/errors.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/library.h"
#include "am/c/spmd.h"
#include "am/c/spmd/world.h"

namespace am::c {
namespace {

// From the start to the end of the process; one, as the job is.
SpmdWorld* world = nullptr;

struct Started {
  eb_t bundle;
  ep_t endpoint;
};

// The watch sleeps in the job's memory where the launcher brings the news.
bool end() {
  if (exit_watch_uses_job()) return false;
  delete world;
  world = nullptr;
  return true;
}

// What AMUDP's AM_SPMDStartup gives a program: an endpoint that reaches all others.
Started make_ends(std::uint64_t tag) {
  Started made{};
  en_t name;
  if (AM_AllocateBundle(AM_SEQ, &made.bundle) != AM_OK ||
      AM_AllocateEndpoint(made.bundle, &made.endpoint, &name) != AM_OK) {
    throw Error(AM_ErrorSentence());
  }
  world->job().connect(*made.endpoint->core, tag);
  return made;
}

// A start that has failed has had no effect. Its sentence stays the last one.
void take_back() noexcept {
  delete std::exchange(world, nullptr);
  static_cast<void>(
      guarded("AMX_SPMDStartup", [] { return Library::get().end("AMX_SPMDStartup"); }));
}

int start(const char* call, std::uint64_t* network_id, eb_t* bundle, ep_t* endpoint) {
  if (const int code = check_result(call, bundle)) return code;
  if (const int code = check_result(call, endpoint)) return code;
  if (const int code = check_no_handler(call)) return code;
  if (world != nullptr) {
    return fail(AM_ERR_IN_USE, call, "the job has been started; a process starts it once");
  }
  if (const int code = AM_Init()) return code;
  const int code = guarded(call, [&] {
    Job& job = Library::get().job();
    world = new SpmdWorld(job);
    Library::get().before_end(&end);
    const std::uint64_t id = world->id();
    const Started made = make_ends(id);
    start_exit_watch(job);  // nothing fails behind it
    *bundle = made.bundle;
    *endpoint = made.endpoint;
    if (network_id != nullptr) *network_id = id;
  });
  if (code != AM_OK) take_back();
  return code;
}

int check_started(const char* call) {
  if (world != nullptr) return check_no_handler(call);
  return fail(AM_ERR_NOT_INIT, call, "call AMX_SPMDStartup() first");
}

// `call`: as the program knows it, and where it returns to.
int barrier(Call call) {
  if (const int code = check_started(call.name)) return code;
  return guarded(call.name, [call] { world->barrier(call); });
}

int all_gather(Call call, const void* source, void* destination, std::size_t nbytes) {
  if (nbytes == 0) return barrier(call);
  if (const int code = check_started(call.name)) return code;
  if (const int code = check_result(call.name, destination)) return code;
  if (source == nullptr) return fail(AM_ERR_BAD_ARG, call.name, "NULL is nothing to gather");
  return guarded(call.name, [&] {
    world->all_gather({static_cast<const std::byte*>(source), nbytes},
                      static_cast<std::byte*>(destination), call);
  });
}

}  // namespace

}  // namespace am::c

using am::c::world;

int AMX_SPMDStartup(int*, char***, int, std::uint64_t* network_id, eb_t* bundle, ep_t* endpoint) {
  return am::c::start("AMX_SPMDStartup", network_id, bundle, endpoint);
}

int AMX_SPMDMyProc() { return world == nullptr ? -1 : static_cast<int>(world->job().rank()); }

int AMX_SPMDNumProcs() { return world == nullptr ? -1 : static_cast<int>(world->job().size()); }

int AMX_SPMDNodeOf(int process) {
  if (world == nullptr || process < 0 || process >= AMX_SPMDNumProcs()) return -1;
  return static_cast<int>(world->nodes().of(static_cast<am::Rank>(process)));
}

int AMX_SPMDNumNodes() { return world == nullptr ? -1 : static_cast<int>(world->nodes().count()); }

int AMX_SPMDBarrier() {
  return am::c::barrier(am::Call("AMX_SPMDBarrier").or_from(__builtin_return_address(0)));
}

int AMX_SPMDAllGather(const void* source, void* destination, size_t nbytes) {
  return am::c::all_gather(am::Call("AMX_SPMDAllGather").or_from(__builtin_return_address(0)),
                           source, destination, nbytes);
}

const char* AMX_SPMDgetenvMaster(const char* name) {
  return world == nullptr || name == nullptr ? nullptr : world->variable(name);
}

const char* const* AMX_SPMDenvironMaster() {
  return world == nullptr ? nullptr : world->variables();
}
