#include "am/job/bootstrap/packing.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "am/job/bootstrap/bootstrap.h"

namespace am {
namespace {

using Blob = std::vector<std::byte>;

std::vector<std::byte> pack(const std::vector<Blob>& blobs) {
  Packer packer;
  for (const Blob& blob : blobs) packer.add(blob);
  return packer.take();
}

void expect_returned(const std::vector<Blob>& blobs) {
  const auto text = pack(blobs);
  EXPECT_LE(text.size(), blobs.size() * Packer::kMaxPacked);
  const auto back = unpack(text, static_cast<std::uint32_t>(blobs.size()));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, blobs);
  EXPECT_FALSE(unpack(text, static_cast<std::uint32_t>(blobs.size()) + 1));
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    EXPECT_FALSE(unpack(std::span(text).first(bytes), static_cast<std::uint32_t>(blobs.size())));
  }
}

Blob filled(std::size_t bytes, int value) { return Blob(bytes, static_cast<std::byte>(value)); }

TEST(Packing, gives_back_blobs_of_all_sizes) {
  expect_returned({});
  expect_returned({{}});
  expect_returned({{}, filled(512, 1), {}, filled(512, 1), filled(511, 1), filled(1, 2)});
  expect_returned({filled(255, 1), filled(255, 1), filled(256, 1), filled(512, 1), filled(512, 2)});
}

// Differences of all densities: also those whose steps cost most.
TEST(Packing, gives_back_blobs_that_differ_in_some_bytes) {
  std::mt19937_64 random(1);
  for (unsigned every = 1; every <= 300; every += 1 + every / 8) {
    std::vector<Blob> blobs;
    for (int i = 0; i < 6; ++i) {
      Blob blob = i == 0 ? filled(512, 3) : blobs.back();
      blob.resize(random() % 4 == 0 ? random() % 513 : 512);
      for (std::byte& one : blob) {
        if (random() % every == 0) one = static_cast<std::byte>(random());
      }
      blobs.push_back(blob);
    }
    expect_returned(blobs);
  }
}

TEST(Packing, never_takes_more_than_it_says) {
  for (std::size_t period = 1; period <= 9; ++period) {
    Blob other = filled(512, 0);
    for (std::size_t at = 0; at < other.size(); at += period) other[at] = std::byte{1};
    const std::vector<Blob> blobs = {filled(512, 0), other};
    EXPECT_LE(pack(blobs).size() - pack({blobs[0]}).size(), Packer::kMaxPacked) << period;
    expect_returned(blobs);
  }
}

TEST(Packing, equal_blobs_take_a_few_bytes) {
  const auto one = pack({filled(216, 7)});
  EXPECT_EQ(pack(std::vector<Blob>(1001, filled(216, 7))).size(), one.size() + 1000 * 4);
}

TEST(Packing, refuses_what_nobody_packs) {
  const auto refused = [](std::initializer_list<int> text) {
    Blob bytes;
    for (const int one : text) bytes.push_back(static_cast<std::byte>(one));
    return !unpack(bytes, 1);
  };
  EXPECT_FALSE(refused({1, 0, 0, 1, 9}));
  EXPECT_TRUE(refused({1, 0, 1, 0}));           // as before, where nothing was
  EXPECT_TRUE(refused({1, 0, 0, 0, 0, 1, 9}));  // a step that brings nothing
  EXPECT_TRUE(refused({1, 0, 0, 2, 9, 9}));     // too many
  EXPECT_TRUE(refused({1, 2, 0, 1, 9}));        // 513 bytes
  EXPECT_TRUE(refused({1, 0, 0, 1, 9, 9}));     // more behind it
}

}  // namespace
}  // namespace am
