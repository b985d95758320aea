#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <system_error>

#include "examples/conjugate_gradient/matrix.h"
#include "examples/contents.h"

// The format: Boisvert, Pozo, Remington: The Matrix Market Exchange Formats: Initial Design, NISTIR
// 5935, 1996. A line of five words that say the kind, comments that begin with %, a line of rows,
// columns and entries, and then a line for each entry: row and column from 1 on, value.

namespace conjugate_gradient {
namespace {

using Words = std::vector<std::string_view>;

Words words_of(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r\v\f";
  Words words;
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
    if (line.empty()) return words;
    words.push_back(line.substr(0, line.find_first_of(kSpace)));
    line.remove_prefix(words.back().size());
  }
}

// The words of one line after the other.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  // Of the next line, whatever is in it. False behind the last one.
  bool next(Words& words) {
    if (rest_.empty()) return false;
    const std::string_view line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
    words = words_of(line);
    ++number_;
    return true;
  }
  // Of the next line that is neither empty nor a comment.
  bool next_with_content(Words& words) {
    while (next(words)) {
      if (!words.empty() && !words[0].starts_with('%')) return true;
    }
    return false;
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw std::runtime_error("line " + std::to_string(number_) + " " + why);
  }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

std::string in_quotes(std::string_view word) { return "\"" + std::string(word) + "\""; }

template <class T>
T number_in(std::string_view word, const Lines& lines, const char* what) {
  if (word.starts_with('+')) word.remove_prefix(1);
  T number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) {
    lines.refuse("has " + in_quotes(word) + " where " + what + " is expected");
  }
  return number;
}

// Reads the line that says what the file has. True if that is one half of a symmetric matrix.
bool read_kind(Lines& lines) {
  Words words;
  if (!lines.next(words) || words.empty() || words[0] != "%%MatrixMarket") {
    throw std::runtime_error(
        "line 1 does not begin with %%MatrixMarket: this is no Matrix Market file");
  }
  std::string kind[4];  // object, format, field, symmetry
  for (std::size_t i = 0; i < 4 && i + 1 < words.size(); ++i) {
    for (const char c : words[i + 1]) kind[i] += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  }
  const auto expect = [&](std::size_t i, std::string_view one, std::string_view other) {
    if (kind[i] == one || kind[i] == other) return;
    std::string wanted(one);
    if (other != one) wanted.append(" and ").append(other);
    lines.refuse("says " + in_quotes(kind[i]) + "; this program reads " + wanted + " only, as in " +
                 "\"%%MatrixMarket matrix coordinate real symmetric\"");
  };
  expect(0, "matrix", "matrix");
  expect(1, "coordinate", "coordinate");
  expect(2, "real", "integer");
  expect(3, "symmetric", "general");
  return kind[3] == "symmetric";
}

struct Size {
  std::uint32_t rows;
  std::uint64_t entries;
};

Size read_size(Lines& lines) {
  Words words;
  if (!lines.next_with_content(words)) throw std::runtime_error("there is no line of sizes");
  if (words.size() != 3) {
    lines.refuse("has " + std::to_string(words.size()) +
                 " words; sizes are three: rows, columns, entries");
  }
  const auto rows = number_in<std::uint32_t>(words[0], lines, "a number of rows below 2^32");
  const auto columns = number_in<std::uint32_t>(words[1], lines, "a number of columns below 2^32");
  if (rows != columns) {
    lines.refuse("says " + std::to_string(rows) + " rows and " + std::to_string(columns) +
                 " columns; a system that has one solution is square");
  }
  return {rows, number_in<std::uint64_t>(words[2], lines, "a number of entries")};
}

// A row or a column, which the file counts from 1 on.
std::uint32_t index_in(std::string_view word, const Lines& lines, std::uint32_t size) {
  const auto index = number_in<std::uint64_t>(word, lines, "a row or column");
  if (index < 1 || index > size) {
    lines.refuse("names row or column " + std::to_string(index) + "; there are 1 to " +
                 std::to_string(size));
  }
  return static_cast<std::uint32_t>(index - 1);
}

Entry read_entry(const Words& words, const Lines& lines, std::uint32_t size) {
  if (words.size() != 3) {
    lines.refuse("has " + std::to_string(words.size()) +
                 " words; an entry is three: row, column, value");
  }
  const Entry entry{index_in(words[0], lines, size), index_in(words[1], lines, size),
                    number_in<double>(words[2], lines, "a real number")};
  if (!std::isfinite(entry.value)) lines.refuse("has a value that is not finite");
  return entry;
}

std::string place_of(std::uint32_t row, std::uint32_t column) {
  return "entry (" + std::to_string(row + 1) + ", " + std::to_string(column + 1) + ")";
}

bool before(const Entry& a, const Entry& b) {
  return a.row != b.row ? a.row < b.row : a.column < b.column;
}

double value_at(const Matrix& matrix, std::uint32_t row, std::uint32_t column) {
  const auto found = std::ranges::lower_bound(matrix.entries, Entry{row, column, 0}, before);
  const bool there = found != matrix.entries.end() && found->row == row && found->column == column;
  return there ? found->value : 0;
}

// Throws if the sorted entries cannot be those of a symmetric positive definite matrix.
void check(const Matrix& matrix) {
  for (std::size_t k = 0; k < matrix.entries.size(); ++k) {
    const auto [row, column, value] = matrix.entries[k];
    if (k > 0 && !before(matrix.entries[k - 1], matrix.entries[k])) {
      throw std::runtime_error(place_of(row, column) + " is there twice");
    }
    const double mirrored = value_at(matrix, column, row);
    if (value != mirrored) {
      throw std::runtime_error(place_of(row, column) + " is " + std::to_string(value) + ", but " +
                               place_of(column, row) + " is " + std::to_string(mirrored) +
                               "; conjugate gradients need a symmetric matrix");
    }
  }
  for (std::uint32_t row = 0; row < matrix.size; ++row) {
    if (!(value_at(matrix, row, row) > 0)) {
      throw std::runtime_error(place_of(row, row) +
                               " is not greater than 0, so the matrix is not positive definite");
    }
  }
}

}  // namespace

Matrix parse_matrix(std::string_view text) {
  Lines lines(text);
  const bool half = read_kind(lines);
  const Size size = read_size(lines);
  Matrix matrix{size.rows, {}};
  std::uint64_t read = 0;
  for (Words words; lines.next_with_content(words); ++read) {
    if (read == size.entries) {
      lines.refuse("is behind the last of " + std::to_string(size.entries) + " entries");
    }
    const Entry entry = read_entry(words, lines, size.rows);
    if (half && entry.row < entry.column) {
      lines.refuse("is above the diagonal; a symmetric matrix is given by what is not");
    }
    matrix.entries.push_back(entry);
    if (half && entry.row != entry.column) {
      matrix.entries.push_back({entry.column, entry.row, entry.value});
    }
  }
  if (read < size.entries) {
    throw std::runtime_error("ends after " + std::to_string(read) + " of " +
                             std::to_string(size.entries) + " entries");
  }
  std::ranges::sort(matrix.entries, before);
  check(matrix);
  return matrix;
}

Matrix read_matrix(const std::string& path) {
  const std::string text = examples::contents_of(path);
  try {
    return parse_matrix(text);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

}  // namespace conjugate_gradient
