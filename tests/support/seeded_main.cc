#include <gtest/gtest.h>

#include "tests/support/seed.h"

int main(int argc, char** argv) {
  const auto given = test::take_seed(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  test::set_seed(given.value_or(test::kUsualSeed));
  return RUN_ALL_TESTS();
}
