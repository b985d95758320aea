/* The particles of the kernel PIC, in C: see loops.h. */
#ifndef EXAMPLES_PRK_PARTICLES_H
#define EXAMPLES_PRK_PARTICLES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Behind the charge is what the final position is verified with. */
struct prk_particle {
  double x, y, speed_x, speed_y, charge;
  double first_x, first_y, k, m, number;
};

/* How many particles there are in each cell of a square of `side` x `side` cells. */
enum prk_density { kPrkGeometric, kPrkSinusoidal, kPrkLinear, kPrkPatch };
struct prk_cloud {
  enum prk_density density;
  uint64_t side, particles;
  uint64_t k, m;      /* a particle moves 2 k + 1 cells to the right and m up in each step */
  double rho;         /* geometric: column x + 1 has rho times the particles of column x */
  double alpha, beta; /* linear: column x has beta - alpha x / (side - 1) */
  uint64_t left, right, bottom, top; /* patch: its first and last column and row */
};
struct prk_cells {
  uint64_t left, right, bottom, top; /* `right` and `top` are behind the last ones */
};

/* Places the particles of these cells at `to`, or, if that is NULL, only counts them. They do not
 * depend on how cells are divided. Returns how many there are. */
size_t prk_place(const struct prk_cloud* cloud, const struct prk_cells* cells,
                 struct prk_particle* to);
/* Completes those that have been placed: the first one has this number. */
void prk_finish(struct prk_particle* particles, size_t count, double first_number);
/* One step of time. */
void prk_move(struct prk_particle* particle, double side);
/* Whether it is where it has to be after so many steps. */
int prk_is_right(const struct prk_particle* particle, double side, double steps);

#ifdef __cplusplus
}
#endif
#endif
