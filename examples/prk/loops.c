#include "examples/prk/loops.h"

/* --- Stencil */

size_t prk_weights(int star, ptrdiff_t radius, double* weights) {
  const ptrdiff_t side = 2 * radius + 1;
  double* const centre = weights + radius * side + radius;
  for (ptrdiff_t i = 0; i < side * side; ++i) weights[i] = 0;
  for (ptrdiff_t k = 1; k <= radius; ++k) {
    if (star) {
      const double weight = 1.0 / (2.0 * (double)k * (double)radius);
      centre[k] = centre[k * side] = weight;
      centre[-k] = centre[-k * side] = -weight;
      continue;
    }
    const double corner = 1.0 / (4.0 * (double)k * (double)radius);
    for (ptrdiff_t i = 1 - k; i < k; ++i) {
      const double weight = corner / (2.0 * (double)k - 1);
      centre[k * side + i] = centre[i * side + k] = weight;
      centre[-k * side + i] = centre[i * side - k] = -weight;
    }
    centre[k * side + k] = corner;
    centre[-k * side - k] = -corner;
  }
  return (size_t)(star ? 4 * radius + 1 : side * side);
}

/* Inlined with a constant radius the compiler unrolls the sums and vectorises the row. */
static inline __attribute__((always_inline)) void apply_row(int star, ptrdiff_t radius,
                                                            const double* weights, const double* in,
                                                            ptrdiff_t pitch, double* restrict out,
                                                            size_t width) {
  const ptrdiff_t side = 2 * radius + 1;
  const double* const centre = weights + radius * side + radius;
  for (size_t i = 0; i < width; ++i) {
    double sum = out[i];
    if (star) {
      for (ptrdiff_t k = -radius; k <= radius; ++k) {
        sum += centre[k * side] * in[(ptrdiff_t)i + k * pitch];
      }
      for (ptrdiff_t k = -radius; k < 0; ++k) sum += centre[k] * in[(ptrdiff_t)i + k];
      for (ptrdiff_t k = 1; k <= radius; ++k) sum += centre[k] * in[(ptrdiff_t)i + k];
    } else {
      for (ptrdiff_t k = -radius; k <= radius; ++k) {
        for (ptrdiff_t l = -radius; l <= radius; ++l) {
          sum += centre[k * side + l] * in[(ptrdiff_t)i + k * pitch + l];
        }
      }
    }
    out[i] = sum;
  }
}

void prk_apply(int star, ptrdiff_t radius, const double* weights, const double* in, size_t pitch,
               double* out, struct prk_tile tile) {
  for (size_t row = 0; row < tile.height; ++row, in += pitch, out += tile.pitch) {
    if (star && radius == 2) {
      apply_row(1, 2, weights, in, (ptrdiff_t)pitch, out, tile.width);
    } else if (star && radius == 4) {
      apply_row(1, 4, weights, in, (ptrdiff_t)pitch, out, tile.width);
    } else if (!star && radius == 2) {
      apply_row(0, 2, weights, in, (ptrdiff_t)pitch, out, tile.width);
    } else {
      apply_row(star, radius, weights, in, (ptrdiff_t)pitch, out, tile.width);
    }
  }
}

void prk_increment(double* points, struct prk_tile tile) {
  for (size_t row = 0; row < tile.height; ++row, points += tile.pitch) {
    for (size_t i = 0; i < tile.width; ++i) points[i] += 1;
  }
}

/* --- Transpose, in squares that stay in the cache */

enum { kSquare = 32 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

void prk_transpose(int add, double* from, size_t n, size_t rows, size_t columns,
                   double* restrict to, size_t to_pitch) {
  for (size_t i0 = 0; i0 < rows; i0 += kSquare) {
    const size_t i1 = least(rows, i0 + kSquare);
    for (size_t j0 = 0; j0 < columns; j0 += kSquare) {
      const size_t j1 = least(columns, j0 + kSquare);
      for (size_t i = i0; i < i1; ++i) {
        for (size_t j = j0; j < j1; ++j) {
          double* const number = &from[j * n + i];
          to[i * to_pitch + j] = add ? to[i * to_pitch + j] + *number : *number;
          *number += 1;
        }
      }
    }
  }
}

void prk_add_block(const double* block, size_t rows, size_t columns, double* restrict to,
                   size_t n) {
  for (size_t j = 0; j < columns; ++j, block += rows, to += n) {
    for (size_t i = 0; i < rows; ++i) to[i] += block[i];
  }
}

/* --- Synch_p2p */

void prk_wave(const double* above, double* row, size_t count) {
  for (size_t i = 1; i <= count; ++i) row[i] = row[i - 1] + above[i] - above[i - 1];
}

/* --- Random */

uint64_t prk_power(uint64_t n) {
  uint64_t square_of[64]; /* x^(2 i) */
  uint64_t power = 1;
  for (int i = 0; i < 64; ++i) {
    square_of[i] = power;
    power = prk_next_power(prk_next_power(power));
  }
  power = 1;
  for (int bit = 63; bit >= 0; --bit) {
    uint64_t square = 0; /* squaring is linear over this field */
    for (int i = 0; i < 64; ++i) square ^= power >> i & 1 ? square_of[i] : 0;
    power = n >> bit & 1 ? prk_next_power(square) : square;
  }
  return power;
}
