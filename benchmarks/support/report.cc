#include "benchmarks/support/report.h"

#include <cstdio>

namespace bench {
namespace {

// Three digits, whatever the magnitude.
std::string number(double value) {
  char text[32];
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

// 97.3 ns, 1.25 us, 3.40 ms; other units as they are.
std::string amount(double value, const std::string& unit) {
  if (unit != "ns") return number(value) + " " + unit;
  if (value < 9999) return number(value) + " ns";
  if (value < 9.999e6) return number(value / 1e3) + " us";
  return number(value / 1e6) + " ms";
}

Figure time_of(const std::string& name, std::size_t bytes, const Samples& samples) {
  return {name, bytes, samples.minimum(), samples.median()};
}

// Turns nanoseconds per operation into `scale` operations per nanosecond.
Figure rate_of(Figure figure, double scale, const std::string& unit) {
  figure.value = scale / figure.value;
  figure.median = scale / figure.median;
  figure.unit = unit;
  return figure;
}

Figure bandwidth_of(const std::string& name, std::size_t bytes, const Samples& samples) {
  return rate_of(time_of(name, bytes, samples), static_cast<double>(bytes), "GB/s");
}

Figure per_second_of(const std::string& name, std::size_t bytes, const Samples& samples) {
  constexpr double kMillionPerSecond = 1e3;  // of one per nanosecond
  return rate_of(time_of(name, bytes, samples), kMillionPerSecond, "M/s");
}

}  // namespace

std::string size_text(std::size_t bytes) {
  if (bytes == 0) return "";
  if (bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
  if (bytes % (1 << 10) == 0) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes) + " B";
}

void Report::say(const std::string& line) const {
  if (!speak_ || csv_) return;
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void Report::begin() const {
  if (!speak_) return;
  if (csv_) {
    std::printf("benchmark,route,bytes,value,unit\n");
  } else {
    std::printf("%-26s %8s %11s %11s  %s\n", "benchmark", "bytes", "minimum", "median",
                "limit, its minimum and median, minimum / limit");
  }
  std::fflush(stdout);
}

void Report::print_csv(const Figure& figure) const {
  const std::string& route = figure.route.empty() ? route_ : figure.route;
  std::printf("%s,%s,%zu,%.6g,%s\n", figure.name.c_str(), route.c_str(), figure.bytes, figure.value,
              figure.unit.c_str());
}

void Report::add(const Figure& figure) const {
  if (!speak_) return;
  if (csv_) {
    print_csv(figure);
  } else {
    std::printf("%-26s %8s %11s %11s\n", figure.name.c_str(), size_text(figure.bytes).c_str(),
                amount(figure.value, figure.unit).c_str(),
                amount(figure.median, figure.unit).c_str());
  }
  std::fflush(stdout);
}

void Report::add(const Figure& figure, const Figure& limit) const {
  if (!speak_) return;
  const double ratio = figure.value / limit.value;
  if (csv_) {
    print_csv(figure);
    Figure beside = limit;
    beside.name = figure.name + ":limit";
    beside.route = "raw";
    print_csv(beside);
    print_csv({figure.name + ":ratio", figure.bytes, ratio, ratio, "1", figure.route});
  } else {
    std::printf("%-26s %8s %11s %11s  %s %s %s  %sx\n", figure.name.c_str(),
                size_text(figure.bytes).c_str(), amount(figure.value, figure.unit).c_str(),
                amount(figure.median, figure.unit).c_str(), limit.name.c_str(),
                amount(limit.value, limit.unit).c_str(), amount(limit.median, limit.unit).c_str(),
                number(ratio).c_str());
  }
  std::fflush(stdout);
}

void Report::add_time(const std::string& name, std::size_t bytes, const Samples& ours) const {
  add(time_of(name, bytes, ours));
}

void Report::add_time(const std::string& name, std::size_t bytes, const Samples& ours,
                      const std::string& limit_name, const Samples& limit) const {
  add(time_of(name, bytes, ours), time_of(limit_name, bytes, limit));
}

void Report::add_bandwidth(const std::string& name, std::size_t bytes, const Samples& ours) const {
  add(bandwidth_of(name, bytes, ours));
}

void Report::add_bandwidth(const std::string& name, std::size_t bytes, const Samples& ours,
                           const std::string& limit_name, const Samples& limit) const {
  add(bandwidth_of(name, bytes, ours), bandwidth_of(limit_name, bytes, limit));
}

void Report::add_rate(const std::string& name, std::size_t bytes, const Samples& ours) const {
  add(per_second_of(name, bytes, ours));
}

void Report::add_rate(const std::string& name, std::size_t bytes, const Samples& ours,
                      const std::string& limit_name, const Samples& limit) const {
  add(per_second_of(name, bytes, ours), per_second_of(limit_name, bytes, limit));
}

}  // namespace bench
