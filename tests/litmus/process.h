// What one process of a litmus test does, round after round.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "am/am.h"
#include "splitc/splitc.h"
#include "tests/litmus/program.h"

namespace litmus {

// Where a batch of rounds is run. All processes of the job choose the same.
struct Placement {
  std::vector<std::uint32_t> ranks;                // by process of the program
  std::array<std::uint32_t, kLocations> owners{};  // ranks, by location
  unsigned bytes = 8;                              // of each object: 1, 2, 4 or 8
  std::uint32_t longest_pause = 0;                 // before an operation, in turns of a loop
  bool one_node = true;                            // of all of them
  bool lockstep = false;  // all processes of the job make each round, and begin it with a barrier
};

// How the locations of a program lie in the memory of each process: by location, then by round.
struct Lines {
  explicit Lines(const Program& program);

  std::size_t bytes_of(std::size_t rounds) const noexcept { return locations * rounds * spacing; }
  // Of a location in the first round, when there are so many.
  std::size_t first(std::uint8_t location, std::size_t rounds) const noexcept {
    return number[location] * rounds * spacing;
  }

  std::size_t spacing;    // bytes from one round to the next
  std::size_t locations;  // that are used
  std::array<std::size_t, kLocations> number{};
};

// An object whose bytes all hold one digit is that, any other is '-'.
char digit_of(std::span<const std::byte> object) noexcept;

// Messages without contents, counted where they arrive. There is one at a time in a process.
class Messages {
 public:
  Messages();   // collective
  ~Messages();  // collective

  void send(std::uint32_t rank);
  void ask(std::uint32_t rank);  // and waits for the reply
  void receive();                // waits for one more than before

 private:
  am::Endpoint endpoint_;
};

// One process of a program, in one batch of rounds.
class Process {
 public:
  // `memory` is that of all locations, by rank. `pauses` is the seed of the pauses.
  Process(const Program& program, std::size_t number, const Placement& placement,
          const splitc::spread_array<std::byte>& memory, std::size_t rounds, Messages& messages,
          std::uint64_t pauses);

  void run_round(std::size_t round);
  // After all rounds: the registers of each as digits, kRegisters a round; ' ' if it is another's.
  void show(std::span<char> results) const;

 private:
  using Pointer = splitc::global_ptr<std::byte>;
  union Register {
    std::uint64_t word = 0;
    std::byte bytes[8];
  };

  template <class Word>
  void run_with(std::size_t round);
  template <class Word>
  void access(const Operation& operation, Pointer at, Register& reg);
  void access_many(const Operation& operation, Pointer at, char& digit);
  void communicate(const Operation& operation);
  void pause() noexcept;

  const Placement& placement_;
  const std::vector<Operation>& operations_;
  const Lines lines_;
  const std::size_t number_;
  const std::size_t rounds_;
  Messages& messages_;
  std::uint64_t pauses_;
  std::array<Pointer, kLocations> first_;                // of each location, in the first round
  std::vector<std::array<Register, kRegisters>> words_;  // by round
  std::vector<std::array<char, kRegisters>> digits_;     // of larger objects
};

}  // namespace litmus
