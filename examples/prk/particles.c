#include "examples/prk/particles.h"

#include <math.h>

/* --- Random numbers: x becomes a x + c modulo 2^64, and two of them belong to each cell. */

static const uint64_t kFactor = 6364136223846793005u, kSummand = 1442695040888963407u;

static uint64_t next_draw(uint64_t* state) {
  *state = kFactor * *state + kSummand;
  return *state;
}

/* The state after n draws: the step is squared again and again. */
static uint64_t state_after(uint64_t n) {
  uint64_t state = 27182818285u, factor = kFactor, summand = kSummand;
  for (; n > 0; n >>= 1) {
    if (n & 1) state = factor * state + summand;
    summand *= factor + 1;
    factor *= factor;
  }
  return state;
}

/* A number of particles whose mean is `mean`. */
static uint64_t draw_count(double mean, uint64_t* state) {
  const uint64_t first = next_draw(state), second = next_draw(state);
  if (mean <= 0) return 0;
  if (mean < 1) return second % UINT32_MAX <= (uint64_t)(mean * UINT32_MAX);
  const double u0 = (double)(first % UINT64_MAX) / (double)UINT64_MAX;
  const double u1 = (double)(second % UINT64_MAX) / (double)UINT64_MAX;
  const double normal = sqrt(-2 * log(u0)) * cos(2 * 3.14159265358979323846 * u1);
  return (uint64_t)(normal * 0.15 * mean + mean + 0.5);
}

static double mean_of(const struct prk_cloud* cloud, uint64_t x, uint64_t y) {
  const double side = (double)cloud->side, all = (double)cloud->particles, column = (double)x;
  double wave, last;
  switch (cloud->density) {
    case kPrkGeometric:
      if (cloud->rho == 1) return all / side / side;
      return all * (1 - cloud->rho) / (1 - pow(cloud->rho, side)) / side * pow(cloud->rho, column);
    case kPrkSinusoidal:
      wave = cos(column * 3.14159265358979323846 / side);
      return 2 * wave * wave * all / (side * side);
    case kPrkLinear:
      last = side > 1 ? side - 1 : 1;
      return all * (cloud->beta - cloud->alpha * column / last) /
             (cloud->beta * side - cloud->alpha * 0.5 * side) / side;
    case kPrkPatch:
      if (x < cloud->left || x > cloud->right || y < cloud->bottom || y > cloud->top) return 0;
      return all / (double)((cloud->right - cloud->left + 1) * (cloud->top - cloud->bottom + 1));
  }
  return 0;
}

size_t prk_place(const struct prk_cloud* cloud, const struct prk_cells* cells,
                 struct prk_particle* to) {
  size_t placed = 0;
  for (uint64_t x = cells->left; x < cells->right; ++x) {
    uint64_t state = state_after(2 * (cells->bottom + x * cloud->side));
    for (uint64_t y = cells->bottom; y < cells->top; ++y) {
      for (uint64_t n = draw_count(mean_of(cloud, x, y), &state); n > 0; --n, ++placed) {
        if (to == NULL) continue;
        to[placed] = (struct prk_particle){.x = (double)x + 0.5,
                                           .y = (double)y + 0.5,
                                           .k = (double)cloud->k,
                                           .m = (double)cloud->m};
      }
    }
  }
  return placed;
}

/* A charge of 1 or -1 is at each corner of a cell, by columns. The charge of the particle is such
 * that in one step these push it 2 k + 1 cells to the right, and in the next one they stop it. */
void prk_finish(struct prk_particle* particles, size_t count, double first_number) {
  for (size_t i = 0; i < count; ++i) {
    struct prk_particle* const p = &particles[i];
    const double x = p->x - floor(p->x), y = p->y - floor(p->y);
    const double left = x * x + y * y, right = (1 - x) * (1 - x) + y * y;
    const double unit = 1 / (x / sqrt(left) / left + (1 - x) / sqrt(right) / right);
    p->speed_y = p->m;
    p->charge = (2 * p->k + 1) * unit * (fmod(floor(p->x), 2) == 0 ? 1 : -1);
    p->first_x = p->x;
    p->first_y = p->y;
    p->number = first_number + (double)i;
  }
}

struct force {
  double x, y;
};
static inline struct force coulomb(double x, double y, double charges) {
  const double squared = x * x + y * y, distance = sqrt(squared), size = charges / squared;
  return (struct force){size * x / distance, size * y / distance};
}

void prk_move(struct prk_particle* p, double side) {
  const double column = floor(p->x), x = p->x - column, y = p->y - floor(p->y);
  const double left = fmod(column, 2) == 0 ? 1 : -1, right = -left;
  const struct force a = coulomb(x, y, p->charge * left);
  const struct force b = coulomb(x, 1 - y, p->charge * left);
  const struct force c = coulomb(1 - x, y, p->charge * right);
  const struct force d = coulomb(1 - x, 1 - y, p->charge * right);
  const double push_x = a.x + b.x - c.x - d.x, push_y = a.y - b.y + c.y - d.y;
  p->x = fmod(p->x + p->speed_x + 0.5 * push_x + side, side);
  p->y = fmod(p->y + p->speed_y + 0.5 * push_y + side, side);
  p->speed_x += push_x;
  p->speed_y += push_y;
}

static double wrapped(double place, double side) {
  const double rest = fmod(place, side);
  return rest < 0 ? side + rest : rest;
}

int prk_is_right(const struct prk_particle* p, double side, double steps) {
  const double x = wrapped(p->first_x + steps * (2 * p->k + 1), side);
  const double y = wrapped(p->first_y + steps * p->m, side);
  return fabs(p->x - x) <= 1e-6 && fabs(p->y - y) <= 1e-6;
}
