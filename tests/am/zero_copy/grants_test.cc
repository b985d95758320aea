#include "am/zero_copy/grants.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

namespace am::zero_copy {
namespace {

constexpr GrantName kName{.rank = 3, .slot = 7, .generation = 2};
constexpr link::RemoteKey kKey{.base = 4096, .key = 99};

// Notes that it has ended.
struct Registered : link::Registration {
  explicit Registered(bool& ended) : Registration({}, kKey), ended(ended) {}
  ~Registered() override { ended = true; }
  void revoke() noexcept override {}
  bool& ended;
};

TEST(Grants, are_of_one_generation_of_one_buffer) {
  Grants grants;
  grants.keep(kName, kKey);
  EXPECT_FALSE(grants.use({3, 7, 1}));
  EXPECT_FALSE(grants.use({3, 8, 2}));
  EXPECT_FALSE(grants.use({2, 7, 2}));
  const auto key = grants.use(kName);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->key, kKey.key);
}

// The owner registers the buffer again while the old key is in use, and ends that as well.
TEST(Grants, are_returned_as_often_as_they_were_asked_for) {
  Grants grants;
  grants.keep(kName, kKey);
  ASSERT_TRUE(grants.use(kName));
  EXPECT_FALSE(grants.revoke(kName));
  grants.keep(kName, {.base = 8192, .key = 100});
  EXPECT_FALSE(grants.use(kName)) << "the old key has not been given back";
  EXPECT_FALSE(grants.revoke(kName));
  EXPECT_EQ(grants.release(kName), 2u);
  EXPECT_EQ(grants.size(), 0u);
}

TEST(Grants, that_nobody_uses_are_returned_at_once) {
  Grants grants;
  EXPECT_TRUE(grants.revoke(kName)) << "it was never here";
  grants.keep(kName, kKey);
  EXPECT_TRUE(grants.revoke(kName));
  EXPECT_FALSE(grants.use(kName));
  EXPECT_EQ(grants.size(), 0u);
}

TEST(Grants, in_use_are_returned_after_the_last_access_and_serve_no_new_one) {
  Grants grants;
  grants.keep(kName, kKey);
  EXPECT_TRUE(grants.use(kName));
  EXPECT_TRUE(grants.use(kName));
  EXPECT_FALSE(grants.revoke(kName));
  EXPECT_FALSE(grants.use(kName));
  EXPECT_FALSE(grants.release(kName));
  EXPECT_TRUE(grants.release(kName));
  EXPECT_EQ(grants.size(), 0u);
}

// Each is returned once, and never while it is used.
TEST(Grants, of_many_buffers_at_random) {
  std::mt19937 random(1);
  Grants grants;
  struct Model {
    bool held = false, asked = false;
    int uses = 0;
  };
  std::map<std::uint32_t, Model> model;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint32_t slot = random() % 5;
    const GrantName name{1, slot, 1};
    Model& m = model[slot];
    switch (random() % 4) {
      case 0:
        if (m.held) break;
        grants.keep(name, kKey);
        m = {.held = true};
        break;
      case 1: {
        const bool expected = m.held && !m.asked;
        ASSERT_EQ(grants.use(name).has_value(), expected);
        m.uses += expected;
        break;
      }
      case 2:
        if (m.uses == 0) break;
        --m.uses;
        ASSERT_EQ(grants.release(name), m.asked && m.uses == 0 ? 1u : 0u);
        if (m.asked && m.uses == 0) m = {};
        break;
      case 3:
        if (m.asked) break;
        ASSERT_EQ(grants.revoke(name), m.uses == 0);
        if (m.uses == 0) {
          m = {};
        } else {
          m.asked = true;
        }
    }
  }
}

TEST(LentKeys, keep_a_registration_until_all_holders_have_returned_its_key) {
  bool ended = false;
  LentKeys lent;
  lent.retire(7, 2, 2, std::make_shared<Registered>(ended));
  lent.returned(7, 1);
  lent.returned(8, 2);
  lent.returned(7, 2);
  EXPECT_FALSE(ended);
  lent.returned(7, 2);
  EXPECT_TRUE(ended);
  EXPECT_EQ(lent.size(), 0u);
  lent.returned(7, 2);  // of nothing: ignored
}

}  // namespace
}  // namespace am::zero_copy
