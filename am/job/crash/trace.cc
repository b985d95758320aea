#include <dlfcn.h>
#include <execinfo.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "am/job/crash/symbol.h"
#include "am/job/crash/text.h"

namespace am {
namespace {

constexpr int kMostFrames = 64;   // that are asked for
constexpr int kMostPrinted = 24;  // of a recursion without end these are enough
constexpr const char* kSelf = "/proc/self/exe";

// Set by prepare_crash_trace.
std::array<char, 512> program{};
std::uint64_t program_base = 0;
std::array<char, 128> network{};  // set by name_network; "": there is none

struct Registers {
  std::uint64_t counter;  // address of the instruction
  std::uint64_t stack;
  std::uint64_t caller;  // return address, if the instruction is a function's first; or 0
};

#if defined(__x86_64__)
// The word at `address`, or 0: there need not be one. (Where a call leaves its return address on
// the stack; on others it is in a register.)
std::uint64_t peek(std::uint64_t address) noexcept {
  std::uint64_t word = 0;
  const iovec to{&word, sizeof word};
  const iovec from{reinterpret_cast<void*>(address), sizeof word};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof word ? word : 0;
}
#endif

Registers registers_of(const void* context) noexcept {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto stack = static_cast<std::uint64_t>(machine.gregs[REG_RSP]);
  return {static_cast<std::uint64_t>(machine.gregs[REG_RIP]), stack, peek(stack)};
#elif defined(__aarch64__)
  return {machine.pc, machine.sp, machine.regs[30]};
#else
  (void)machine;
  return {0, 0, 0};
#endif
}

struct Frame {
  std::uint64_t address;
  bool is_return;  // the instruction before it is the one of interest
};

void add_frame(CrashText& text, std::uint64_t number, const Frame& frame) noexcept {
  text.add("  #").add(number).add(" ").add_hex(frame.address);
  if (frame.address == 0) {
    text.add(" (a call of a null pointer)\n");
    return;
  }
  const std::uint64_t inside = frame.address - (frame.is_return ? 1 : 0);
  Dl_info module{};
  if (dladdr(reinterpret_cast<void*>(inside), &module) == 0) {
    text.add(" (no code that was loaded)\n");
    return;
  }
  const auto base = reinterpret_cast<std::uint64_t>(module.dli_fbase);
  const bool own = base == program_base;
  const SymbolFile file(own ? kSelf : module.dli_fname);
  const std::uint64_t address = file.is_fixed() ? inside : inside - base;
  const SymbolFile::Symbol symbol = file.find(address);
  if (!symbol.name.empty()) {
    text.add(" in ").add(symbol.name).add("+").add_hex(symbol.offset);
  } else if (module.dli_sname != nullptr) {
    text.add(" in ").add(module.dli_sname).add("+");
    text.add_hex(inside - reinterpret_cast<std::uint64_t>(module.dli_saddr));
  }
  const std::string_view path = own ? program.data() : module.dli_fname;
  text.add(" (").add(path.substr(path.rfind('/') + 1)).add("+").add_hex(address).add(")\n");
}

// Whether the innermost code of anybody but the C library is libfabric's: a provider believes most
// of what it is sent, and then it is not the program that is to be looked at.
bool is_in_libfabric(std::span<const Frame> frames) noexcept {
  for (const Frame& frame : frames) {
    Dl_info module{};
    if (dladdr(reinterpret_cast<void*>(frame.address - 1), &module) == 0) return false;
    const std::string_view path = module.dli_fname;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (!name.starts_with("libc.") && !name.starts_with("libc-")) {
      return name.starts_with("libfabric");
    }
  }
  return false;
}

void add_libfabric(CrashText& text, std::span<const Frame> frames) noexcept {
  if (network[0] == '\0' || !is_in_libfabric(frames)) return;
  text.add("  it is libfabric that has crashed: ").add(network.data());
  text.add(
      "; if all memory of the transfers under way is there and may be read or written as they do, "
      "a stranger may have sent it what it does not stand (docs/security.md); another provider may "
      "(SPLITC_PROVIDER)\n");
}

// What prints the lines of the program's own code, behind `before`.
void add_command(CrashText& text, std::string_view before, std::span<const Frame> frames) noexcept {
  const SymbolFile file(kSelf);
  bool any = false;
  std::uint64_t previous = 0;
  for (const Frame& frame : frames) {
    const std::uint64_t inside = frame.address - (frame.is_return ? 1 : 0);
    Dl_info module{};
    if (frame.address == 0 || frame.address == previous) continue;
    previous = frame.address;
    if (dladdr(reinterpret_cast<void*>(inside), &module) == 0) continue;
    if (reinterpret_cast<std::uint64_t>(module.dli_fbase) != program_base) continue;
    if (!any) text.add(before).add("lines of the source: addr2line -Cfpie ").add(program.data());
    any = true;
    text.add(" ").add_hex(file.is_fixed() ? inside : inside - program_base);
  }
  if (any) text.add("\n");
}

// Of each frame, as CrashFrames has it.
void add_places(CrashText& text, std::span<const Frame> frames) noexcept {
  for (const Frame& frame : frames) {
    const std::uint64_t inside = frame.address - (frame.is_return ? 1 : 0);
    Dl_info module{};
    if (frame.address == 0) {
      text.add("- (a call of a null pointer)\n");
    } else if (dladdr(reinterpret_cast<void*>(inside), &module) == 0) {
      text.add("- (no code that was loaded)\n");
    } else {
      const auto base = reinterpret_cast<std::uint64_t>(module.dli_fbase);
      const bool own = base == program_base;
      const SymbolFile file(own ? kSelf : module.dli_fname);
      text.add_hex(file.is_fixed() ? inside : inside - base).add(" ");
      text.add(own ? program.data() : module.dli_fname).add("\n");
    }
  }
}

// One line for each frame; one for all the equal ones of a recursion.
void add_frames(CrashText& text, std::span<const Frame> frames) noexcept {
  std::uint64_t repeated = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i > 0 && frames[i].address == frames[i - 1].address) {
      ++repeated;
      continue;
    }
    if (repeated > 0) text.add("  ... the same ").add(repeated).add(" times more\n");
    repeated = 0;
    add_frame(text, i, frames[i]);
  }
  if (repeated > 0) text.add("  ... the same ").add(repeated).add(" times more, or more often\n");
}

}  // namespace

std::uintptr_t interrupted_stack(const void* context) noexcept {
  return registers_of(context).stack;
}

void prepare_crash_trace() {
  std::array<void*, 1> frame;
  backtrace(frame.data(), 1);  // loads the library that unwinds
  const ssize_t length = readlink(kSelf, program.data(), program.size() - 1);
  program[length < 0 ? 0 : static_cast<std::size_t>(length)] = '\0';
  Dl_info module{};
  if (dladdr(reinterpret_cast<void*>(getauxval(AT_PHDR)), &module) != 0) {
    program_base = reinterpret_cast<std::uint64_t>(module.dli_fbase);
  }
}

void name_network(std::string_view name) noexcept {
  const std::size_t length = std::min(name.size(), network.size() - 1);
  network[name.copy(network.data(), length)] = '\0';
}

void add_crash_trace(CrashText& text, const void* context, CrashFrames* for_launcher,
                     Rank rank) noexcept {
  std::array<Frame, kMostFrames + 2> frames{};
  std::size_t used = 0;
  const Registers registers = context == nullptr ? Registers{} : registers_of(context);
  Dl_info module{};
  if (context != nullptr && dladdr(reinterpret_cast<void*>(registers.counter), &module) == 0) {
    // A jump led to where no code is. The unwinder would look there; its caller is the best known.
    frames[used++] = {registers.counter, false};
    if (registers.caller != 0) frames[used++] = {registers.caller, true};
  } else {
    std::array<void*, kMostFrames> all{};
    const int count = backtrace(all.data(), kMostFrames);
    // The interrupted instruction comes behind the frames of the signal's handler.
    const auto is_it = [&](const void* one) {
      return reinterpret_cast<std::uint64_t>(one) == registers.counter;
    };
    const auto begin = std::find_if(all.begin(), all.begin() + count, is_it) - all.begin();
    const auto first = context == nullptr || begin == count ? 1 : begin;  // 0 is this function
    for (auto i = first; i < count; ++i) {
      frames[used++] = {reinterpret_cast<std::uint64_t>(all[static_cast<std::size_t>(i)]),
                        i != begin};
    }
  }
  const std::size_t printed = std::min<std::size_t>(used, kMostPrinted);
  add_frames(text, std::span(frames).first(printed));
  if (printed < used) text.add("  ... and more\n");
  const std::span<const Frame> all(frames.data(), printed);
  add_libfabric(text, all);
  if (for_launcher == nullptr || !for_launcher->try_claim(rank)) {
    return add_command(text, "  ", all);
  }
  static CrashText places;  // the stack of a handler is small, and one thread reports
  add_places(places, all);
  add_command(places, "= ", all);
  for_launcher->publish(places.view());
}

}  // namespace am
