#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "am/link/datagram/window/seal.h"
#include "am/sodium/sodium.h"
#include "tests/support/seed.h"

namespace am::link::window {
namespace {

constexpr std::size_t kMost = 1472;

std::vector<std::byte> random_bytes(std::mt19937_64& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& one : bytes) one = static_cast<std::byte>(random());
  return bytes;
}

// As its definition says: the products of pairs of words, one after the other.
UniversalHash::Value slowly(const std::vector<std::byte>& bytes,
                            const std::vector<std::uint64_t>& key) {
  std::vector<std::byte> padded = bytes;
  padded.resize((bytes.size() + 15) / 16 * 16);
  UniversalHash::Value sum = 0;
  for (std::size_t i = 0; i < padded.size() / 8; i += 2) {
    std::uint64_t word[2];
    std::memcpy(word, padded.data() + 8 * i, sizeof word);
    sum += UniversalHash::Value{word[0] + key[i]} * (word[1] + key[i + 1]);
  }
  return sum;
}

TEST(UniversalHash, is_the_sum_of_the_products_of_pairs_of_words) {
  std::mt19937_64 random(::test::seed());
  std::vector<std::uint64_t> key(2 * ((kMost + 15) / 16));
  for (std::uint64_t& word : key) word = random();
  const UniversalHash hash(key);
  for (std::size_t bytes = 0; bytes <= kMost; ++bytes) {
    const std::vector<std::byte> message = random_bytes(random, bytes);
    EXPECT_TRUE(hash(message) == slowly(message, key)) << bytes << " bytes";
  }
}

Seal sip_seal(unsigned char first, std::size_t most = kMost) {
  return {Sodium::get().shorthash, Seal::Key{first, 2, 3}, most};
}

TEST(Seal, of_a_message_of_any_length_depends_on_every_bit) {
  std::mt19937_64 random(::test::seed());
  constexpr std::size_t kLongest = 65'504;
  const Seal seal = sip_seal(1, kLongest);
  for (const std::size_t bytes :
       {56U, 64U, 120U, 121U, 128U, 136U, 1024U, 1471U, 1472U, 2104U, 2105U, 6200U, 65'496U}) {
    std::vector<std::byte> message = random_bytes(random, bytes);
    const std::uint64_t right = seal(message);
    EXPECT_EQ(sip_seal(1, kLongest)(message), right);
    EXPECT_NE(sip_seal(7, kLongest)(message), right);
    const std::size_t step = bytes < 10'000 ? 1 : 97;
    for (std::size_t bit = 0; bit < 8 * bytes; bit += step) {
      message[bit / 8] ^= std::byte{1} << bit % 8;
      EXPECT_NE(seal(message), right) << "bit " << bit << " of " << bytes << " bytes";
      message[bit / 8] ^= std::byte{1} << bit % 8;
    }
  }
}

TEST(Seal, depends_on_how_long_the_message_is) {
  const Seal seal = sip_seal(1);
  std::vector<std::byte> zeros(kMost);
  std::uint64_t before = 0;
  for (std::size_t bytes = 56; bytes <= kMost; ++bytes) {
    const std::uint64_t now = seal(std::span(zeros).first(bytes));
    EXPECT_NE(now, before) << bytes << " bytes";
    before = now;
  }
}

TEST(Seal, of_a_longer_message_than_any_is_by_the_function_alone) {
  const std::vector<std::byte> message(100'000);
  EXPECT_EQ(sip_seal(1)(message), Seal(Sodium::get().shorthash, Seal::Key{1, 2, 3})(message));
}

// Two processes need not have datagrams of the same length.
TEST(Seal, of_what_both_sides_can_send_is_the_same_whatever_else_they_can) {
  std::mt19937_64 random(::test::seed());
  for (const std::size_t most : {576U, 1472U, 2040U, 2048U, 8968U}) {
    const std::vector<std::byte> message = random_bytes(random, most - 8);
    EXPECT_EQ(sip_seal(1, most)(message), sip_seal(1, 65'504)(message)) << most;
  }
}

}  // namespace
}  // namespace am::link::window
