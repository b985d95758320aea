#include "am/c/spmd/world.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "am/c/am2.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/library.h"
#include "am/c/spmd.h"
#include "am/types/types.h"

namespace am::c {
namespace {

// NAME=VALUE, each ended by 0.
std::string pack_environment() {
  std::string text;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    text.append(*variable);
    text.push_back('\0');
  }
  return text;
}

// A number that another job hardly has.
std::uint64_t choose_id() noexcept {
  const auto now =
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  return (now ^ static_cast<std::uint64_t>(getpid()) << 40) | 1;
}

// What rank 0 decides.
struct First {
  std::uint64_t environment_bytes;
  std::uint64_t id;
};

}  // namespace

SpmdWorld::SpmdWorld(Job& job) : job_(job), bundle_(job), endpoint_(bundle_), nodes_(job.router()) {
  endpoint_.add_handlers<&SpmdWorld::on_piece>(*this);
  // Pieces for the dead are nobody's: who gathers is refused.
  if (job_.survives()) endpoint_.on_returned([](const Returned&) {});
  job_.connect(endpoint_);
  share_environment();
}

void SpmdWorld::on_piece(OneWay message, std::span<const std::byte> piece, std::uint64_t offset) {
  std::ranges::copy(piece, all_ + message.source() * stride_ + offset);
  received_ += piece.size();
}

// Until it returns: what it throws before is of a handler that ran meanwhile, and it had no effect.
// The first of these is kept. After a death it never would.
template <class Step>
void SpmdWorld::finish(Step&& step) {
  for (;;) {
    try {
      return step();
    } catch (const PeerDied&) {
      throw;
    } catch (...) {
      if (!thrown_) thrown_ = std::current_exception();
    }
  }
}

void SpmdWorld::give(std::span<const std::byte> bytes) {
  for (std::size_t offset = 0; offset < bytes.size(); offset += max_medium()) {
    const auto piece =
        bytes.subspan(offset, std::min<std::size_t>(max_medium(), bytes.size() - offset));
    // The next rank first, so that not all send to the same one.
    for (Rank i = 1; i < job_.size(); ++i) {
      finish([&] {
        endpoint_.request_medium<&SpmdWorld::on_piece>((job_.rank() + i) % job_.size(), piece,
                                                       std::uint64_t{offset});
      });
    }
  }
}

void SpmdWorld::await(std::uint64_t bytes) {
  const auto explain = [] {
    return Reason{
        .call = "AMX_SPMDAllGather", .needs = "pieces of other processes", .needs_all = true};
  };
  finish([&] { bundle_.wait_until([&] { return received_ == bytes; }, Wake::kRung, explain); });
}

// Between two barriers: before the first nobody has a place for what comes, and behind the second
// nobody gives for this any more.
void SpmdWorld::all_gather(std::span<const std::byte> mine, std::byte* all, Call call) {
  all_ = all;
  stride_ = mine.size();
  received_ = 0;
  std::ranges::copy(mine, all + job_.rank() * stride_);
  finish([this, call] { barrier(call); });
  give(mine);
  await(mine.size() * (job_.size() - 1));
  finish([this, call] { barrier(call); });
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void SpmdWorld::share_environment() {
  std::string& text = environment_;
  if (job_.rank() == 0) text = pack_environment();
  const First first = job_.exchange(First{text.size(), choose_id()})[0];
  id_ = first.id;
  text.resize(first.environment_bytes);
  all_ = reinterpret_cast<std::byte*>(text.data());
  barrier("AMX_SPMDStartup");
  if (job_.rank() == 0) {
    give(std::as_bytes(std::span(text)));
  } else {
    await(text.size());
  }
  barrier("AMX_SPMDStartup");
  for (std::size_t at = 0; at < text.size(); at = text.find('\0', at) + 1) {
    variables_.push_back(text.data() + at);
  }
  variables_.push_back(nullptr);
}

const char* SpmdWorld::variable(const char* name) const noexcept {
  const std::string_view wanted = name;
  for (const char* const one : variables_) {
    if (one == nullptr) break;
    const std::string_view variable = one;
    if (variable.starts_with(wanted) && variable.substr(wanted.size()).starts_with('=')) {
      return one + wanted.size() + 1;
    }
  }
  return nullptr;
}

// The SPMD layer: start, barrier, all-gather.

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
