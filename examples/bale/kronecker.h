// Kronecker products of stars, whose triangles can be counted without looking for them. After
// Kepner and others: Design, Generation, and Validation of Extreme Scale Power-Law Graphs, 2018.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "examples/bale/sparse_matrix.h"

namespace bale {

// The stars have so many leaves each, and a loop at their centre. A vertex of the product is one
// vertex of each star, and two are joined if those of every star are; the one loop that the product
// has is left out. Returns the part of the matrix below the diagonal. Collective. Throws
// std::runtime_error if there are more than 2^31 vertices.
SparseMatrix make_kronecker(const std::vector<std::size_t>& leaves);

// In the product.
std::uint64_t triangles_of_kronecker(const std::vector<std::size_t>& leaves);

}  // namespace bale
