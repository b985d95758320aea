// The soak program: all operations of the library, mixed at random, with all bytes checked against
// what they must be and all messages counted. What is done depends on the seed alone, and every
// process knows what all others do; when it is done depends on the machine.
//
//   bazel build //tests/soak:soak //tools/splitcrun:splitcrun
//   splitcrun -n 4 [--nodes 2] bazel-bin/tests/soak/soak --seed 7 --seconds 600
//
//   --seed N         of everything that is drawn; 1 if not given
//   --rounds N       how many; 20 if neither this nor --seconds is given
//   --seconds S      go on for that long
//   --first N        begin with that round instead of 0, to get there sooner
//   --only A,B       these families of operations alone; --list names them
//   --without A,B    all families but these; also `pauses`, which keep processes from polling
//   --max-bytes N    the largest single transfer; 1048576 if not given
//   --operations N   of each family, process and round, about; 24 if not given
//   --verbose        a line for each round
//
// All variables of `splitcrun --help-env` may be set as well, such as SPLITC_PROVIDER, SPLITC_RMA,
// SPLITC_WAIT and SPLITC_PROGRESS. What was wrong is printed with seed, round and operation, and
// the job ends with exit code 1. A process that has not done anything for half a minute says so and
// goes on waiting.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "splitc/splitc.h"
#include "tests/soak/families.h"
#include "tests/soak/watch.h"

namespace soak {
namespace {

struct CommandLine {
  Settings settings;
  std::vector<const FamilyEntry*> chosen;
};

[[noreturn]] void refuse(const std::string& what) { throw am::Error("soak: " + what); }

std::vector<std::string_view> split_words(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    words.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

std::uint64_t number_of(std::string_view name, const char* text) {
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  if (end == text || *end != 0) refuse(std::string(name) + " takes a number, not " + text);
  return value;
}

void print_families() {
  for (const FamilyEntry& family : families()) {
    std::printf("%-12s %.*s\n", std::string(family.name).c_str(),
                static_cast<int>(family.what.size()), family.what.data());
  }
}

void choose(CommandLine& line, std::string_view list, bool only) {
  const auto words = split_words(list);
  for (const std::string_view word : words) {
    const auto known = [word](const FamilyEntry& family) { return family.name == word; };
    if (word == "pauses" && !only) {
      line.settings.pauses = false;
    } else if (std::ranges::none_of(families(), known)) {
      refuse("there is no family '" + std::string(word) + "'; --list names them");
    }
  }
  std::erase_if(line.chosen, [&](const FamilyEntry* family) {
    return (std::ranges::find(words, family->name) != words.end()) != only;
  });
}

void take_option(CommandLine& line, std::string_view name, const char* value) {
  Settings& settings = line.settings;
  if (name == "--seed") {
    settings.seed = number_of(name, value);
  } else if (name == "--rounds") {
    settings.rounds = number_of(name, value);
  } else if (name == "--seconds") {
    settings.seconds = static_cast<double>(number_of(name, value));
    settings.rounds = 0;
  } else if (name == "--first") {
    settings.first = number_of(name, value);
  } else if (name == "--max-bytes") {
    settings.max_bytes = number_of(name, value);
  } else if (name == "--operations") {
    settings.operations = static_cast<std::uint32_t>(number_of(name, value));
  } else if (name == "--only" || name == "--without") {
    choose(line, value, name == "--only");
  } else {
    refuse("there is no option '" + std::string(name) + "'; main.cc of this program lists them");
  }
}

CommandLine parse(splitc::Args args) {
  CommandLine line;
  for (const FamilyEntry& family : families()) line.chosen.push_back(&family);
  for (int i = 1; i < args.size(); ++i) {
    const std::string_view name = args[i];
    if (name == "--verbose") {
      line.settings.verbose = true;
    } else if (name == "--list") {
      splitc::on_one(print_families);
      line.chosen.clear();
      line.settings.rounds = 0;
      return line;
    } else {
      if (i + 1 == args.size()) refuse(std::string(name) + " takes a value");
      take_option(line, name, args[++i]);
    }
  }
  return line;
}

// Behind it all see what all have done.
void meet(const Round& round) {
  doing.phase = "barrier behind the steps";
  switch (round.for_all("meet").below(3)) {
    case 0: return splitc::barrier();
    case 1: return splitc::all_store_sync();
    default:
      splitc::barrier_notify();
      splitc::poll();
      splitc::barrier_wait();
  }
}

void do_round(const Round& round, const std::vector<std::unique_ptr<Family>>& active) {
  doing.round = &round;
  doing.phase = "plan";
  Schedule schedule(round);
  for (const auto& family : active) family->plan(round, schedule);
  doing.phase = "barrier before the steps";
  splitc::barrier();
  schedule.run([&] {
    return std::ranges::all_of(active, [](const auto& family) { return family->arrived(); });
  });
  doing.phase = "conclusion";
  for (const auto& family : active) family->conclude(round);
  meet(round);
  doing.phase = "verification";
  for (const auto& family : active) family->verify(round);
  ++doing.done;
  doing.round = nullptr;
}

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Whether all do another round: what process 0 thinks.
bool another(const Settings& settings, std::uint64_t done, const Clock& clock) {
  if (settings.rounds != 0) return done < settings.rounds;
  return splitc::all_bcast(clock.seconds() < settings.seconds);
}

void soak(const CommandLine& line) {
  const Settings& settings = line.settings;
  const Clock clock;
  std::vector<std::unique_ptr<Family>> active;
  for (const FamilyEntry* const family : line.chosen) active.push_back(family->make(settings));
  std::uint64_t done = 0;
  for (; another(settings, done, clock); ++done) {
    const Round round(settings, settings.first + done, splitc::my_proc(), splitc::procs());
    try {
      do_round(round, active);
    } catch (const std::exception& error) {
      round.fail(doing.family, doing.id, std::string("an exception: ") + error.what());
    }
    if (settings.verbose && round.me() == 0) {
      std::printf("round %llu done after %.1f s\n", static_cast<unsigned long long>(round.number()),
                  clock.seconds());
      std::fflush(stdout);
    }
  }
  for (const auto& family : active) family->end();
  splitc::barrier();
  for (auto& family : active) family.reset();
  splitc::on_one([&] {
    std::printf("soak: seed %llu, %llu rounds, %llu steps of process 0, %.1f s: all as expected\n",
                static_cast<unsigned long long>(settings.seed),
                static_cast<unsigned long long>(done), static_cast<unsigned long long>(doing.done),
                clock.seconds());
  });
}

}  // namespace
}  // namespace soak

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) {
    const soak::CommandLine line = soak::parse(args);
    if (line.chosen.empty()) return;
    splitc::on_one([&] {
      std::printf("soak: --seed %llu\n", static_cast<unsigned long long>(line.settings.seed));
      std::fflush(stdout);
    });
    soak::watch_for_standstill();
    soak::soak(line);
  });
}
