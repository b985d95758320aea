#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "am/job/crash/text.h"

namespace am {
namespace {

constexpr std::uintptr_t kNull = 4096;    // below it: a member or element of nothing
constexpr std::uintptr_t kFrame = 65536;  // so far from the stack pointer a function still reaches
constexpr std::uintptr_t kNear = std::uintptr_t{1} << 20;  // so far outside a segment is a slip

struct Cause {
  int signal;
  int code;
  std::string_view text;
};
constexpr std::array<Cause, 8> kCauses{{
    {SIGSEGV, SEGV_MAPERR, " is not mapped"},
    {SIGSEGV, SEGV_ACCERR, " may not be accessed like that"},
    {SIGBUS, BUS_ADRALN, " is not aligned"},
    {SIGBUS, BUS_ADRERR, " has no memory behind it: its file has been cut, or memory is exhausted"},
    {SIGFPE, FPE_INTDIV, ": an integer was divided by zero"},
    {SIGFPE, FPE_INTOVF, ": an integer overflowed"},
    {SIGILL, ILL_ILLOPN,
     ": a check that the compiler made has failed, or what runs there is no code"},
    {SIGTRAP, TRAP_BRKPT, ": a check that the compiler made has failed, or it is a breakpoint"},
}};

std::string_view cause_of(const siginfo_t& info) noexcept {
  for (const Cause& one : kCauses) {
    if (one.signal == info.si_signo && one.code == info.si_code) return one.text;
  }
  return "";
}

// strsignal may allocate.
std::string_view name_of(int signal) noexcept {
  switch (signal) {
    case SIGSEGV: return "Segmentation fault";
    case SIGBUS: return "Bus error";
    case SIGFPE: return "Floating point exception";
    case SIGILL: return "Illegal instruction";
    case SIGTRAP: return "Trace/breakpoint trap";
    case SIGABRT: return "Aborted";
    default: return "?";
  }
}

void add_place(CrashText& text, std::uintptr_t address, std::uintptr_t stack,
               std::span<const CrashSegment> segments) noexcept {
  if (address < kNull) {
    text.add("; a null pointer was used");
    return;
  }
  if (stack != 0 && address < stack + kFrame && stack < address + kFrame) {
    text.add("; the stack is full: a recursion without end, or too large a local variable");
    return;
  }
  for (const CrashSegment& one : segments) {
    if (address < one.begin || address >= one.end) continue;
    text.add("; it is in rank ").add(one.rank).add("'s segment, at offset ");
    text.add(address - one.begin);
    return;
  }
  for (const CrashSegment& one : segments) {
    if (address >= one.end && address - one.end < kNear) {
      text.add("; it is ").add(address - one.end).add(" bytes behind the end of rank ");
      text.add(one.rank).add("'s segment");
      return;
    }
  }
  text.add("; it is in no segment");
}

// The number in `digits`, of base 16, up to what is no digit, behind which `digits` then begins.
std::uintptr_t take_number(std::string_view& digits) noexcept {
  std::uintptr_t number = 0;
  const auto* const end = digits.data() + digits.size();
  digits = {std::from_chars(digits.data(), end, number, 16).ptr, end};
  return number;
}

// If `line`, of /proc/self/maps, is of the file that is mapped at `address`, adds its name.
void add_if_mapped(CrashText& text, std::string_view line, std::uintptr_t address) noexcept {
  const std::uintptr_t begin = take_number(line);
  if (line.empty()) return;
  line.remove_prefix(1);
  const std::uintptr_t end = take_number(line);
  const std::size_t name = line.find('/');
  if (address < begin || address >= end || name == std::string_view::npos) return;
  text.add("; it is in the file ").add(line.substr(name));
  struct statfs full {};
  if (line.substr(name).starts_with("/dev/shm/") && statfs("/dev/shm", &full) == 0) {
    const auto mib = [&](std::uint64_t blocks) {
      return blocks * static_cast<std::uint64_t>(full.f_bsize) >> 20;
    };
    text.add(", and /dev/shm has ").add(mib(full.f_blocks)).add(" MiB, of which ");
    text.add(mib(full.f_bavail)).add(" are free: make it larger (mount -o remount,size=SIZE ");
    text.add("/dev/shm; --shm-size of a container)");
  }
}

void add_file(CrashText& text, std::uintptr_t address) noexcept {
  const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  static std::array<char, 4096> piece;  // the stack of a handler is small, and one thread reports
  std::size_t kept = 0;                 // of a line whose end has not been read
  for (ssize_t got = 0; (got = read(fd, &piece[kept], piece.size() - kept)) > 0;) {
    std::string_view rest(piece.data(), kept + static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;) {
      add_if_mapped(text, rest.substr(0, end), address);
      rest.remove_prefix(end + 1);
    }
    kept = rest.size() < piece.size() ? rest.size() : 0;
    std::memmove(piece.data(), rest.data(), kept);
  }
  close(fd);
}

void add_sender(CrashText& text, const siginfo_t& info) noexcept {
  if (info.si_pid != getpid()) {
    text.add(", sent by process ").add(static_cast<std::uint64_t>(info.si_pid));
  } else {
    text.add(info.si_signo == SIGABRT ? ": it called abort()" : ", which it raised itself");
  }
}

}  // namespace

void add_crash_cause(CrashText& text, const siginfo_t& info, std::uintptr_t stack,
                     std::span<const CrashSegment> segments) noexcept {
  text.add(" has crashed by signal ").add(static_cast<std::uint64_t>(info.si_signo));
  text.add(" (").add(name_of(info.si_signo)).add(")");
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  if (info.si_code <= 0) {
    add_sender(text, info);
  } else if (info.si_code == SI_KERNEL && (info.si_signo == SIGSEGV || info.si_signo == SIGBUS)) {
    text.add(": an address was used that none can be, or that the machine does not report");
    text.add("; what was read as one may be global memory that was freed, which holds ");
    text.add("0xfffbdeadfffbdead: the checked build (--checked) names who reads it");
  } else if (info.si_code == SI_KERNEL) {  // says no more
    text.add(info.si_signo == SIGTRAP ? ": a breakpoint" : "");
  } else if (info.si_signo == SIGSEGV || info.si_signo == SIGBUS) {
    text.add(": address ").add_hex(address).add(cause_of(info));
    add_place(text, address, stack, segments);
    if (info.si_signo == SIGBUS) add_file(text, address);
  } else {
    text.add(" at instruction ").add_hex(address).add(cause_of(info));
  }
  text.add("\n");
}

}  // namespace am
