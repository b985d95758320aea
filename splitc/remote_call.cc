#include "splitc/remote_call.h"

#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "splitc/world.h"

namespace splitc::detail {
namespace {

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

// Where the program itself is in memory, without its shared libraries: each process has it at
// another address, but all of it in one piece.
struct Code {
  std::uintptr_t base = 0;
  std::uintptr_t end = 0;  // of what can be executed
};

const Code& program_code() {
  static const Code code = [] {
    Code found;
    const auto first_is_program = [](dl_phdr_info* info, std::size_t, void* context) {
      auto& result = *static_cast<Code*>(context);
      result.base = info->dlpi_addr;
      for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
        result.end = std::max(result.end, result.base + part.p_vaddr + part.p_memsz);
      }
      return 1;  // no more
    };
    dl_iterate_phdr(first_is_program, &found);
    return found;
  }();
  return code;
}

// Which file this process runs.
struct Program {
  std::uint64_t device;
  std::uint64_t inode;
  std::uint64_t bytes;
  std::int64_t changed_ns;
  bool operator==(const Program&) const = default;
};

Program this_program() {
  struct stat file {};
  if (stat("/proc/self/exe", &file) != 0) return {};
  return {file.st_dev, file.st_ino, static_cast<std::uint64_t>(file.st_size),
          file.st_mtim.tv_sec * 1'000'000'000 + file.st_mtim.tv_nsec};
}

bool all_run(am::Job& job, const Program& mine) {
  bool same = mine.inode != 0;
  for (const Program& other : job.exchange(mine)) same = same && other == mine;
  return same;
}

template <std::size_t kBytes>
void on_result(am::Reply, std::uint32_t ticket, Bytes<kBytes> result) {
  world().calls().answered(ticket, result.data());
}

void run_call(am::Request request, const CallHead& head, const std::byte* arguments) {
  const auto run = reinterpret_cast<Trampoline>(program_code().base + head.run);
  alignas(std::max_align_t) Bytes<kMaxResultBytes> result{};
  const std::size_t bytes = run(mapped(my_proc(), head.offset), arguments, result.data());
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

// Where `run` is in the program. Throws Error if it is not in the program's own code.
std::uint32_t place_of(Trampoline run, const char* name) {
  const auto at = reinterpret_cast<std::uintptr_t>(run);
  const Code& code = program_code();
  if (at < code.base || at >= code.end || at - code.base > ~std::uint32_t{0}) {
    refuse(name,
           "the function is in a shared library, which may lie elsewhere in each process; "
           "link it into the program");
  }
  return static_cast<std::uint32_t>(at - code.base);
}

// Polls until `condition()`; an exception of a handler ends the job.
template <class Condition>
void wait_or_end(Condition condition) noexcept {
  try {
    world().bundle().wait_until(condition);
  } catch (const std::exception& error) {
    world().job().abort(1, without_rank(error.what()));
  }
}

}  // namespace

RemoteCalls::RemoteCalls(am::Job& job, am::Endpoint& endpoint)
    : endpoint_(endpoint), same_program_(all_run(job, this_program())) {
  endpoint.add_handlers<&on_call<kSmallCall>, &on_call<kMaxCallBytes>, &on_result<kSmallResult>,
                        &on_result<kMaxResultBytes>>();
}

std::uint32_t RemoteCalls::take_ticket(const OutgoingCall& call) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(tickets_.size()));
    tickets_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Ticket& ticket = tickets_[index];
  if (++ticket.generation == 0) ++ticket.generation;  // 0 is a handle's "done"
  ticket.waiting = true;
  ticket.result = call.result;
  ticket.bytes = call.result_bytes;
  ++outstanding;
  return index;
}

void RemoteCalls::give_back(std::uint32_t ticket) {
  tickets_[ticket].waiting = false;
  free_.push_back(ticket);
  --outstanding;
}

handle RemoteCalls::start(const OutgoingCall& call, const char* name) {
  if (endpoint_.bundle().handling()) {
    refuse(name,
           "called by a handler or by a function that atomic() runs; those may not call others");
  }
  if (!same_program_) {
    refuse(name,
           "the processes of this job run different programs, so a function of one cannot be "
           "named to another; start all from one file");
  }
  if (call.proc >= procs()) {
    refuse(name, "there is no process " + std::to_string(call.proc) + ": the job has " +
                     std::to_string(procs()));
  }
  const std::uint32_t run = place_of(call.run, name);
  const std::uint32_t ticket = take_ticket(call);
  const handle started(ticket, tickets_[ticket].generation);
  const CallHead head{ticket, run, call.offset};
  if (call.argument_bytes <= kSmallCall) {
    Bytes<kSmallCall> small;
    std::memcpy(small.data(), call.arguments, kSmallCall);
    endpoint_.request<&on_call<kSmallCall>>(call.proc, head, small);
  } else {
    Bytes<kMaxCallBytes> large;
    std::memcpy(large.data(), call.arguments, kMaxCallBytes);
    endpoint_.request<&on_call<kMaxCallBytes>>(call.proc, head, large);
  }
  return started;
}

bool RemoteCalls::done(handle h) const noexcept {
  const Ticket& ticket = tickets_[h.ticket()];
  return ticket.generation != h.generation() || !ticket.waiting;
}

void RemoteCalls::answered(std::uint32_t ticket, const std::byte* result) {
  const Ticket& call = tickets_[ticket];
  if (call.result != nullptr && call.bytes != 0) std::memcpy(call.result, result, call.bytes);
  give_back(ticket);
}

handle start_call(const OutgoingCall& call, const char* name) {
  return world().calls().start(call, name);
}

void finish_outstanding() noexcept {
  wait_or_end([] { return outstanding == 0; });
}

void finish_one(handle h) noexcept {
  wait_or_end([h] { return world().calls().done(h); });
}

bool try_finish_outstanding() {
  poll();
  return outstanding == 0;
}

bool try_finish_one(handle h) {
  poll();
  return world().calls().done(h);
}

}  // namespace splitc::detail
