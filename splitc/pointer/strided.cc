#include "splitc/pointer/strided.h"

#include <string>

namespace splitc::detail {
namespace {

// a * b + c, into c; false if no 64-bit number holds it.
bool add_product(std::uint64_t a, std::uint64_t b, std::uint64_t& c) {
  std::uint64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(product, c, &c);
}

// Not in the frame of in_bytes(), which small operations wait for.
[[noreturn, gnu::noinline]] void refuse_reach(const strided& s, Call call) {
  refuse(call, "runs of " + std::to_string(s.run) + " elements, " + std::to_string(s.rows) +
                   " rows every " + std::to_string(s.row_stride) + ", " + std::to_string(s.planes) +
                   " planes every " + std::to_string(s.plane_stride) +
                   " reach further than any memory; check how the shape was computed");
}

}  // namespace

am::Strided in_bytes(const strided& s, std::size_t element, Call call) {
  if (s.run == 0 || s.rows == 0 || s.planes == 0) return {.run = 0};
  std::uint64_t reach = s.run;  // elements, those that are skipped as well
  std::uint64_t taken = 0;
  const bool held = add_product(s.rows - 1, s.row_stride, reach) &&
                    add_product(s.planes - 1, s.plane_stride, reach) &&
                    !__builtin_mul_overflow(reach, element, &reach) &&
                    add_product(std::uint64_t{s.rows} * s.planes, s.run, taken) &&
                    !__builtin_mul_overflow(taken, element, &taken);
  if (!held) [[unlikely]]
    refuse_reach(s, call);
  return {.run = s.run * element,
          .rows = s.rows,
          .planes = s.planes,
          .row_stride = s.row_stride * element,
          .plane_stride = s.plane_stride * element};
}

}  // namespace splitc::detail
