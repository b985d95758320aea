// The SPMD layer: start, barrier, all-gather.

#include <utility>

#include "am/c/am2.h"
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

void start(std::uint64_t* network_id, eb_t* bundle, ep_t* endpoint) {
  Job& job = Library::get().job();
  world = new SpmdWorld(job);
  Library::get().before_end(&end);
  const std::uint64_t id = world->id();
  const Started made = make_ends(id);
  start_exit_watch(job);  // nothing fails behind it
  *bundle = made.bundle;
  *endpoint = made.endpoint;
  if (network_id != nullptr) *network_id = id;
}

void check_started() {
  if (world == nullptr) refuse(AM_ERR_NOT_INIT, "call AMX_SPMDStartup() first");
  check_no_handler();
}

}  // namespace

}  // namespace am::c

using namespace am::c;

int AMX_SPMDStartup(int*, char***, int, std::uint64_t* network_id, eb_t* bundle, ep_t* endpoint) {
  constexpr const char* kCall = "AMX_SPMDStartup";
  return guarded(kCall, [&] {
    check_result(bundle);
    check_result(endpoint);
    check_no_handler();
    if (world != nullptr) {
      refuse(AM_ERR_IN_USE, "the job has been started; a process starts it once");
    }
    if (const int code = AM_Init()) return code;
    try {
      start(network_id, bundle, endpoint);
      return AM_OK;
    } catch (...) {  // a start that has failed has had no effect
      delete std::exchange(world, nullptr);
      static_cast<void>(AM_Terminate());
      throw;
    }
  });
}

int AMX_SPMDMyProc() { return world == nullptr ? -1 : static_cast<int>(world->job().rank()); }

int AMX_SPMDNumProcs() { return world == nullptr ? -1 : static_cast<int>(world->job().size()); }

int AMX_SPMDNodeOf(int process) {
  if (world == nullptr || process < 0 || process >= AMX_SPMDNumProcs()) return -1;
  return static_cast<int>(world->nodes().of(static_cast<am::Rank>(process)));
}

int AMX_SPMDNumNodes() { return world == nullptr ? -1 : static_cast<int>(world->nodes().count()); }

// Reports name the calls as the program knows them, and where they return to.
int AMX_SPMDBarrier() {
  const am::Call call = am::Call("AMX_SPMDBarrier").or_from(__builtin_return_address(0));
  return guarded(call.name, [&] {
    check_started();
    world->barrier(call);
  });
}

int AMX_SPMDAllGather(const void* source, void* destination, size_t nbytes) {
  const am::Call call = am::Call("AMX_SPMDAllGather").or_from(__builtin_return_address(0));
  return guarded(call.name, [&] {
    check_started();
    if (nbytes == 0) return world->barrier(call);
    check_result(destination);
    if (source == nullptr) refuse(AM_ERR_BAD_ARG, "NULL is nothing to gather");
    world->all_gather({static_cast<const std::byte*>(source), nbytes},
                      static_cast<std::byte*>(destination), call);
  });
}

const char* AMX_SPMDgetenvMaster(const char* name) {
  return world == nullptr || name == nullptr ? nullptr : world->variable(name);
}

const char* const* AMX_SPMDenvironMaster() {
  return world == nullptr ? nullptr : world->variables();
}
