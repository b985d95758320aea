// A litmus test as it is written down, and taken apart.
//
//   {.name = "message passing", .program = "x=1; y=1 | a=y; b=x", .allowed = "0? ?1", ...}
//
// The processes are separated by bars, and their operations by semicolons:
//
//   x=1           a blocking write             a=x           a blocking read
//   put x=1       put(), split-phase           get a=x       get(), split-phase
//   sync          sync()
//   store x=1     one-way, counted at x's      count 8       store_sync(8)
//                 process
//   all_counted   all_store_sync(), by all processes
//   add a=x+1     fetch_and_add(x, 1)          swap a=x=1    exchange(x, 1)
//   cas a=x=1     cmp_and_swap(x, 0, 1)        miss a=x      cmp_and_swap(x, 9, 9), in vain
//   call a=x+1    atomic<&add>(x, 1)
//   send 1        a one-way message to the     receive       waits for one more message, of either
//                 process behind the 1st bar                 kind
//   ask 1         a request to that process,   barrier       barrier(), by all processes
//                 and waits for its reply
//   notify        the halves of a barrier      wait
//   wide x=1      a blocking write of 32       wide a=x      such a read
//                 bytes at once
//   bulk x=1      bulk_write() of 6,000 bytes  bulk a=x      bulk_read() of them
//
// Locations are the letters g to z, registers a to f. All locations are 0 at first, and every value
// is a digit below 9: an object that holds it has it in each of its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace litmus {

struct Case {
  const char* name;
  const char* program;
  // Which outcomes there may be: patterns, one of which must fit. An outcome is the values of all
  // registers, in the order of their letters, and then those of the locations in `finals` when all
  // is over. In a pattern '?' stands for 0 or 1. An object that is seen half written is '-', which
  // only '*' stands for.
  const char* allowed;
  // The outcome that the test is about, which no interleaving of whole operations has.
  const char* weak = "";
  // The sentence of docs/memory-rules.md that says so.
  const char* rule;
  const char* finals = "";   // such as "xy"
  const char* home = "";     // locations that must be of some process of the program, as "x@1"
  const char* on_node = "";  // instead of `allowed`, where all processes and locations share a node
};

enum class Kind : std::uint8_t {
  kWrite,
  kRead,
  kPut,
  kGet,
  kSync,
  kStore,
  kCount,
  kAllCounted,
  kAdd,
  kSwap,
  kCompareAndSwap,
  kMiss,
  kCall,
  kSend,
  kReceive,
  kAsk,
  kBarrier,
  kNotify,
  kWait,
  kWideWrite,
  kWideRead,
  kBulkWrite,
  kBulkRead,
};

struct Operation {
  Kind kind;
  std::uint8_t location = 0;  // number of the letter, from 'g' on
  std::uint8_t reg = 0;       // number of the letter, from 'a' on
  std::uint8_t value = 0;     // also the number of a process, or of bytes to be counted
};

inline constexpr std::size_t kRegisters = 6;
inline constexpr std::size_t kLocations = 'z' - 'g' + 1;

// A test, taken apart.
struct Program {
  const Case* test = nullptr;
  std::vector<std::vector<Operation>> processes;
  std::vector<std::uint8_t> registers;  // numbers of those that are used, ascending
  std::vector<std::uint8_t> locations;
  std::vector<std::uint8_t> finals;
  std::vector<int> home = std::vector<int>(kLocations, -1);  // by location: a process, or any

  // Some operations need objects of 4 or 8 bytes, or always the same number of them.
  bool needs_words() const;
  bool needs_eight_bytes() const;
  bool uses(Kind kind) const;
  // Whose register it is.
  std::size_t process_of(std::uint8_t reg) const;
};

// The operation ends with a value in a register.
bool has_register(Kind kind) noexcept;
// All processes of the job make it, and these are those of one process, in order.
bool is_collective(Kind kind) noexcept;
std::vector<Kind> collective_calls(const std::vector<Operation>& operations);

// Throws std::invalid_argument, with the test's name, if it is not written as above.
Program parse(const Case& test);

// Whether one of the patterns, which are separated by spaces, fits `outcome`.
bool fits(std::string_view patterns, std::string_view outcome);

}  // namespace litmus
