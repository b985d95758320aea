#include "splitc/start/run.h"

#include <cstdio>
#include <exception>
#include <string>

#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/job/config/config.h"
#include "am/job/job.h"
#include "am/types/forked.h"
#include "am/types/types.h"
#include "splitc/access/shapes.h"
#include "splitc/access/store.h"
#include "splitc/access/word_op.h"
#include "splitc/async/task.h"
#include "splitc/group/groups.h"
#include "splitc/rpc/rpc_calls.h"
#include "splitc/shared/shared.h"
#include "splitc/shared/statics.h"
#include "splitc/world/place.h"
#include "splitc/world/sync.h"
#include "splitc/world/world.h"

namespace splitc {
namespace {

am::Config config_of(const am::OutOfBand* others) {
  am::Config config = am::read_config();
  if (others == nullptr) return config;
  config.out_of_band = *others;
  // The program also waits in the other runtime, where it brings on nothing of the library: what
  // has been sent would stay, and what others want of its memory would wait.
  config.progress_thread = true;
  return config;
}

}  // namespace

// All that a program runs on. Every process makes its parts in the same order, as handlers are
// numbered by it.
struct detail::Running {
  Running(const am::Config& config, std::uint32_t threads)
      : world(config, threads),
        rpc_calls((RpcCalls::find_functions(world.job()), world.service_bundle()), world.service(),
                  0),
        groups((add_handlers(world.service()), world.service())),
        stores(store_counter::InWorld()) {
    world.job().connect(world.service());
    if (threads == 1) {
      this_context->rpc_calls = &rpc_calls;
    } else {
      world.contexts().set_equip(&equip);
      check_thread("run");  // gets the first context
    }
    shared.allocate();
    statics.allocate(RpcCalls::functions_travel);
    world.job().restart_statistics();  // what the start has waited is none of the program's
  }

  static void add_handlers(am::Endpoint& endpoint) {
    add_atomic_handlers(endpoint);
    add_shape_handlers(endpoint);
  }
  // A context of several has the handlers of answers where the world's endpoint has them, too.
  static void equip(Context& context) {
    auto* const calls = new RpcCalls(context.bundle, context.endpoint, context.number);
    context.own_rpc_calls = am::Owned<am::Poller>(calls);
    context.rpc_calls = calls;
    add_handlers(context.endpoint);
  }

  World world;
  RpcCalls rpc_calls;
  Groups groups;
  store_counter stores;  // the default counter
  SharedMemory shared;
  StaticMemory statics;
};

void detail::RunningPointer::reset() noexcept { delete std::exchange(running_, nullptr); }

void detail::check_none_runs(Call call) {
  am::check_not_forked(call);
  if (place.bases == nullptr) return;
  refuse(call, "a program is running already; a process runs one at a time");
}

detail::RunningPointer detail::begin_program(const am::OutOfBand* others,
                                             const RunOptions& options) {
  try {
    constexpr std::uint32_t kMost = 128;
    if (options.threads == 0 || options.threads > kMost) {
      throw Error("run: .threads is " + std::to_string(options.threads) +
                  "; give a number from 1 to " + std::to_string(kMost));
    }
    return RunningPointer(new Running(config_of(others), options.threads));
  } catch (const std::exception& error) {
    if (others == nullptr) throw;
    am::Job::abort(*others, 1, error.what());
  }
}

void detail::finish_program(Running& running, Call call) {
  am::check_not_forked(call);
  World& world = running.world;
  if (running.groups.is_notified()) {
    refuse(call,
           "the program ended after barrier_notify() without a "
           "barrier_wait(); every notify is followed by one wait");
  }
  check_frames_below(__builtin_frame_address(0));  // in which those of the program were
  finish_tasks(call);
  world.contexts().finish(call);
  running.groups.finish(call);
  // Who makes more collective calls asks after a while, and hears of it.
  running.groups.job()->begin_barrier({"the end of the program", {}});
  check_end();
  sync();
  // What this process has stored on other nodes needs it until it has landed.
  if (has_far_peers()) running.stores.wait_all(call);
  // The first process that exits with a failure ends the others, perhaps before they have exited.
  std::fflush(nullptr);
  world.job().finish(waiting_bundle(), call);
}

void detail::abort_program(Running& running, const char* sentence) {
  am::Job& job = running.world.job();
  job.abort(1, without_rank(sentence) + job.thrown_by());
}

const char* Args::operator[](detail::Index index) const {
  const std::ptrdiff_t i = index.value;
  if (i < 0 || i >= argc_) {
    detail::refuse({"Args", index.where},
                   "there is no argument " + std::to_string(i) + ": the program was given " +
                       std::to_string(argc_ - 1) + "; name it on the command line");
  }
  return argv_[i];
}

int detail::run_program(int argc, char** argv, const RunOptions& options,
                        int (*body)(void* context, Args args), void* context,
                        const am::OutOfBand* others) {
  check_none_runs("run");
  RunningPointer started;
  try {
    started = begin_program(others, options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  try {
    const int code = body(context, Args(argc, argv));
    finish_program(*started, "the end of run");
    return code;
  } catch (const std::exception& error) {
    abort_program(*started, error.what());
  } catch (...) {
    abort_program(*started, "run: the program was left by an exception that is no std::exception");
  }
}

}  // namespace splitc
