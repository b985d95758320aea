#include "benchmarks/scale_model.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace bench {
namespace {

using Row = std::vector<double>;

// Solves `rows`, each with the right side behind it, by elimination. What is undetermined is 0.
Row solve(std::vector<Row> rows) {
  const std::size_t count = rows.size();
  Row result(count, 0);
  std::vector<bool> known(count, false);
  for (std::size_t column = 0; column < count; ++column) {
    const auto pivot = std::max_element(
        rows.begin() + static_cast<std::ptrdiff_t>(column), rows.end(),
        [column](const Row& a, const Row& b) { return std::abs(a[column]) < std::abs(b[column]); });
    std::swap(rows[column], *pivot);
    if (std::abs(rows[column][column]) < 1e-9) continue;
    known[column] = true;
    for (std::size_t other = 0; other < count; ++other) {
      if (other == column) continue;
      const double factor = rows[other][column] / rows[column][column];
      for (std::size_t i = column; i <= count; ++i) rows[other][i] -= factor * rows[column][i];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (known[i]) result[i] = rows[i][count] / rows[i][i];
  }
  return result;
}

// Of terms scaled so that each is 1 for the largest of the samples.
Row least_squares(const std::vector<Term>& terms, const std::vector<Sample>& samples) {
  const std::size_t count = terms.size();
  Row largest(count, 0);
  for (const Sample& sample : samples) {
    for (std::size_t i = 0; i < count; ++i) {
      largest[i] = std::max(largest[i], value_of(terms[i], sample.size));
    }
  }
  std::vector<Row> rows(count, Row(count + 1, 0));
  for (const Sample& sample : samples) {
    const double weight = 1 / std::max(std::abs(sample.value), 1e-9);
    Row scaled(count + 1, sample.value * weight);
    for (std::size_t i = 0; i < count; ++i) {
      if (largest[i] > 0) scaled[i] = value_of(terms[i], sample.size) / largest[i] * weight;
      if (largest[i] <= 0) scaled[i] = 0;
    }
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j <= count; ++j) rows[i][j] += scaled[i] * scaled[j];
    }
  }
  const double unit = rows[0][0] > 0 ? rows[0][0] : 1;  // so that "nearly 0" means something
  for (Row& row : rows) {
    for (double& one : row) one /= unit;
  }
  Row factors = solve(std::move(rows));
  for (std::size_t i = 0; i < count; ++i) factors[i] = largest[i] > 0 ? factors[i] / largest[i] : 0;
  return factors;
}

}  // namespace

double value_of(Term term, const Size& size) {
  switch (term) {
    case Term::kOne: return 1;
    case Term::kNear: return size.near();
    case Term::kFar: return size.far();
    case Term::kRoom: return std::clamp(size.far(), 8.0, 64.0);
    case Term::kProcesses: return size.processes;
    case Term::kDepth: return std::ceil(std::log2(size.nodes));
  }
  return 0;
}

const char* name_of(Term term) {
  switch (term) {
    case Term::kOne: return "any job";
    case Term::kNear: return "process of the node";
    case Term::kFar: return "process of another node";
    case Term::kRoom: return "of the first 64 of these, 8 at least";
    case Term::kProcesses: return "process";
    case Term::kDepth: return "doubling of the nodes";
  }
  return "";
}

double Model::at(const Size& size) const {
  double sum = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) sum += factors[i] * value_of(terms[i], size);
  return sum;
}

Model fit(std::vector<Term> terms, const std::vector<Sample>& samples) {
  std::vector<Term> used = terms;
  Row factors;
  for (;;) {
    factors = used.empty() ? Row() : least_squares(used, samples);
    const auto lowest = std::min_element(factors.begin(), factors.end());
    if (lowest == factors.end() || *lowest >= 0) break;
    used.erase(used.begin() + (lowest - factors.begin()));
  }
  Model model{std::move(terms), {}};
  for (const Term term : model.terms) {
    const auto found = std::find(used.begin(), used.end(), term);
    model.factors.push_back(
        found == used.end() ? 0 : factors[static_cast<std::size_t>(found - used.begin())]);
  }
  return model;
}

}  // namespace bench
