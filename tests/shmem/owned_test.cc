#include "shmem/owned.h"

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace shmem {
namespace {

struct Base {
  virtual ~Base() = default;
};
struct Counted : Base {
  explicit Counted(int& alive) noexcept : alive_(alive) { ++alive_; }
  Counted(const Counted&) = delete;
  ~Counted() override { --alive_; }
  int& alive_;
};

TEST(Owned, ends_once_whoever_has_it) {
  int alive = 0;
  {
    Owned<Counted> first(new Counted(alive));
    Owned<Base> second = std::move(first);
    EXPECT_TRUE(first == nullptr);
    second = Owned<Base>(new Counted(alive));
    EXPECT_EQ(alive, 1) << "what it owned has ended";
    const Owned<Base> third = std::make_unique<Counted>(alive);
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

TEST(Owned, what_is_released_is_not_ended) {
  int alive = 0;
  Owned<Counted> owned(new Counted(alive));
  const std::unique_ptr<Counted> released(owned.release());
  owned.reset();
  EXPECT_EQ(alive, 1);
}

TEST(Owned, an_array_is_no_object_and_an_object_no_array) {
  EXPECT_TRUE((std::is_constructible_v<Owned<Base>, std::unique_ptr<Counted>>));
  EXPECT_TRUE((std::is_constructible_v<Owned<int[]>, std::unique_ptr<int[]>>));
  EXPECT_FALSE((std::is_constructible_v<Owned<int>, Owned<int[]>>));
  EXPECT_FALSE((std::is_constructible_v<Owned<int>, std::unique_ptr<int[]>>));
  EXPECT_FALSE((std::is_convertible_v<Owned<int>, std::unique_ptr<int[]>>));
  EXPECT_TRUE((std::is_convertible_v<Owned<int>, std::unique_ptr<int>>));
  EXPECT_FALSE((std::is_constructible_v<Owned<int[]>, Owned<int>>));
  EXPECT_FALSE((std::is_constructible_v<Owned<int[]>, std::unique_ptr<int>>));
}

}  // namespace
}  // namespace shmem
