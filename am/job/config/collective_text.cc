#include "am/job/config/collective_text.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "am/job/config/number.h"
#include "am/types/types.h"

namespace am {
namespace {

using Crossover = std::optional<std::uint64_t> ChosenCrossovers::*;
constexpr std::pair<std::string_view, Crossover> kCrossovers[] = {
    {"broadcast", &ChosenCrossovers::broadcast},
    {"gather", &ChosenCrossovers::gather},
    {"reduce", &ChosenCrossovers::reduce},
    {"reduce_slices", &ChosenCrossovers::reduce_slices},
    {"all_to_all", &ChosenCrossovers::all_to_all}};

// Calls read(name, value) for each part; `part` is what stands between two commas. Where it returns
// false, or where a part has no name and value, throws Error.
template <class Read>
void for_each_part(std::string_view setting, std::string_view text, const char* remedy, Read read) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    const std::size_t middle = std::min(part.find('='), part.size());
    if (middle == part.size() || !read(part.substr(0, middle), part.substr(middle + 1))) {
      throw Error(std::string(setting) + "=" + std::string(text) + ": \"" + std::string(part) +
                  "\" is no name with a value; write " + remedy);
    }
    at = end + 1;
  }
}

std::string size_text(std::uint64_t bytes) {
  for (const auto& [shift, suffix] : {std::pair(30, "G"), std::pair(20, "M"), std::pair(10, "K")}) {
    const std::uint64_t units = bytes >> shift;
    if (units != 0 && units << shift == bytes) return std::to_string(units) + suffix;
  }
  return std::to_string(bytes);
}

}  // namespace

ChosenCrossovers parse_crossovers(std::string_view text) {
  ChosenCrossovers choice;
  for_each_part(
      "SPLITC_COLLECTIVES", text,
      "some of broadcast, gather, reduce, reduce_slices and all_to_all, each with a number "
      "of bytes, with K, M or G, such as broadcast=64K,reduce=2K",
      [&](std::string_view name, std::string_view value) {
        for (const auto& [known, member] : kCrossovers) {
          if (name == known) return (choice.*member = number_of_bytes(value)).has_value();
        }
        return false;
      });
  return choice;
}

std::string text_of(const Crossovers& crossovers) {
  return "broadcast=" + size_text(crossovers.broadcast) +
         ",gather=" + size_text(crossovers.gather) + ",reduce=" + size_text(crossovers.reduce) +
         ",reduce_slices=" + size_text(crossovers.reduce_slices) +
         ",all_to_all=" + size_text(crossovers.all_to_all);
}

LogGP parse_loggp(std::string_view text) {
  std::optional<double> latency, overhead, byte;
  constexpr const char* kRemedy =
      "L, o and G of the network, such as L=20,o=4,G=0.6: microseconds, microseconds, and "
      "nanoseconds a byte (benchmarks/collectives --only network measures them)";
  const auto read = [&](std::string_view name, std::string_view value) {
    const auto number = whole_number<double>(value);
    if (!number || !(*number >= 0 && *number <= 1e6)) return false;
    if (name == "L") latency = number;
    if (name == "o") overhead = number;
    if (name == "G") byte = number;
    return name == "L" || name == "o" || name == "G";
  };
  for_each_part("SPLITC_LOGGP", text, kRemedy, read);
  if (!latency || !overhead || !byte) {
    throw Error("SPLITC_LOGGP=" + std::string(text) + ": not all three; write " + kRemedy);
  }
  return {.latency_ns = *latency * 1'000, .overhead_ns = *overhead * 1'000, .byte_ns = *byte};
}

std::string text_of(const LogGP& network) {
  char text[100];
  std::snprintf(text, sizeof text, "L=%.4g,o=%.4g,G=%.4g", network.latency_ns / 1'000,
                network.overhead_ns / 1'000, network.byte_ns);
  return text;
}

}  // namespace am
