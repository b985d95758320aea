#include "am/job/config.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

namespace am {
namespace {

constexpr std::string_view kPrefix = "SPLITC_";
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMinSegment = std::uint64_t{64} << 10;
constexpr std::uint64_t kMaxSegment = std::uint64_t{1} << 40;  // a global pointer's offset: 40 bits
constexpr std::uint32_t kMaxSize = 1u << 24;                   // a global pointer's rank: 24 bits

constexpr std::string_view kNode = "SPLITC_NODE";

constexpr std::array<Setting, 9> kSettings{{
    {"SPLITC_SEGMENT", "bytes, with K, M or G", "256M",
     "Memory of each process that the others can address. Only touched pages cost memory.", false},
    {"SPLITC_WAIT", "auto, spin, yield or block", "auto",
     "How a process waits. auto spins, then yields, then blocks; it yields at once where processes "
     "outnumber cores.",
     false},
    {"SPLITC_VERBOSE", "0 or 1", "0", "1 tells on standard error how the job was set up.", false},
    {"SPLITC_PROVIDER", "name", "chosen",
     "libfabric's provider between nodes, such as tcp;ofi_rxm. fi_info -l lists those there are.",
     false},
    {"SPLITC_INTERFACE", "name or address", "chosen",
     "Network interface between nodes, such as eth0 or 192.0.2.7.", false},
    {"SPLITC_RANK", "number", "0", "This process, from 0.", true},
    {"SPLITC_SIZE", "number", "1", "Processes of the job.", true},
    {"SPLITC_JOB_FD", "file descriptor", "none", "The control region of splitcrun.", true},
    {kNode, "number", "the real one", "The pretended node of this process.", true},
}};

std::optional<std::string_view> value_of(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string_view>(value);
}

[[noreturn]] void refuse(std::string_view name, std::string_view value, std::string_view cause,
                         std::string_view remedy) {
  std::string text(name);
  text.append("=").append(value).append(": ").append(cause).append("; ").append(remedy);
  throw Error(text);
}

// All of `text` as a decimal number.
std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// 65536, 64K, 256m, 1G; anything beyond 64 bits is no number.
std::optional<std::uint64_t> bytes(std::string_view text) {
  if (text.empty()) return std::nullopt;
  constexpr std::string_view kSuffixes = "KMG";
  const std::size_t suffix = kSuffixes.find(static_cast<char>(text.back() & ~0x20));
  if (suffix == std::string_view::npos) return number(text);
  text.remove_suffix(1);
  const int shift = 10 * (static_cast<int>(suffix) + 1);
  const auto value = number(text);
  if (!value || *value > (std::numeric_limits<std::uint64_t>::max() >> shift)) return std::nullopt;
  return *value << shift;
}

std::uint64_t read_segment(std::uint64_t default_bytes) {
  constexpr std::string_view kName = "SPLITC_SEGMENT";
  const auto text = value_of(kName);
  if (!text) return default_bytes;
  const auto value = bytes(*text);
  if (!value) {
    refuse(kName, *text, "not a number of bytes", "write a number with K, M or G, such as 256M");
  }
  if (*value < kMinSegment) refuse(kName, *text, "less than 64K", "give each process more");
  if (*value > kMaxSegment) {
    refuse(kName, *text, "more than 1024G, which a global pointer's 40 bits can address",
           "give each process less");
  }
  return (*value + kPage - 1) / kPage * kPage;
}

bool read_verbose() {
  constexpr std::string_view kName = "SPLITC_VERBOSE";
  const auto text = value_of(kName).value_or("0");
  if (text != "0" && text != "1") refuse(kName, text, "not a switch", "write 0 or 1");
  return text == "1";
}

WaitPolicy read_wait() {
  constexpr std::string_view kName = "SPLITC_WAIT";
  const auto text = value_of(kName).value_or("auto");
  if (text == "auto") return WaitPolicy::kAuto;
  if (text == "spin") return WaitPolicy::kSpin;
  if (text == "yield") return WaitPolicy::kYield;
  if (text == "block") return WaitPolicy::kBlock;
  refuse(kName, text, "not a way to wait", "write auto, spin, yield or block");
}

std::uint64_t read_internal(std::string_view name, std::uint64_t low, std::uint64_t high) {
  const std::string_view text = *value_of(name);
  const auto value = number(text);
  if (!value || *value < low || *value > high) {
    refuse(name, text, "not a number from " + std::to_string(low) + " to " + std::to_string(high),
           "start with splitcrun, or unset it: it is not for people to set");
  }
  return *value;
}

// The launcher sets rank, size and control region or none of them.
void read_launcher(Config& config) {
  std::string present, missing;
  for (const Setting& setting : kSettings) {
    if (!setting.internal || setting.name == kNode) continue;
    (value_of(setting.name) ? present : missing).append(" ").append(setting.name);
  }
  if (present.empty()) return;
  if (!missing.empty()) {
    throw Error("set by a launcher:" + present + ", but not:" + missing +
                "; start the program with splitcrun, or unset" + present);
  }
  config.size = static_cast<std::uint32_t>(read_internal("SPLITC_SIZE", 1, kMaxSize));
  config.rank = static_cast<Rank>(read_internal("SPLITC_RANK", 0, config.size - 1));
  config.job_fd =
      static_cast<int>(read_internal("SPLITC_JOB_FD", 0, std::numeric_limits<int>::max()));
}

int read_node() {
  if (!value_of(kNode)) return -1;
  return static_cast<int>(read_internal(kNode, 0, kMaxSize - 1));
}

void refuse_unknown() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with(kPrefix)) continue;
    const std::string_view name = text.substr(0, text.find('='));
    const auto same = [name](const Setting& setting) { return setting.name == name; };
    if (std::ranges::any_of(kSettings, same)) continue;
    const std::string_view meant = closest_setting(name);
    std::string remedy("did you mean ");
    remedy.append(meant).append("?");
    if (meant.empty()) remedy = "splitcrun --help-env lists those that exist";
    refuse(name, text.substr(std::min(text.size(), name.size() + 1)), "no such variable", remedy);
  }
}

// Levenshtein: letters to add, drop or change to make one into the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t change = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, change});
    }
  }
  return row.back();
}

}  // namespace

Config read_config() {
  refuse_unknown();
  Config config;
  config.segment_bytes = read_segment(config.segment_bytes);
  config.verbose = read_verbose();
  config.wait = read_wait();
  config.provider = value_of("SPLITC_PROVIDER").value_or("");
  config.interface = value_of("SPLITC_INTERFACE").value_or("");
  config.node = read_node();
  read_launcher(config);
  return config;
}

std::span<const Setting> settings() { return kSettings; }

std::string describe_settings() {
  std::string text;
  for (const Setting& setting : kSettings) {
    if (setting.internal) continue;
    text.append(setting.name).append(" (").append(setting.kind).append("; default ");
    text.append(setting.default_value).append(")\n    ").append(setting.sentence).append("\n");
  }
  return text;
}

std::string_view closest_setting(std::string_view name) {
  constexpr std::size_t kClose = 4;  // beyond it a guess would be noise
  std::string_view best;
  std::size_t best_distance = kClose;
  for (const Setting& setting : kSettings) {
    const std::size_t distance = edit_distance(name, setting.name);
    if (setting.internal || distance >= best_distance) continue;
    best = setting.name;
    best_distance = distance;
  }
  return best;
}

}  // namespace am
