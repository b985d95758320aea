#include "tools/splitcrun/source_lines.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "am/job/crash/symbol.h"

namespace am::launcher {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLimit = std::chrono::seconds(5);
using Words = std::vector<std::string>;

struct Frame {
  std::optional<std::uint64_t> address;
  std::string file;  // or what is known instead

  bool operator==(const Frame&) const = default;
};
struct Frames {
  std::vector<Frame> all;
  std::string by_hand;
};
// By address: what it is in, and in what that was inlined.
using Places = std::map<std::uint64_t, Words>;

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    all.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

// "0x2b3f".
std::optional<std::uint64_t> address_of(std::string_view text) {
  std::uint64_t address = 0;
  if (!text.starts_with("0x")) return std::nullopt;
  const auto result = std::from_chars(text.data() + 2, text.data() + text.size(), address, 16);
  return result.ptr == text.data() + text.size() ? std::optional(address) : std::nullopt;
}

Frames parse(std::string_view text) {
  Frames frames;
  for (const std::string_view line : lines_in(text)) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string rest(line.substr(space + 1));
    if (line.starts_with('=')) {
      frames.by_hand = "  " + rest + "\n";
    } else {
      frames.all.push_back({address_of(line.substr(0, space)), rest});
    }
  }
  return frames;
}

std::string hexadecimal(std::uint64_t address) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), address, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

// A program that is running, and the end of its standard output.
struct Running {
  pid_t pid = -1;
  int out = -1;
};

// With no signal blocked, and nothing to read or to complain to. None: it could not be started.
std::optional<Running> start(const Words& command) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  Running program{.pid = -1, .out = ends[0]};
  const int error =
      posix_spawnp(&program.pid, words[0], &files, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  if (error == 0) return program;
  close(ends[0]);
  return std::nullopt;
}

// What it prints, if it ends well until then; it has ended in any case.
std::optional<std::string> finish(const Running& program, Clock::time_point until) {
  std::string text;
  bool in_time = true;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    pollfd watched{.fd = program.out, .events = POLLIN, .revents = 0};
    const int ready = poll(&watched, 1, static_cast<int>(std::max<long>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      in_time = false;
      kill(program.pid, SIGKILL);
      break;
    }
    std::array<char, 4096> piece;
    const ssize_t got = ::read(program.out, piece.data(), piece.size());
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  close(program.out);
  int status = -1;
  while (waitpid(program.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time || status != 0) return std::nullopt;
  return text;
}

// Of addresses of one file. With -a each begins with "0x...: ".
void add_places(Places& places, std::string_view said) {
  Words* latest = nullptr;
  for (std::string_view line : lines_in(said)) {
    const std::size_t colon = std::min(line.find(": "), line.size());
    if (const auto address = address_of(line.substr(0, colon))) {
      latest = &places[*address];
      line.remove_prefix(std::min(colon + 2, line.size()));
    }
    if (latest == nullptr) continue;
    const std::size_t first = line.find_first_not_of(' ');
    if (first != std::string_view::npos) latest->emplace_back(line.substr(first));
  }
}

// Of all frames, by file. None: no program says it in time.
std::optional<std::map<std::string, Places>> find_places(const std::vector<Frame>& frames,
                                                         Clock::time_point until) {
  std::map<std::string, std::set<std::string>> by_file;  // each once, as a recursion has it often
  for (const Frame& frame : frames) {
    if (frame.address) by_file[frame.file].insert(hexadecimal(*frame.address));
  }
  std::map<std::string, Places> all;
  for (const auto& [file, addresses] : by_file) {
    std::optional<std::string> said;
    for (const char* tool : {"addr2line", "eu-addr2line"}) {
      Words command{tool, "-aCfpie", file};
      command.insert(command.end(), addresses.begin(), addresses.end());
      const auto running = start(command);
      if (running) said = finish(*running, until);
      if (said) break;
      if (Clock::now() >= until) return std::nullopt;
    }
    if (said) add_places(all[file], *said);
  }
  if (all.empty() && !by_file.empty()) return std::nullopt;
  return all;
}

std::string without_folder(const std::string& file) { return file.substr(file.rfind('/') + 1); }

// "f at ??:?" without what is not known.
std::string shortened(const std::string& place) {
  const std::size_t at = place.find(" at ??:");
  return at == std::string::npos ? place : place.substr(0, at);
}

// Of an address without a line addr2line says the nearest function that has a name, however far
// that is.
bool is_guess(const Frame& frame, const std::string& place) {
  return place.find(" at ??:") != std::string::npos &&
         SymbolFile(frame.file.c_str()).find(*frame.address).name.empty();
}

std::string text_of(const Frame& frame, const Words& places) {
  if (!frame.address) return " " + frame.file + "\n";
  if (places.empty() || places.front().starts_with("??") || is_guess(frame, places.front())) {
    return " in " + without_folder(frame.file) + "\n";
  }
  std::string text;
  for (const std::string& place : places) {
    text += (text.empty() ? " " : "     ") + shortened(place) + "\n";
  }
  return text;
}

}  // namespace

std::string source_lines(std::string_view text) {
  const Frames frames = parse(text);
  auto places = find_places(frames.all, Clock::now() + kLimit);
  std::string lines = places ? "" : frames.by_hand;
  std::size_t repeated = 0;
  const auto tell_repeated = [&] {
    if (repeated > 0) lines += "  ... the same " + std::to_string(repeated) + " times more\n";
    repeated = 0;
  };
  for (std::size_t i = 0; places && i < frames.all.size(); ++i) {
    const Frame& frame = frames.all[i];
    if (i > 0 && frame.address && frame == frames.all[i - 1]) {
      ++repeated;
      continue;
    }
    tell_repeated();
    const Words found = frame.address ? (*places)[frame.file][*frame.address] : Words();
    lines += "  #" + std::to_string(i) + text_of(frame, found);
  }
  tell_repeated();
  if (lines.ends_with('\n')) lines.pop_back();
  return lines;
}

}  // namespace am::launcher
