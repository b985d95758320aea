#include "splitc/start/run.h"

#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "am/am.h"
#include "splitc/access/far_word.h"
#include "splitc/access/store.h"
#include "splitc/call/remote_call.h"
#include "splitc/world/place.h"
#include "splitc/world/sync.h"
#include "splitc/world/world.h"

namespace splitc {
namespace {

// All that a program runs on. Every process makes its parts in the same order, as handlers are
// numbered by it.
struct Running {
  explicit Running(const am::Config& config)
      : world(config), calls(world.job(), world.endpoint()), stores(store_counter::InWorld()) {
    detail::add_word_handlers(world.endpoint());
    world.job().connect(world.endpoint());
  }
  void finish();  // collective, last

  World world;
  detail::RemoteCalls calls;
  store_counter stores;  // the default counter
};

void Running::finish() {
  if (world.notified()) {
    detail::refuse("run",
                   "the program ended after barrier_notify() without a "
                   "barrier_wait(); every notify is followed by one wait");
  }
  const am::SourceLocation nowhere;
  sync();
  // What this process has stored on other nodes needs it until it has landed.
  if (detail::has_far_peers()) stores.wait_all({"the end of run", nowhere});
  world.job().finish(world.bundle(), "the end of run", nowhere);
}

}  // namespace

const char* Args::operator[](int i) const {
  if (i < 0 || i >= argc_) {
    detail::refuse("Args", "there is no argument " + std::to_string(i) +
                               ": the program was given " + std::to_string(argc_ - 1) +
                               "; name it on the command line");
  }
  return argv_[i];
}

int detail::run_program(int argc, char** argv, int (*body)(void* context, Args args),
                        void* context) {
  if (place.bases != nullptr) {
    refuse("run", "a program is running already; a process runs one at a time");
  }
  std::unique_ptr<Running> started;
  try {
    started = std::make_unique<Running>(am::read_config());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  try {
    const int code = body(context, Args(argc, argv));
    started->finish();
    return code;
  } catch (const std::exception& error) {
    started->world.job().abort(1, without_rank(error.what()) + started->world.job().thrown_by());
  } catch (...) {
    started->world.job().abort(
        1, "run: the program was left by an exception that is no std::exception");
  }
}

}  // namespace splitc
