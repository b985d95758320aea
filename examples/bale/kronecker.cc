#include "examples/bale/kronecker.h"

#include <stdexcept>
#include <string>

namespace bale {
namespace {

using Leaves = std::vector<std::size_t>;

std::uint32_t vertices_of(const Leaves& leaves) {
  std::uint64_t vertices = 1;
  for (const std::size_t one : leaves) {
    if (one >= (std::uint64_t{1} << 31) / vertices) {
      throw std::runtime_error(
          "--stars: their product has more than the 2^31 vertices that indices of 32 bits can "
          "name; take fewer stars, or fewer leaves");
    }
    vertices *= one + 1;
  }
  return static_cast<std::uint32_t>(vertices);
}

// Adds the neighbours of `vertex` that are less than it, in ascending order: those that begin with
// `begun`, of the stars from `star` on. The centre of a star is its vertex 0, which is joined to
// all of that star; every other is joined to it alone.
void add_neighbours(const Leaves& leaves, std::size_t star, std::uint32_t vertices_left,
                    std::uint32_t vertex, std::uint32_t begun,
                    std::vector<std::uint32_t>& columns) {
  if (star == leaves.size()) {
    columns.push_back(begun);
    return;
  }
  const auto size = static_cast<std::uint32_t>(leaves[star] + 1);
  const std::uint32_t after = vertices_left / size;
  const bool is_centre = vertex / after % size == 0;
  for (std::uint32_t to = 0; to < (is_centre ? size : 1); ++to) {
    const std::uint32_t next = begun + to * after;
    if (next >= vertex) return;
    add_neighbours(leaves, star + 1, after, vertex, next, columns);
  }
}

}  // namespace

SparseMatrix make_kronecker(const Leaves& leaves) {
  const std::uint32_t vertices = vertices_of(leaves);
  SparseMatrix::Rows rows;
  for (std::uint32_t mine = 0; mine < SparseMatrix::rows_of_mine(vertices); ++mine) {
    const std::size_t before = rows.columns.size();
    add_neighbours(leaves, 0, vertices, global(mine), 0, rows.columns);
    rows.counts.push_back(static_cast<std::uint32_t>(rows.columns.size() - before));
  }
  return {vertices, rows};
}

// A closed walk of three steps in a star is its loop three times, or the loop and an edge there and
// back, begun at any of the three: 3 * leaves + 1. Walks in the product are a walk in each star.
// Without the loop of the product, at a vertex with `degree` neighbours, there are
// walks - 3 * degree + 2, and six of them are one triangle.
std::uint64_t triangles_of_kronecker(const Leaves& leaves) {
  std::uint64_t walks = 1, degree = 1;
  for (const std::size_t one : leaves) {
    walks *= 3 * one + 1;
    degree *= one + 1;
  }
  return (walks - 3 * degree + 2) / 6;
}

}  // namespace bale
