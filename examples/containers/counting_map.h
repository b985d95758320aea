#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "examples/containers/owner.h"
#include "splitc/splitc.h"

namespace containers {

// How often each key has been added, by all processes together.
//
//   counting_map<std::string> words;                        // collective
//   for (std::string_view word : mine) words.async_add(word);
//   words.quiesce();                                        // collective: all have been counted
//   for (auto& [word, n] : words.top_k(10)) ...             // collective: on process 0
//
//   call                        collective   done               cost, another process
//   construction, destruction   yes          on return          a barrier
//   async_add                   no           after quiesce()    a look into a hash table, and each
//                                                               256 new keys a message
//   quiesce                     yes          on return          a barrier
//   count                       no           when the future    a round trip
//                                            is ready
//   for_all                     no           on return          none: the keys kept here
//   size                        yes          on return          a reduction
//   top_k                       yes          on return          k keys of each process to process 0
//
// What one process adds is added up before it travels: a key that is frequent costs little more
// than one that is not, and no process is flooded with it. count(), for_all(), size() and top_k()
// come behind quiesce().
//
// Key is std::string, or trivially copyable without addresses; Hash gives the same everywhere.
// Thread rule: the world's thread, outside handlers.
template <class Key, class Hash = std::hash<Key>>
class counting_map {
  static constexpr bool kText = std::is_same_v<Key, std::string>;

 public:
  using Count = std::int64_t;
  using View = std::conditional_t<kText, std::string_view, Key>;  // as keys are passed
  struct Counted {
    Key key;
    Count count;
  };

  std::uint32_t owner(const View& key) const { return owner_of(Hasher()(key)); }

  void async_add(const View& key, Count n = 1) {
    const std::uint32_t proc = owner(key);
    if (proc == splitc::my_proc()) return add(*counts_, key, n);
    add(waiting_[proc], key, n);
    if (waiting_[proc].size() == kTogether) send(proc);
  }
  void quiesce() {
    for (std::uint32_t proc = 0; proc < splitc::procs(); ++proc) {
      if (!waiting_[proc].empty()) send(proc);
    }
    splitc::quiesce();
  }

  // 0 for a key that nobody has added.
  splitc::future<Count> count(const View& key) const {
    return splitc::rpc(
        owner(key),
        [](const Counts& counts, const View& k) {
          const auto found = counts.find(k);
          return found != counts.end() ? found->second : Count{0};
        },
        counts_, key);
  }
  // Calls f(key, count) for all keys that this process keeps. f may not wait.
  template <class F>
  void for_all(F f) const {
    for (const auto& [key, count] : *counts_) f(key, count);
  }
  // How many different keys there are.
  std::uint64_t size() const {
    return splitc::all_reduce(static_cast<std::uint64_t>(counts_->size()), std::plus());
  }
  // The k keys with the highest counts, or all if there are fewer, for process 0: the highest
  // first, and of equal ones the least key. The others get nothing.
  std::vector<Counted> top_k(std::size_t k) const {
    std::vector<Counted> all;
    all.reserve(counts_->size());
    for (const auto& [key, count] : *counts_) all.push_back({key, count});
    keep_top(all, k);
    Packed packed;
    for (const Counted& one : all) packed.add(one.key, one.count);
    const auto fixed = to_process_0(std::span<const Fixed>(packed.fixed));
    const auto text = to_process_0(std::span<const char>(packed.text));
    all.clear();
    unpack(fixed.all(), {text.all().data(), text.all().size()}, [&](const View& key, Count count) {
      all.push_back({Key(key), count});
    });
    keep_top(all, k);
    return all;
  }

 private:
  static constexpr std::size_t kTogether = 256;

  // Finds strings by views of them.
  struct Hasher {
    using is_transparent = void;
    std::size_t operator()(const View& key) const {
      if constexpr (kText && std::is_same_v<Hash, std::hash<Key>>) {
        return std::hash<std::string_view>()(key);
      } else {
        return Hash()(key);
      }
    }
  };
  using Counts = std::unordered_map<Key, Count, Hasher, std::equal_to<>>;

  // As they travel: texts one behind the other, their lengths beside the counts.
  struct Fixed {
    std::conditional_t<kText, std::uint64_t, Key> key;
    Count count;
  };
  struct Packed {
    std::vector<Fixed> fixed;
    std::string text;
    void add(const Key& key, Count count) {
      if constexpr (kText) {
        fixed.push_back({key.size(), count});
        text += key;
      } else {
        fixed.push_back({key, count});
      }
    }
  };
  template <class F>
  static void unpack(std::span<const Fixed> fixed, [[maybe_unused]] std::string_view text, F f) {
    for (const Fixed& one : fixed) {
      if constexpr (kText) {
        f(text.substr(0, one.key), one.count);
        text.remove_prefix(one.key);
      } else {
        f(one.key, one.count);
      }
    }
  }

  static void add(Counts& counts, const View& key, Count n) {
    const auto found = counts.find(key);
    if (found != counts.end()) {
      found->second += n;
    } else {
      counts.emplace(Key(key), n);
    }
  }
  void send(std::uint32_t proc) {
    Packed packed;
    for (const auto& [key, count] : waiting_[proc]) packed.add(key, count);
    waiting_[proc].clear();
    splitc::rpc_ff(
        proc,
        [](Counts& counts, std::span<const Fixed> fixed, std::string_view text) {
          unpack(fixed, text, [&](const View& key, Count n) { add(counts, key, n); });
        },
        counts_, std::span<const Fixed>(packed.fixed), std::string_view(packed.text));
  }

  static void keep_top(std::vector<Counted>& all, std::size_t k) {
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(k, all.size()));
    std::partial_sort(all.begin(), end, all.end(), [](const Counted& a, const Counted& b) {
      return a.count != b.count ? a.count > b.count : a.key < b.key;
    });
    all.erase(end, all.end());
  }
  template <class T>
  static splitc::received_parts<T> to_process_0(std::span<const T> mine) {
    std::vector<std::size_t> counts(splitc::procs());
    counts[0] = mine.size();
    return splitc::all_to_all_varying(mine, std::span<const std::size_t>(counts));
  }

  splitc::dist_object<Counts> counts_;
  std::vector<Counts> waiting_ = std::vector<Counts>(splitc::procs());  // for each process
};

}  // namespace containers
