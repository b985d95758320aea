#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <type_traits>
#include <utility>

#include "splitc/splitc.h"

// References to classes, enumerations and pointers in expressions, and everything that is done to
// references of all types beside arithmetic.

namespace {

using namespace splitc;
using Complex = std::complex<double>;

// Its operators are members, and it converts by itself.
struct Money {
  int cents = 0;

  Money operator+(const Money& other) const { return {cents + other.cents}; }
  Money operator*(int n) const { return {cents * n}; }
  Money operator-() const { return {-cents}; }
  Money& operator+=(const Money& other) {
    cents += other.cents;
    return *this;
  }
  Money& operator++() {
    ++cents;
    return *this;
  }
  Money operator++(int) { return {cents++}; }
  Money& operator=(const char*) {  // may be assigned this, and is never made from it
    cents = cents + 1000;
    return *this;
  }
  Money() = default;
  Money(int all_cents) : cents(all_cents) {}
  Money(const Money&) = default;
  Money& operator=(const Money&) = default;
  explicit operator bool() const { return cents != 0; }
  operator double() const { return cents / 100.0; }
  friend bool operator==(const Money&, const Money&) = default;
};

// Its operators are templates, and found in its namespace.
template <class T>
struct Vector {
  T x;
  T y;
};
template <class T>
Vector<T> operator+(const Vector<T>& a, const Vector<T>& b) {
  return {a.x + b.x, a.y + b.y};
}
template <class T>
Vector<T> operator*(T a, const Vector<T>& b) {
  return {a * b.x, a * b.y};
}
template <class T>
Vector<T>& operator*=(Vector<T>& a, T b) {
  return a = b * a;
}
template <class T>
auto operator<=>(const Vector<T>& a, const Vector<T>& b) {
  return a.x * a.x + a.y * a.y <=> b.x * b.x + b.y * b.y;
}
template <class T>
bool operator==(const Vector<T>& a, const Vector<T>& b) {
  return a.x == b.x && a.y == b.y;
}
template <class T>
const Vector<T>& operator|(const Vector<T>& a, const Vector<T>& b) {  // refers to an operand
  return b < a ? a : b;
}

enum class Access : std::uint8_t { kNone, kRead, kWrite, kBoth };
constexpr Access operator|(Access a, Access b) {
  return static_cast<Access>(static_cast<int>(a) | static_cast<int>(b));
}
enum Color { kRed, kGreen, kBlue };

template <class T>
using Ref = const global_ref<T>&;

// An element of T at the next process, and one beside it, to which only this process writes.
template <class T>
struct Two {
  const spread_array<T> memory{2 * procs(), blocked};
  const global_ref<T> a = memory[(my_proc() + 1) % procs() * 2];
  const global_ref<T> b = memory[(my_proc() + 1) % procs() * 2 + 1];
};

TEST(RefTypes, of_complex_numbers_calculate_with_numbers_of_their_own_kind) {
  const Two<Complex> z;
  const Two<double> d;
  z.a = {3, 4};
  z.b = 2;
  d.a = 0.5;
  EXPECT_EQ(z.a * 2.0, Complex(6, 8));
  EXPECT_EQ(2.0 * z.a, Complex(6, 8));
  EXPECT_EQ(z.a * z.b, Complex(6, 8));
  EXPECT_EQ(z.a * d.a, Complex(1.5, 2));
  EXPECT_EQ(d.a * z.a, Complex(1.5, 2));
  EXPECT_EQ(d.a * Complex(3, 4), Complex(1.5, 2));
  EXPECT_EQ(-z.a, Complex(-3, -4));
  EXPECT_TRUE(z.a != z.b && z.b == 2.0);
  z.a += d.a;
  z.a *= Complex(0, 1);
  z.a -= z.b;
  EXPECT_EQ(Complex(z.a), Complex(-6, 3.5));
  EXPECT_EQ(std::abs(Complex(z.b)), 2.0);
  static_assert(std::same_as<decltype(z.a + z.b), Complex>);
}

TEST(RefTypes, of_one_class_are_assigned_to_another_as_their_values_are) {
  const Two<std::complex<float>> narrow;
  const Two<Complex> wide;
  narrow.a = {1, 2};
  wide.a = narrow.a;
  EXPECT_EQ(Complex(wide.a), Complex(1, 2));
  EXPECT_EQ(Complex(narrow.a), Complex(1, 2));
  static_assert(!std::is_assignable_v<Ref<Complex>, Ref<Access>>);
}

TEST(RefTypes, of_classes_use_their_member_operators_and_conversions) {
  const Two<Money> money;
  money.a = 250;
  money.b = Money(50);
  EXPECT_EQ(money.a + money.b, Money(300));
  EXPECT_EQ(money.a + Money(1), Money(251));
  EXPECT_EQ(Money(1) + money.a, Money(251));
  EXPECT_EQ(money.b * 3, Money(150));
  EXPECT_EQ(-money.b, Money(-50));
  EXPECT_EQ(++money.a, Money(251));
  EXPECT_EQ(money.a++, Money(251));
  EXPECT_EQ(money.a += money.b, Money(302));
  const double euros = money.a;
  EXPECT_EQ(euros, 3.02);
  EXPECT_EQ(static_cast<int>(money.a), 3);
  EXPECT_TRUE(money.a ? true : false);
  money.b = Money();
  EXPECT_FALSE(money.b ? true : false);
  money.b = "a thousand more";
  EXPECT_EQ(money.b, Money(1000));
}

TEST(RefTypes, of_templates_use_their_template_operators) {
  const Two<Vector<double>> v;
  v.a = {3, 4};
  v.b = {0, 1};
  const Vector<double> one{1, 1};
  EXPECT_EQ(v.a + v.b, (Vector<double>{3, 5}));
  EXPECT_EQ(one + v.b, (Vector<double>{1, 2}));
  EXPECT_EQ(v.b + one, (Vector<double>{1, 2}));
  EXPECT_EQ(2.0 * v.a, (Vector<double>{6, 8}));
  v.b *= 5.0;
  EXPECT_EQ(v.b, (Vector<double>{0, 5}));
  EXPECT_TRUE(v.b <= v.a && one < v.a && (v.a <=> v.b) == 0 && v.a != v.b);
  // What would refer to a value that was read is a copy of it.
  static_assert(std::same_as<decltype(v.a | one), Vector<double>>);
  EXPECT_EQ(v.a | one, (Vector<double>{3, 4}));
}

TEST(RefTypes, of_aggregates_are_assigned_lists) {
  struct Pair {
    int first;
    int second;
  };
  const Two<Pair> p;
  const Two<int> i;
  p.a = {0, 2};
  EXPECT_EQ(Pair(p.a).second, 2);
  p.a = {};
  EXPECT_EQ(Pair(p.a).second, 0);
  i.a = {7};
  i.a += {1};
  EXPECT_EQ(i.a, 8);
}

TEST(RefTypes, of_enumerations_are_combined_compared_and_cast) {
  const Two<Access> access;
  access.a = Access::kRead;
  access.b = access.a | Access::kWrite;
  EXPECT_TRUE(access.b == Access::kBoth && access.a < access.b);
  EXPECT_EQ(static_cast<int>(access.b), 3);
  EXPECT_EQ(static_cast<double>(access.b), 3.0);
  switch (access.b) {
    case Access::kBoth: break;
    default: ADD_FAILURE();
  }
  static_assert(!std::is_convertible_v<Ref<Access>, int>);

  const Two<Color> color;
  color.a = kBlue;
  EXPECT_EQ(color.a + 1, 3);
  EXPECT_EQ(color.a | kGreen, 3);
  static_assert(std::same_as<decltype(color.a + 1), decltype(kBlue + 1)>);
  static_assert(!std::is_assignable_v<Ref<Color>, int>);
}

TEST(RefTypes, of_pointers_are_followed_and_moved) {
  Money all[3] = {Money(1), Money(2), Money(3)};
  const spread_array<Money*> pointers(procs());
  const auto p = pointers[my_proc()];  // an address of this process
  p = all;
  EXPECT_EQ(p->cents, 1);
  EXPECT_EQ((*p).cents, 1);
  EXPECT_EQ(p[2].cents, 3);
  EXPECT_EQ(p + 1, all + 1);
  ++p;
  p += 1;
  EXPECT_EQ(p - all, 2);
  EXPECT_TRUE(p > all && p != nullptr && p && !(p == 0));
  p = nullptr;
  EXPECT_TRUE(!p);
}

TEST(RefTypes, of_global_pointers_are_followed_and_moved) {
  const spread_array<int> numbers(2 * procs(), blocked);
  const spread_array<global_ptr<int>> pointers(procs());
  const auto p = pointers[(my_proc() + 1) % procs()];
  p = numbers.on(my_proc());
  *p = 5;
  p[1] = 6;
  EXPECT_EQ(*(p + 1), 6);
  EXPECT_EQ(*p++, 5);
  EXPECT_EQ(*p, 6);
  EXPECT_EQ(p - numbers.on(my_proc()), 1);
  EXPECT_TRUE(p == numbers.on(my_proc()) + 1 && p);
}

TEST(RefTypes, of_arrays_give_copies_of_their_elements) {
  const Two<std::array<double, 3>> rows;
  rows.a = {1, 2, 3};
  EXPECT_EQ(rows.a[2], 3.0);
  // A reference would be to a copy, and an assignment to it lost.
  static_assert(std::same_as<decltype(rows.a[2]), double>);
}

TEST(RefTypes, convert_to_what_their_values_convert_to) {
  const Two<int> i;
  const Two<std::int8_t> small;
  const double more = 7.9;
  i.a = more;  // as int x = more
  EXPECT_EQ(i.a, 7);
  const double d = i.a;
  EXPECT_EQ(d, 7.0);
  small.a = i.a + 250;  // 257, of which an int8_t holds the last byte
  EXPECT_EQ(small.a, 1);
  small.b = i.a;
  EXPECT_EQ(small.b, 7);
  const int numbers[] = {0, 10, 20, 30, 40, 50, 60, 70};
  EXPECT_EQ(numbers[i.a], 70);
  switch (i.a) {
    case 7: break;
    default: ADD_FAILURE();
  }
  EXPECT_EQ(true ? i.a : 0.5, 7.0);
  struct {
    unsigned three : 2 = 3;
  } bits;
  i.a += bits.three;
  EXPECT_EQ(i.a - bits.three, 7);
}

TEST(RefTypes, are_written_to_streams_and_read_from_them) {
  const Two<int> i;
  const Two<char> c;
  const Two<Complex> z;
  const Two<bool> b;
  i.a = 42;
  c.a = 'x';
  z.a = {1, -2};
  b.a = true;
  std::ostringstream out;
  out << i.a << c.a << z.a << b.a;
  EXPECT_EQ(out.str(), "42x(1,-2)1");
  std::istringstream in("17 y (3,4) not-a-number");
  in >> i.a >> c.a >> z.a;
  EXPECT_TRUE(in.good());
  EXPECT_EQ(i.a, 17);
  EXPECT_EQ(c.a, 'y');
  EXPECT_EQ(Complex(z.a), Complex(3, 4));
  in >> i.a;
  EXPECT_TRUE(in.fail());
  EXPECT_EQ(i.a, 0);  // what a failed extraction writes
  i.a = 3;
  EXPECT_EQ(64 >> i.a, 8);  // a shift, which writes nothing
  EXPECT_EQ(i.a, 3);
}

TEST(RefTypes, are_swapped_by_value) {
  const Two<int> i;
  i.a = 1;
  i.b = 2;
  swap(i.a, i.b);
  EXPECT_TRUE(i.a == 2 && i.b == 1);
  {
    using std::swap;
    swap(i.a, i.b);
  }
  EXPECT_TRUE(i.a == 1 && i.b == 2);
  swap(i.memory[(my_proc() + 1) % procs() * 2], i.b);
  EXPECT_TRUE(i.a == 2 && i.b == 1);
  int local = 3;
  swap(i.a, local);
  swap(local, i.b);
  EXPECT_TRUE(i.a == 3 && i.b == 2 && local == 1);
}

// --- What must not compile

template <class A, class B>
concept StdSwaps = requires(A a, B b) {
  std::swap(a, b);
};
// It would keep a reference where it means a value, as std::exchange would, which moves as well.
static_assert(StdSwaps<int, int> && !StdSwaps<global_ref<int>, global_ref<int>>);
static_assert(!std::is_move_constructible_v<global_ref<int>>);

template <class X>
concept Printed = requires(X x) {
  printf("%d", x);
};
template <class X>
concept PrintedByAnything = requires(X x, char* to) {
  std::printf("%d", x);
}
|| requires(X x, char* to) { ::printf("%d", x); }
|| requires(X x, char* to) { std::fprintf(stdout, "%d %d", 1, x); }
|| requires(X x, char* to) { std::snprintf(to, 1, "%d", x); }
|| requires(X x, char* to) { std::sprintf(to, "%d", x); };
static_assert(Printed<int> && PrintedByAnything<int>);
static_assert(!Printed<global_ref<int>> && !PrintedByAnything<global_ref<int>>);
static_assert(!Printed<Ref<double>> && !PrintedByAnything<Ref<double>>);
// Of other functions with `...` compilers refuse, or warn of, what is not copied byte by byte.
static_assert(!std::is_trivially_copy_constructible_v<global_ref<int>>);

template <class X>
concept Changes = requires(Ref<X> r) {
  r += 1;
}
|| requires(Ref<X> r) { ++r; }
|| requires(Ref<X> r) { r--; }
|| requires(Ref<X> r) { r <<= 1; };
static_assert(Changes<int> && !Changes<const int>);
static_assert(!std::is_assignable_v<Ref<const int>, int>);
static_assert(!std::is_assignable_v<Ref<const int>, Ref<const int>>);
static_assert(!std::is_assignable_v<Ref<const int>, Ref<double>>);
static_assert(std::is_convertible_v<Ref<const int>, int>);
// A list is a value, so no pair of numbers becomes a pointer and an index.
static_assert(!std::is_constructible_v<global_ref<int>, int, int>);
static_assert(sizeof(global_ref<Complex>) == 24 && sizeof(global_ref<Access>) == 24);

}  // namespace
