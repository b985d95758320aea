#include "splitc/call/remote_call.h"

#include <exception>
#include <string>

#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/core/token.h"
#include "am/job/job.h"
#include "am/types/types.h"
#include "splitc/call/program.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

RemoteCalls* current = nullptr;  // set while a world runs

template <std::size_t kBytes>
using Bytes = std::array<std::byte, kBytes>;

// The first words of a call. The rest of the message is the arguments, and of its reply, behind the
// ticket, the result; both have a small form that fits the cache line of the head.
struct CallHead {
  std::uint32_t ticket;
  std::uint32_t run;     // of the trampoline, from where the program begins
  std::uint64_t offset;  // of the object in the segment
};
static_assert(sizeof(CallHead) == 16 && sizeof(CallHead) + kMaxCallBytes == am::kMaxArgumentBytes);
constexpr std::size_t kSmallCall = 8;
constexpr std::size_t kSmallResult = 20;

template <std::size_t kBytes>
void on_result(am::Reply, std::uint32_t ticket, Bytes<kBytes> result) {
  world().tickets().answered(ticket, result.data());
}

// Runs the function, and says for whom if it throws.
std::size_t run_function(std::uint32_t source, const CallHead& head, const std::byte* arguments,
                         std::byte* result) {
  const auto run = function_at<Trampoline>(head.run);
  try {
    return run(mapped(my_proc(), head.offset), arguments, result);
  } catch (const std::exception& error) {
    refuse("atomic", "the function that rank " + std::to_string(source) +
                         " had run on the object at offset " + std::to_string(head.offset) +
                         " threw: " + without_rank(error.what()));
  }
}

void run_call(am::Request request, const CallHead& head, const std::byte* arguments) {
  alignas(std::max_align_t) Bytes<kMaxResultBytes> result{};
  const std::size_t bytes = run_function(request.source(), head, arguments, result.data());
  if (bytes <= kSmallResult) {
    Bytes<kSmallResult> small;
    std::memcpy(small.data(), result.data(), kSmallResult);
    std::move(request).reply<&on_result<kSmallResult>>(head.ticket, small);
  } else {
    std::move(request).reply<&on_result<kMaxResultBytes>>(head.ticket, result);
  }
}

template <std::size_t kBytes>
void on_call(am::Request request, CallHead head, Bytes<kBytes> arguments) {
  run_call(std::move(request), head, arguments.data());
}

void send(am::Endpoint& endpoint, const OutgoingCall& call, const CallHead& head, Call name) {
  if (call.argument_bytes <= kSmallCall) {
    Bytes<kSmallCall> small;
    std::memcpy(small.data(), call.arguments, kSmallCall);
    endpoint.request<&on_call<kSmallCall>>({call.proc, name.where}, head, small);
  } else {
    Bytes<kMaxCallBytes> large;
    std::memcpy(large.data(), call.arguments, kMaxCallBytes);
    endpoint.request<&on_call<kMaxCallBytes>>({call.proc, name.where}, head, large);
  }
}

}  // namespace

RemoteCalls::RemoteCalls(am::Job& job, am::Endpoint& endpoint) : endpoint_(endpoint) {
  functions_travel = all_run_one_program(job);
  find_program_code();
  endpoint.add_handlers<&on_call<kSmallCall>, &on_call<kMaxCallBytes>, &on_result<kSmallResult>,
                        &on_result<kMaxResultBytes>>();
  current = this;
}

RemoteCalls::~RemoteCalls() {
  current = nullptr;
  functions_travel = false;
}

handle RemoteCalls::start(const OutgoingCall& call, Call name) {
  check_process(call.proc, name);
  const std::uint32_t run = place_in_program(call.run, name);
  Tickets::Start start(
      world().tickets(),
      {.proc = call.proc, .result = call.result, .result_bytes = call.result_bytes});
  send(endpoint_, call, {start.ticket(), run, call.offset}, name);
  return start.started();
}

void refuse_call(Call name) {
  check_thread(name);  // throws also if nothing is running
  if (am::Bundle::handling()) {
    refuse(name,
           "called by a handler or by a function that another process has run here; those may not "
           "call others");
  }
  refuse(name,
         "the processes of this job run different programs, so a function of one cannot be "
         "named to another; start all from one file");
}

handle start_call(const OutgoingCall& call, Call name) {
  check_may_call(name);
  return current->start(call, name);
}

}  // namespace splitc::detail
