// A family of operations: one file that knows what its operations do and what must have come of
// them at the end of a round.
#pragma once

#include <memory>
#include <string_view>

#include "tests/soak/round.h"
#include "tests/soak/schedule.h"

namespace soak {

// In each round, in all processes: plan(); a barrier; the steps that plan() has added, mixed with
// those of all other families; conclude(); a barrier of any kind; verify().
//
// A step may wait only for what comes about while all other processes do nothing but poll. A step
// that needs a step of another process returns false until that has happened.
class Family {
 public:
  virtual ~Family() = default;

  // Draws what all processes will do, makes own memory ready, and adds own steps. Nothing is in
  // flight, and collective calls are allowed, to all processes alike.
  virtual void plan(const Round& round, Schedule& schedule) = 0;
  // Whether everything has come that this process is to be sent in this round. Asked when all own
  // steps are done.
  virtual bool arrived() { return true; }
  // Own steps are done, and everything has arrived(): whatever else makes own operations complete.
  // May wait as a step may.
  virtual void conclude(const Round& round) { static_cast<void>(round); }
  // All processes have concluded, and a barrier has come behind that.
  virtual void verify(const Round& round) { static_cast<void>(round); }
  // Behind the last round, in the order in which families were made, collective.
  virtual void end() {}
};

// A line of the table of families.
struct FamilyEntry {
  std::string_view name;
  std::string_view what;
  std::unique_ptr<Family> (*make)(const Settings& settings);  // collective
};

}  // namespace soak
