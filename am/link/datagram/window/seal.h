#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace am::link::window {

// A universal hash: NH of UMAC and VMAC (RFC 4418), over words of 64 bits. For two different
// messages of one length the chance that a random key gives both the same value is 2^-64. The value
// must not be shown to anybody, nor hashes of different lengths be compared: it is put through a
// function with a key together with the length (seal.h).
//
// Why: SipHash takes 1.3 cycles a byte, this one 0.2: a multiplication for 16 bytes.
class UniversalHash {
 public:
  using Value = unsigned __int128;

  // `key` has as many random words as the longest message, an even number.
  explicit UniversalHash(std::vector<std::uint64_t> key) noexcept : key_(std::move(key)) {}

  std::size_t most_bytes() const noexcept { return key_.size() * kWord; }

  // `bytes`: at most most_bytes(). What is missing to a pair of words counts as zero.
  Value operator()(std::span<const std::byte> bytes) const noexcept {
    const std::byte* at = bytes.data();
    const std::uint64_t* key = key_.data();
    // Two sums, which do not wait for each other.
    Value even = 0;
    Value odd = 0;
    std::size_t left = bytes.size();
    for (; left >= 4 * kWord; left -= 4 * kWord, at += 4 * kWord, key += 4) {
      std::uint64_t word[4];
      std::memcpy(word, at, sizeof word);
      even += product(word[0] + key[0], word[1] + key[1]);
      odd += product(word[2] + key[2], word[3] + key[3]);
    }
    for (; left != 0; at += 2 * kWord, key += 2) {
      const std::size_t some = std::min(left, 2 * kWord);
      std::uint64_t word[2] = {};
      std::memcpy(word, at, some);
      even += product(word[0] + key[0], word[1] + key[1]);
      left -= some;
    }
    return even + odd;
  }

 private:
  static constexpr std::size_t kWord = sizeof(std::uint64_t);

  static Value product(std::uint64_t a, std::uint64_t b) noexcept { return Value{a} * b; }

  std::vector<std::uint64_t> key_;
};

// A keyed checksum of 64 bits. Without the key it can be made, or what it covers changed, only by
// trying 2^64 times.
//
// What is long goes through a universal hash first, where there is one, but for its first kHead
// bytes: the function is of these, the values of the hash, one for each kBlock bytes, and the
// length. So its cost is that of a short message, and the hash's. The hash's key, which is the same
// for all blocks and so stays small, is made of this one by the function.
//
// Pure. Cost: SipHash-2-4 takes about 1.3 cycles a byte, the universal hash 0.2.
class Seal {
 public:
  // libsodium's crypto_shorthash_siphash24, or one with its signature. Returns 0.
  using Function = int (*)(unsigned char* out, const unsigned char* in, unsigned long long bytes,
                           const unsigned char* key);
  using Key = std::array<unsigned char, 16>;

  Seal(Function function, const Key& key) noexcept : function_(function), key_(key) {}
  // With a universal hash, for messages of about `most_bytes`.
  Seal(Function function, const Key& key, std::size_t most_bytes) : Seal(function, key) {
    std::vector<std::uint64_t> words(2 * ((std::min(most_bytes, kBlock) + 15) / 16));
    for (std::uint64_t i = 0; i < words.size(); ++i) {
      words[i] = plain(std::as_bytes(std::span(&i, 1)));
    }
    hash_ = std::make_shared<const UniversalHash>(std::move(words));
  }

  const Key& key() const noexcept { return key_; }

  std::uint64_t operator()(std::span<const std::byte> bytes) const noexcept {
    if (hash_ == nullptr || bytes.size() <= kShort) return plain(bytes);
    const std::size_t block = hash_->most_bytes();
    if (bytes.size() > kHead + kMostBlocks * block) return plain(bytes);
    const std::uint64_t length = bytes.size();
    std::byte last[kHead + kMostBlocks * sizeof(UniversalHash::Value) + sizeof length + 1];
    std::byte* at = last;
    const auto add = [&at](const void* from, std::size_t size) {
      std::memcpy(at, from, size);
      at += size;
    };
    add(bytes.data(), kHead);
    for (auto rest = bytes.subspan(kHead); !rest.empty();) {
      const UniversalHash::Value value = (*hash_)(rest.first(std::min(rest.size(), block)));
      add(&value, sizeof value);
      rest = rest.subspan(std::min(rest.size(), block));
    }
    add(&length, sizeof length);
    *at++ = {};  // one byte more than a multiple of 8: of no length that a datagram has
    return plain({last, at});
  }

 private:
  static constexpr std::size_t kHead = 56;  // a datagram's header behind its seal
  static constexpr std::size_t kBlock = 2048;
  static constexpr std::size_t kMostBlocks = 32;
  static constexpr std::size_t kShort = 120;  // with so few bytes the function alone is as fast

  std::uint64_t plain(std::span<const std::byte> bytes) const noexcept {
    std::uint64_t result = 0;
    function_(reinterpret_cast<unsigned char*>(&result),
              reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), key_.data());
    return result;
  }

  Function function_;
  Key key_;
  std::shared_ptr<const UniversalHash> hash_ = nullptr;
};

}  // namespace am::link::window
