// am/types: the words that every room of am speaks, and nothing that does something. It uses the
// standard library, and what shmem says of a segment's address. Any thread.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "am/types/language.h"
#include "shmem/owned.h"
#include "shmem/region.h"

// Which of the two builds of the library a program is compiled for, and a guard that it is linked
// with the same one.
//
// 1: the checked build, 0: the release build. The inline functions of the two differ, so a program
// and the library must agree; what installs the library (pkg-config, CMake, splitc++) says which it
// is. Elsewhere NDEBUG decides, as it does for assert().
#ifndef SPLITPHASE_CHECKED
#ifdef NDEBUG
#define SPLITPHASE_CHECKED 0
#else
#define SPLITPHASE_CHECKED 1
#endif
#endif

// The library defines the symbol of its own build only (types.cc), and everything that is compiled
// with these headers refers to the symbol of its build. So a mixture does not link, or not load,
// and the linker's message names the symbol, which is why it is a sentence.
#if SPLITPHASE_CHECKED
#define SPLITPHASE_BUILD \
  splitphase_a_checked_program_needs_the_checked_library__or_compile_it_with_DSPLITPHASE_CHECKED_0
#define SPLITPHASE_BUILD_REFERENCE refers_to_checked_build
#else
#define SPLITPHASE_BUILD \
  splitphase_a_release_program_needs_the_release_library__or_compile_it_with_DSPLITPHASE_CHECKED_1
#define SPLITPHASE_BUILD_REFERENCE refers_to_release_build
#endif

extern "C" const char SPLITPHASE_BUILD;

namespace am::detail {

// One word per program. Its name differs between builds; otherwise the linker would keep one of two
// and check no reference of the other. `used` and `retain` keep it from the compiler and from the
// linker's --gc-sections; assemblers before binutils 2.36 do not know the latter, and g++ says so.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"
[[gnu::used, gnu::retain]] inline const char* const SPLITPHASE_BUILD_REFERENCE = &SPLITPHASE_BUILD;
#pragma GCC diagnostic pop

}  // namespace am::detail

#undef SPLITPHASE_BUILD_REFERENCE

namespace am {

using shmem::Owned;

// A process of the job, 0 to Job::size() - 1.
using Rank = std::uint32_t;

// How a process waits (SPLITC_WAIT; docs/progress.md). It polls all the while.
//   kAuto     spin, then yield the core, then sleep; no spinning where processes outnumber cores
//   kSpin     never give the core away
//   kYield    spin, then yield; never sleep
//   kBlock    sleep at once
enum class WaitPolicy : std::uint8_t { kAuto, kSpin, kYield, kBlock };

// What Bundle::wait() waits for (AM-II's event mask).
enum class Events : std::uint8_t {
  kNone,      // AM_NOEVENTS
  kNotEmpty,  // AM_NOTEMPTY: some endpoint has a message; true at once if one is there already
};

// How a process that sleeps in Bundle::wait_until() learns that the condition may be true.
enum class Wake : std::uint8_t {
  kRung,    // by a message, or by another process that rings its doorbell: sleeps until then
  kMemory,  // not at all, as memory was written without ringing: polls every millisecond
};

// Thrown by every call that cannot be done: what() is one sentence with rank, call, value, cause
// and remedy. A call that throws it has had no effect, unless its comment says otherwise.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Thrown by every call that cannot go on as it needs a process that has died, in a job that goes on
// without its dead (splitcrun --survive). Elsewhere a death ends the job.
struct Call;

struct PeerDied : Error {
  PeerDied(Rank self, Call call, Rank dead);

  Rank rank;  // that has died; one of those, if several have
};

// Whether this is the checked build, which checks every rule of the interface at every call and
// throws Error. The release build checks what costs nothing beside the call. All parts of a
// program, and all processes of a job, are built the same.
inline constexpr bool kChecked = SPLITPHASE_CHECKED != 0;

// The three categories of messages of Active Messages II (AM_RequestM, AM_RequestIM,
// AM_RequestXferM). Each has 0 to kMaxArgumentBytes of arguments.
enum class Kind : std::uint8_t {
  kShort,   // arguments only
  kMedium,  // and 0 to max_medium() bytes, in library memory that is valid while the handler runs
  kLong,    // and any number of bytes, written into the receiver's segment
};
inline constexpr int kKinds = 3;  // how many there are

// A place in an endpoint's handler table, 1 to 255. 0 is reserved for returned messages.
using HandlerIndex = std::uint8_t;
inline constexpr int kHandlers = 256;  // places in the table; AM-II requires as many at least

// The key of an endpoint: a message is delivered only if it was sent with the tag that the
// receiving endpoint has (AM-II). Two values are special, on the receiver's side only: a message
// that is sent with kTagAll does not reach everybody.
using Tag = std::uint64_t;
// (The endpoints of a job usually have one tag, which Job::connect() gives them.)
inline constexpr Tag kTagNone = 0;                 // deliver nothing: a new endpoint's tag
inline constexpr Tag kTagAll = ~std::uint64_t{0};  // deliver everything

// Most bytes of arguments of one message: 16 words of 4 bytes. AM-II requires 8 words at least.
inline constexpr std::uint32_t kMaxArgumentBytes = 64;

// Most bytes of payload of a medium message (AM_MaxMedium). AM-II requires 512 at least.
inline constexpr std::uint32_t max_medium() noexcept { return 4096; }

// Where an endpoint is: opaque plain bytes (AM-II en_t), to be sent by any means to the processes
// of this job that are to map it. Means something while the endpoint lives; later messages to it
// come back as Status::kBadEndpoint.
struct Name {
  Rank rank;
  std::uint32_t serial;            // which endpoint of that process
  shmem::Region::Address mailbox;  // of processes of its node
};

// Why a message came back to its sender (AM-II's codes EBADARGS to EREPLYREJECTED, with the numbers
// of Berkeley's AMUDP).
enum class Status : std::uint32_t {
  kDelivered = 0,         // it did not come back
  kBadArguments = 1,      // the handler takes other arguments, or another category of message
  kBadEntry = 2,          // AM-II's EBADENTRY: here a request to an unmapped index is an Error
  kBadTag = 3,            // the receiver has another tag
  kBadHandler = 4,        // the receiver has no handler at that index
  kBadSegmentOffset = 5,  // the long payload would begin outside the receiver's segment
  kBadLength = 6,         // ... or end outside it
  kBadEndpoint = 7,       // there is no such endpoint any more
  kCongestion = 8,        // no memory there for its payload, or for the answer to a get
  kUnreachable = 9,       // its process has died, and it is not known whether it was handled
  kReplyRejected = 10     // a reply that its requester did not take
};
// AM-II's name of the code and a sentence about it; a string constant. Any thread.
std::string_view describe(Status status) noexcept;
// "short", "medium", "long".
const char* name_of(Kind kind) noexcept;

// What a message is to its handler (AM-II's opcodes, without the kinds).
enum class Role : std::uint8_t { kRequest, kOneWay, kReply };

// A place in the source of a program: std::source_location, which clang 14 does not have. Line 0:
// not known; but the address may be to which the call returns.
//
// One word, so that it travels in a register: a call with a location costs what it costs without,
// and a loop of accesses writes none to memory. String literals lie below 2^48 on x86-64 and
// AArch64; a tag above that is dropped.
class SourceLocation {
 public:
  constexpr SourceLocation() noexcept = default;
  static SourceLocation current(const char* file = __builtin_FILE(),
                                unsigned line = __builtin_LINE()) noexcept {
    SourceLocation here;
    here.bits_ = (reinterpret_cast<std::uintptr_t>(file) & kFileMask) |
                 std::uint64_t{line < kLastLine ? line : kLastLine} << kFileBits;
    return here;
  }
  // For a call without room for a SourceLocation: the place in the program that it returns to.
  static SourceLocation returning_to(const void* address) noexcept {
    SourceLocation here;
    here.bits_ = reinterpret_cast<std::uintptr_t>(address) & kFileMask;
    return here;
  }
  // Static; "" if not known. Without the "./" that a compiler puts before the name of a header
  // which it has found in its working directory.
  const char* file_name() const noexcept {
    if (line() == 0) return "";
    const auto* const name = reinterpret_cast<const char*>(bits_ & kFileMask);
    return name[0] == '.' && name[1] == '/' ? name + 2 : name;
  }
  // kLastLine stands for all behind it, too.
  constexpr unsigned line() const noexcept { return static_cast<unsigned>(bits_ >> kFileBits); }

  // nullptr if the line is known, or nothing is.
  const void* return_address() const noexcept {
    return line() == 0 ? reinterpret_cast<const void*>(bits_) : nullptr;
  }
  // All that is known, as one number: equal for the same place, unless the name of its file stands
  // at several addresses.
  constexpr std::uint64_t bits() const noexcept { return bits_; }

  static constexpr unsigned kLastLine = 0xffff;

 private:
  static constexpr int kFileBits = 48;
  static constexpr std::uint64_t kFileMask = (std::uint64_t{1} << kFileBits) - 1;
  std::uint64_t bits_ = 0;  // the address of the file's name, or of code, and the line above it
};
static_assert(sizeof(SourceLocation) == sizeof(void*));

// A parameter of which the default argument is the place of the call: `void f(Here where = {})`.
class Here : public SourceLocation {
  struct None {};  // so that no name or number converts to a place

 public:
  constexpr Here(SourceLocation at) noexcept : SourceLocation(at) {}
  Here(None = {}, const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) noexcept
      : SourceLocation(current(file, line)) {}
};

// A call that the program has made: its name, which is static, and where it stands, for errors,
// statistics, traces and the report on a job that stands still. Two words, which travel in
// registers.
struct Call {
  constexpr Call(const char* text = "", SourceLocation here = {}) noexcept
      : name(text), where(here) {}
  // This call, with the address to which it returns unless its place is known.
  Call or_from(const void* return_address) const noexcept {
    return {name, where.bits() != 0 ? where : SourceLocation::returning_to(return_address)};
  }

  const char* name;  // as the program knows it, such as "barrier"
  SourceLocation where;
};

// " (at file:line)", for the end of a sentence; "" if the line is not known.
std::string place_text(SourceLocation where);
// "CALL: WHAT (at FILE:LINE)", and the same behind "rank R: ": how a call is refused.
std::string refusal_text(Call call, const std::string& what);
std::string refusal_text(Rank self, Call call, const std::string& what);

// A Call for errors of the checked build alone. The release build's is empty, so that a call which
// passes one has the instructions of a call without.
#if SPLITPHASE_CHECKED
using CheckedCall = Call;
#else
struct CheckedCall {
  constexpr CheckedCall(const char*, SourceLocation = {}) noexcept {}
  constexpr CheckedCall(const Call&) noexcept {}
};
#endif
// The call to name in an error that release builds have, too: there it is `name`, without its line.
constexpr Call named(CheckedCall call, const char* name) noexcept {
#if SPLITPHASE_CHECKED
  static_cast<void>(name);
  return call;
#else
  static_cast<void>(call);
  return {name};
#endif
}

// An operand, and where it stands in the program: an operator has no room for that, nor has a call
// that takes any number of arguments, but the conversion of an operand has. The compiler knows the
// place, and it costs nothing where it is not used.
template <class T>
struct Located {
  constexpr Located(const T& operand, Here here = {}) noexcept : value(operand), where(here) {}
  T value;
  SourceLocation where;
};

}  // namespace am
