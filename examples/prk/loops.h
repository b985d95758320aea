/* The loops of the kernels inside one process, with nothing of communication. In C: the same loops
 * are compiled into benchmarks/rivals/mpi_prk.c, so that a comparison is one of communication. */
#ifndef EXAMPLES_PRK_LOOPS_H
#define EXAMPLES_PRK_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Stencil. A tile of points in rows that are `pitch` numbers apart. */
struct prk_tile {
  size_t width, height, pitch;
};
/* The (2 radius + 1)^2 weights of a discrete divergence, by rows: a star, or the whole square.
 * Returns how many points it has. */
size_t prk_weights(int star, ptrdiff_t radius, double* weights);
/* Adds to each point of `out` the weighted points around that of `in`. The tiles are equally large;
 * `in` is the first point of it, and there are `radius` points more on each side. */
void prk_apply(int star, ptrdiff_t radius, const double* weights, const double* in, size_t pitch,
               double* out, struct prk_tile tile);
void prk_increment(double* points, struct prk_tile tile);

/* --- Transpose. Matrices by columns, of n rows. */
/* Transposes `rows` of `columns` columns from `from` on to `to`, by columns of `columns` rows that
 * are `to_pitch` apart, and adds 1 to each number that was read. `add`: adds instead of writing. */
void prk_transpose(int add, double* from, size_t n, size_t rows, size_t columns, double* to,
                   size_t to_pitch);
/* Adds a block of `columns` columns of `rows` rows to a part of a matrix. */
void prk_add_block(const double* block, size_t rows, size_t columns, double* to, size_t n);

/* --- Synch_p2p. The points 1 to count of a row of a grid, from those to the left and above. */
void prk_wave(const double* above, double* row, size_t count);

/* --- Random. The powers of x modulo x^63 + x^2 + x + 1 over the field of two elements, as HPC
 * Challenge and the Parallel Research Kernels compute them, in a word of 64 bits. */
static inline uint64_t prk_next_power(uint64_t x) { return x << 1 ^ (x >> 63 ? 7 : 0); }
/* Power n of the sequence. */
uint64_t prk_power(uint64_t n);
/* Where the sequence of updates begins. */
static const uint64_t kPrkSeed = 834568137686317453u;

#ifdef __cplusplus
}
#endif
#endif
