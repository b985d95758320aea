#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "splitc/splitc.h"

namespace containers {

// A set of keys over all processes that may take a key for a member that is none, but never the
// other way round; in a few bits a key.
//
//   bloom_filter<std::uint64_t> seen(1'000'000);            // collective; 16 bits a key
//   for (std::uint64_t k : keys) seen.async_insert(k);
//   seen.quiesce();                                         // collective: all are in it
//   if (seen.contains(k)) ...                               // maybe
//
//   call                        collective   done               cost, another process on
//                                                               this node       another node
//   construction, destruction   yes          on return          a barrier
//   insert                      no           after sync()       an atomic       many share packets
//   async_insert                no           after quiesce()    a few ns        the same; in blocks
//   quiesce                     yes          on return          a barrier
//   contains(key)               no           on return          a load          a round trip
//   contains(keys)              no           on return          a load each     few round trips
//   bits_set                    yes          on return          a reduction
//
// insert() and async_insert() may be mixed, also with contains(), which then sees some of them.
// insert() is the faster one on one node, async_insert() between nodes.
//
// All bits of a key are in one word of 64 bits, so that one atomic sets them and one read tests
// them (Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, 2007). When it
// has as many keys as it was made for, about 1 of 190 others is taken for a member, and at 8 bits a
// key 1 of 30: the price of the one word, as with bits anywhere it were 1 of 420, and of 42.
//
// Key is whatever Hash takes; Hash gives the same everywhere. Thread rule: the world's thread.
template <class Key, class Hash = std::hash<Key>>
class bloom_filter {
 public:
  explicit bloom_filter(std::size_t keys, std::size_t bits_per_key = 16)
      : words_(std::max<std::size_t>(1, (keys * bits_per_key + 63) / 64), splitc::blocked) {}

  void insert(const Key& key) {
    const Place place(key, words_.size());
    splitc::start_fetch_and_or(words_.pointer(place.word), place.bits);
  }
  void async_insert(const Key& key) {
    const Place place(key, words_.size());
    inserts_.send(words_.owner(place.word), {words_.local(place.word), place.bits});
  }
  void quiesce() { inserts_.flush_all(); }

  bool contains(const Key& key) const {
    const Place place(key, words_.size());
    const std::uint64_t word = words_[place.word];
    return (word & place.bits) == place.bits;
  }
  // 1 for each of `keys` that contains() is true of, else 0.
  std::vector<char> contains(std::span<const Key> keys) const {
    std::vector<std::uint64_t> words(keys.size());
    std::vector<char> result(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      splitc::get(words[i], words_[Place(keys[i], words_.size()).word]);
    }
    splitc::sync();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Place place(keys[i], words_.size());
      result[i] = (words[i] & place.bits) == place.bits;
    }
    return result;
  }
  // Of all bits, which are 64 in each word.
  std::uint64_t bits_set() const {
    std::uint64_t mine = 0;
    for (const std::uint64_t word : words_.mine()) mine += std::popcount(word);
    return splitc::all_reduce(mine, std::plus());
  }

 private:
  // Which word is that of a key, and which of its bits.
  struct Place {
    Place(const Key& key, std::size_t words) {
      std::uint64_t x = Hash()(key) * 0x9e3779b97f4a7c15;  // which may be the key itself
      x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
      x ^= x >> 32;
      constexpr int kBits = 4;
      for (int i = 0; i < kBits; ++i) bits |= std::uint64_t{1} << (x >> (6 * i) & 63);
      // Other bits of the hash, to a number below `words`.
      word = static_cast<std::size_t>(
          static_cast<unsigned __int128>(x * 0xbf58476d1ce4e5b9) * words >> 64);
    }
    std::size_t word;
    std::uint64_t bits = 0;
  };
  struct Update {
    std::size_t word;  // of those of the process
    std::uint64_t bits;
  };
  struct Part {
    std::span<std::uint64_t> words;
  };
  // An atomic, as insert() of other processes changes the same words.
  struct Set {
    void operator()(Part& part, const Update& update) const {
      splitc::fetch_and_or(splitc::toglobal(&part.words[update.word]), update.bits);
    }
  };

  splitc::spread_array<std::uint64_t> words_;
  splitc::dist_object<Part> part_{Part{words_.mine()}};
  splitc::aggregator<Update, Part, Set> inserts_{part_, Set()};
};

}  // namespace containers
