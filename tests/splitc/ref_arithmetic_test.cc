// What plain C++ would warn of is compared as well, also inside the library.
#pragma GCC diagnostic ignored "-Wsign-compare"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wbitwise-instead-of-logical"
#else
#pragma GCC diagnostic ignored "-Wbool-compare"
#endif
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"

#include <gtest/gtest.h>

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/nodes.h"

// Every operator on references to numbers of every type, against the same operator on the numbers:
// whether it compiles, the type of its result, its value, and what it leaves in memory.

namespace {

using namespace splitc;

template <class... T>
struct Types {};
using Numbers = Types<bool, char, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                      std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;

template <class Visit, class... T>
void for_each(Types<T...>, Visit visit) {
  (visit(T()), ...);
}

// Operators as functions, which exist where the operator does.
#define BINARY(Name, op)                                      \
  struct Name {                                               \
    static constexpr const char* sign = #op;                  \
    template <class L, class R>                               \
    auto operator()(L&& l, R&& r) const -> decltype(l op r) { \
      return l op r;                                          \
    }                                                         \
  };
BINARY(Plus, +)
BINARY(Minus, -)
BINARY(Times, *)
BINARY(Over, /)
BINARY(Modulo, %)
BINARY(And, &)
BINARY(Or, |)
BINARY(Xor, ^)
BINARY(Left, <<)
BINARY(Right, >>)
BINARY(Equal, ==)
BINARY(Unequal, !=)
BINARY(Less, <)
BINARY(Greater, >)
BINARY(LessEqual, <=)
BINARY(GreaterEqual, >=)
BINARY(Compare, <=>)
BINARY(LogicalAnd, &&)
BINARY(LogicalOr, ||)
BINARY(Assign, =)
BINARY(AddTo, +=)
BINARY(SubtractFrom, -=)
BINARY(MultiplyBy, *=)
BINARY(DivideBy, /=)
BINARY(ModuloBy, %=)
BINARY(AndWith, &=)
BINARY(OrWith, |=)
BINARY(XorWith, ^=)
BINARY(LeftBy, <<=)
BINARY(RightBy, >>=)
#undef BINARY
using Binary = Types<Plus, Minus, Times, Over, Modulo, And, Or, Xor, Left, Right, Equal, Unequal,
                     Less, Greater, LessEqual, GreaterEqual, Compare, LogicalAnd, LogicalOr>;
using Assigning = Types<Assign, AddTo, SubtractFrom, MultiplyBy, DivideBy, ModuloBy, AndWith,
                        OrWith, XorWith, LeftBy, RightBy>;
#define UNARY(Name, expression)                            \
  struct Name {                                            \
    static constexpr const char* sign = #expression;       \
    template <class X>                                     \
    auto operator()(X&& x) const -> decltype(expression) { \
      return expression;                                   \
    }                                                      \
  };
UNARY(Identity, +x)
UNARY(Negate, -x)
UNARY(Complement, ~x)
UNARY(Not, !x)
#undef UNARY
// A bool has none of these. (That is said here, as clang 14 takes them for errors.)
#define STEP(Name, expression)                                                         \
  struct Name {                                                                        \
    static constexpr const char* sign = #expression;                                   \
    template <class X>                                                                 \
    requires(!std::same_as<std::remove_cvref_t<X>, bool>) auto operator()(X&& x) const \
        -> decltype(expression) {                                                      \
      return expression;                                                               \
    }                                                                                  \
  };
STEP(Increment, ++x)
STEP(Decrement, --x)
STEP(IncrementAfter, x++)
STEP(DecrementAfter, x--)
#undef STEP
using Unary = Types<Identity, Negate, Complement, Not>;
using Steps = Types<Increment, Decrement, IncrementAfter, DecrementAfter>;

// --- At compile time

// (std::is_invocable and std::invoke_result say the same, and this file takes half as long again to
// compile with them.)
template <class Op, class... Operands>
concept Exists = requires {
  Op()(std::declval<Operands>()...);
};
template <class Op, class... Operands>
using Result = decltype(Op()(std::declval<Operands>()...));

// The operator exists for references where it exists for numbers, and its result has the same type.
template <class Op, class T, class X>
constexpr bool binary_agrees() {
  using Ref = const global_ref<T>&;
  using Other = const global_ref<X>&;
  constexpr bool exists = Exists<Op, T&, X&>;
  if constexpr (Exists<Op, Ref, X&> != exists || Exists<Op, T&, Other> != exists ||
                Exists<Op, Ref, Other> != exists) {
    return false;
  } else if constexpr (!exists) {
    return true;
  } else {
    using Plain = Result<Op, T&, X&>;
    return std::same_as<Plain, Result<Op, Ref, X&>> && std::same_as<Plain, Result<Op, T&, Other>> &&
           std::same_as<Plain, Result<Op, Ref, Other>>;
  }
}
// An assignment gives the reference back, as it gives a T& for a T.
template <class Op, class T, class X>
constexpr bool assigning_agrees() {
  using Ref = const global_ref<T>&;
  using Other = const global_ref<X>&;
  constexpr bool exists = Exists<Op, T&, X&>;
  if constexpr (Exists<Op, Ref, X&> != exists || Exists<Op, T&, Other> != exists ||
                Exists<Op, Ref, Other> != exists) {
    return false;
  } else if constexpr (!exists) {
    return true;
  } else {
    return std::same_as<Ref, Result<Op, Ref, X&>> && std::same_as<Ref, Result<Op, Ref, Other>> &&
           !Exists<Op, const global_ref<const T>&, X&>;
  }
}
template <class Op, class T>
constexpr bool unary_agrees() {
  using Ref = const global_ref<T>&;
  constexpr bool exists = Exists<Op, T&>;
  if constexpr (Exists<Op, Ref> != exists) return false;
  if constexpr (!exists) {
    return true;
  } else if constexpr (std::same_as<T&, Result<Op, T&>>) {
    return std::same_as<Ref, Result<Op, Ref>>;
  } else {
    return std::same_as<Result<Op, T&>, Result<Op, Ref>>;
  }
}

template <class T, class... X, class... Op>
constexpr bool all_binary_agree(Types<X...>, Types<Op...>) {
  constexpr auto agree = []<class O>(O) { return (binary_agrees<O, T, X>() && ...); };
  return (agree(Op()) && ...);
}
template <class T, class... X, class... Op>
constexpr bool all_assigning_agree(Types<X...>, Types<Op...>) {
  constexpr auto agree = []<class O>(O) { return (assigning_agrees<O, T, X>() && ...); };
  return (agree(Op()) && ...);
}
template <class T, class... Op>
constexpr bool all_unary_agree(Types<Op...>) {
  return (unary_agrees<Op, T>() && ...);
}
template <class... T>
constexpr bool all_agree(Types<T...> numbers) {
  return (all_binary_agree<T>(numbers, Binary()) && ...) &&
         (all_assigning_agree<T>(numbers, Assigning()) && ...) &&
         (all_unary_agree<T>(Unary()) && ...) && (all_unary_agree<T>(Steps()) && ...);
}
static_assert(all_agree(Numbers()));

// --- At run time, for some types of each kind: the rest would take minutes to compile

using Samples =
    Types<bool, std::int8_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, double>;

// Says that references differ from numbers in `t op x`.
void report(const char* op, double t, double x) {
  ADD_FAILURE() << "references differ in " << t << ' ' << op << ' ' << x;
}

// Values of T in an expression with an X: none that plain C++ leaves undefined.
template <class T, class X>
std::vector<T> values() {
  if (std::is_same_v<T, bool>) return {T(0), T(1)};
  std::vector<T> all = {T(0), T(7)};
  if (std::is_floating_point_v<T>) all.push_back(T(2.5));
  if (test::has_far_peers()) return all;
  if (std::is_signed_v<T> && std::is_signed_v<X>) all.push_back(T(-5));
  if (std::is_integral_v<T> && std::is_integral_v<X>) all.push_back(T(100));
  return all;
}
template <class Op, class T, class X>
bool defined(T t, X x) {
  constexpr bool divides = std::same_as<Op, Over> || std::same_as<Op, Modulo> ||
                           std::same_as<Op, DivideBy> || std::same_as<Op, ModuloBy>;
  constexpr bool shifts = std::same_as<Op, Left> || std::same_as<Op, Right> ||
                          std::same_as<Op, LeftBy> || std::same_as<Op, RightBy>;
  if (divides && x == X(0)) return false;
  if (shifts) return x >= X(0) && x < X(8);
  // A negative number of a floating type becomes no unsigned one.
  return !(std::is_unsigned_v<T> && std::is_floating_point_v<X> && x > X(t));
}

// Elements of two types at the next process, to which only this one writes.
template <class T, class X>
struct Elements {
  const spread_array<T> first{procs()};
  const spread_array<X> second{procs()};
  const global_ref<T> a = first[(my_proc() + 1) % procs()];
  const global_ref<X> b = second[(my_proc() + 1) % procs()];
};

template <class Op, class T, class X>
void expect_binary(const global_ref<T>& a, const global_ref<X>& b, T t, X x) {
  if constexpr (Exists<Op, T&, X&>) {
    if (!defined<Op>(t, x)) return;
    const auto plain = Op()(t, x);
    if (Op()(a, x) != plain || Op()(t, b) != plain || Op()(a, b) != plain) {
      report(Op::sign, static_cast<double>(t), static_cast<double>(x));
    }
  }
}

template <class Op, class T, class X>
void expect_assigning(const global_ref<T>& a, const global_ref<X>& b, T t, X x) {
  if constexpr (Exists<Op, T&, X&>) {
    if (!defined<Op>(t, x)) return;
    T plain = t;
    Op()(plain, x);
    a = t;
    const bool same = &Op()(a, x) == &a && T(a) == plain;
    a = t;
    Op()(a, b);
    if (!same || T(a) != plain) report(Op::sign, static_cast<double>(t), static_cast<double>(x));
  }
}

// Calls expect(a, b, t, x) for references of all types and all values; `a` and `b` hold t and x.
template <class Expect>
void for_each_pair(Expect expect) {
  for_each(Samples(), [&]<class T>(T) {
    for_each(Samples(), [&]<class X>(X) {
      const Elements<T, X> elements;
      for (const T t : values<T, X>()) {
        for (const X x : values<X, T>()) {
          elements.a = t;
          elements.b = x;
          expect(elements.a, elements.b, t, x);
        }
      }
    });
  });
}

template <class T, class... Op>
void expect_unary(Types<Op...>) {
  const spread_array<T> all(procs());
  const auto a = all[(my_proc() + 1) % procs()];
  const auto expect = [&]<class O>(O op) {
    if constexpr (Exists<O, T&>) {
      for (const T t : values<T, T>()) {
        T plain = t;
        a = t;
        const T plain_result = static_cast<T>(op(plain));
        ASSERT_EQ(static_cast<T>(op(a)), plain_result) << O::sign << " with x = " << +t;
        ASSERT_EQ(T(a), plain) << O::sign << " with x = " << +t;
      }
    }
  };
  (expect(Op()), ...);
}

TEST(RefArithmetic, has_the_values_that_numbers_have) {
  for_each_pair([]<class T, class X>(const global_ref<T>& a, const global_ref<X>& b, T t, X x) {
    for_each(Binary(), [&]<class Op>(Op) { expect_binary<Op, T, X>(a, b, t, x); });
  });
}

TEST(RefArithmetic, assigns_what_numbers_assign) {
  for_each_pair([]<class T, class X>(const global_ref<T>& a, const global_ref<X>& b, T t, X x) {
    for_each(Assigning(), [&]<class Op>(Op) { expect_assigning<Op, T, X>(a, b, t, x); });
  });
}

TEST(RefArithmetic, of_one_operand_is_that_of_numbers) {
  for_each(Numbers(), []<class T>(T) {
    expect_unary<T>(Unary());
    expect_unary<T>(Steps());
  });
}

}  // namespace
