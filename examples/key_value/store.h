#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>

#include "examples/containers/owner.h"
#include "examples/key_value/value.h"
#include "splitc/splitc.h"

namespace key_value {

// A hash table over all processes, each of which keeps a part of the keys and serves the requests
// for them whenever it polls. (containers/hash_map.h is the same for values whose size is known
// when the program is compiled.)
//
//   Store store;                                       // collective
//   const std::uint64_t nth = store.put(7, words).result();
//   const Words found = store.get(7).result();
//   store.update(7, [](std::span<std::uint64_t> words, int by) { words[2] += by; }, 5).wait();
//
// Every call but put_one_way() costs a round trip, or nothing but the call if the key is kept here.
// Those for one key are applied one at a time; who has waited for one makes the next afterwards.
// Values and functions are copied before a call returns. Thread rule and errors are those of rpc().
class Store {
 public:
  // A value, and how many writes the key has seen: puts and updates.
  struct Record {
    std::uint64_t writes = 0;
    Words words = {};
  };

  // The number of writes, and behind it the value; nothing if the key has none.
  splitc::future<Words> get(Key key) const {
    return splitc::rpc(
        owner(key),
        [](const Part& part, Key k) {
          Words found;
          const auto at = part.find(k);
          if (at == part.end()) return found;
          found.reserve(1 + at->second.words.size());
          found.push_back(at->second.writes);
          found.insert(found.end(), at->second.words.begin(), at->second.words.end());
          return found;
        },
        part_, key);
  }
  // The future has the number of writes, this one included.
  splitc::future<std::uint64_t> put(Key key, std::span<const std::uint64_t> words) {
    return splitc::rpc(owner(key), Put(), part_, key, words);
  }
  // Calls f(words, args...) where the value is, with a std::span<std::uint64_t>; f may not wait.
  template <class F, class... Args>
  splitc::future<std::uint64_t> update(Key key, F f, const Args&... args) {
    return splitc::rpc(owner(key), Update(), part_, key, f, args...);
  }
  // A put that nobody confirms: all of them are done after quiesce().
  void put_one_way(Key key, std::span<const std::uint64_t> words) {
    splitc::rpc_ff(owner(key), Put(), part_, key, words);
  }

  // Calls f(key, record) for all that this process keeps. f may not wait.
  template <class F>
  void for_all(F f) const {
    for (const auto& [key, record] : *part_) f(key, record);
  }
  static std::uint32_t owner(Key key) { return containers::owner_of(std::hash<Key>()(key)); }

 private:
  using Part = std::unordered_map<Key, Record>;

  struct Put {
    std::uint64_t operator()(Part& part, Key key, std::span<const std::uint64_t> words) const {
      Record& record = part[key];
      record.words.assign(words.begin(), words.end());
      return ++record.writes;
    }
  };
  struct Update {
    template <class F, class... Args>
    requires std::is_invocable_v<F&, std::span<std::uint64_t>, Args&...> std::uint64_t operator()(
        Part& part, Key key, F& f, Args&... args) const {
      Record& record = part[key];
      f(std::span<std::uint64_t>(record.words), args...);
      return ++record.writes;
    }
  };

  splitc::dist_object<Part> part_;
};

}  // namespace key_value
