#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/support/samples.h"

namespace bench {

// One figure. Times are kept as nanoseconds; others name their unit.
struct Figure {
  std::string name;
  std::size_t bytes = 0;
  double value = 0;
  double median = 0;
  std::string unit = "ns";
  std::string route = "";  // how the peer was reached; "raw": by hand, without the library
};

// Prints figures, as a table for people or as CSV. Only one process of a job has one that speaks.
class Report {
 public:
  // `route`: of figures that name none.
  Report(bool csv, bool speak, std::string route = "node")
      : csv_(csv), speak_(speak), route_(std::move(route)) {}

  // A line of text, not in CSV.
  void say(const std::string& line) const;
  // The names of the columns; before the first figure.
  void begin() const;

  // A figure that stands for itself.
  void add(const Figure& figure) const;
  // A figure beside the limit it is compared with. For times the ratio is value / limit, for rates
  // and bandwidths, too: above or below 1.
  void add(const Figure& figure, const Figure& limit) const;

  // The same for times in nanoseconds, from the repetitions.
  void add_time(const std::string& name, std::size_t bytes, const Samples& ours) const;
  void add_time(const std::string& name, std::size_t bytes, const Samples& ours,
                const std::string& limit_name, const Samples& limit) const;
  // The same for bandwidths in GB/s, of `bytes` per time.
  void add_bandwidth(const std::string& name, std::size_t bytes, const Samples& ours) const;
  void add_bandwidth(const std::string& name, std::size_t bytes, const Samples& ours,
                     const std::string& limit_name, const Samples& limit) const;
  // The same for rates in millions a second.
  void add_rate(const std::string& name, std::size_t bytes, const Samples& ours) const;
  void add_rate(const std::string& name, std::size_t bytes, const Samples& ours,
                const std::string& limit_name, const Samples& limit) const;

 private:
  void print_csv(const Figure& figure) const;

  const bool csv_;
  const bool speak_;
  const std::string route_;
};

// 8 B, 4 KiB, 1 MiB; nothing for 0.
std::string size_text(std::size_t bytes);

}  // namespace bench
