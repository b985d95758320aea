#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include "examples/containers/owner.h"
#include "splitc/splitc.h"

namespace containers {

// A hash table over all processes: each key is kept by one of them, owner(key).
//
//   distributed_map<std::uint64_t, double> weights;            // collective
//   weights.insert(7, 0.5).wait();
//   std::optional<double> w = weights.find(7).result();
//   weights.visit(7, [](double& x, double by) { return x *= by; }, 3.0).wait();
//   for (auto [k, v] : mine) weights.async_insert(k, v);       // many
//   weights.quiesce();                                         // collective: all are in it
//   weights.for_all([](std::uint64_t k, double& v) { ... });   // those kept here
//
//   call                            collective   done, and visible to all    cost, another process
//   construction, destruction       yes          on return                   a barrier
//   insert, find, visit, erase      no           when the future is ready    an rpc(): round trip
//   async_insert                    no           after quiesce()             a few ns, in blocks
//   async_visit                     no           after quiesce()             an rpc_ff(): a message
//   quiesce                         yes          on return                   a barrier
//   size                            yes          on return                   a reduction
//   for_all                         no           on return                   none: local
//
// A call for a key of this process is done before it returns. All calls for one key are applied one
// at a time, in no order that is said, except that a process that has waited for one starts the
// next afterwards. Functions given to visit() and async_visit() run in a poll of the owner: they
// may not wait, nor use this map. for_all() and size() see a table that is at rest only behind
// quiesce(), or a barrier() when all futures are ready.
//
// Key and Value are trivially copyable, without addresses, and Hash gives the same everywhere.
// Thread rule and errors are those of rpc() (splitc/rpc/rpc.h).
template <class Key, class Value, class Hash = std::hash<Key>>
class distributed_map {
 public:
  using Part = std::unordered_map<Key, Value, Hash>;

  std::uint32_t owner(const Key& key) const { return owner_of(Hash()(key)); }

  // Sets the value of `key`. The future says whether there was none before.
  splitc::future<bool> insert(const Key& key, const Value& value) {
    return splitc::rpc(owner(key), Put(), part_, Entry{key, value});
  }
  // Its value, if it has one.
  splitc::future<std::optional<Value>> find(const Key& key) const {
    return splitc::rpc(
        owner(key),
        [](const Part& part, const Key& k) {
          const auto found = part.find(k);
          return found != part.end() ? std::optional<Value>(found->second) : std::nullopt;
        },
        part_, key);
  }
  // Calls f(value, args...), where `value` is the Value& of `key`, made by Value() if there is
  // none. The future has what f returns.
  template <class F, class... Args>
  auto visit(const Key& key, F f, const Args&... args) {
    return splitc::rpc(owner(key), Visit(), part_, key, f, args...);
  }
  // The future says whether it had a value.
  splitc::future<bool> erase(const Key& key) {
    return splitc::rpc(
        owner(key), [](Part& part, const Key& k) { return part.erase(k) == 1; }, part_, key);
  }

  void async_insert(const Key& key, const Value& value) { inserts_.send(owner(key), {key, value}); }
  template <class F, class... Args>
  void async_visit(const Key& key, F f, const Args&... args) {
    splitc::rpc_ff(owner(key), Visit(), part_, key, f, args...);
  }
  // Returns when everything asynchronous that any process has called is done.
  void quiesce() { inserts_.flush_all(); }

  // Calls f(key, value), with a const Key& and a Value&, for all that this process keeps. f may not
  // wait, as what others do meanwhile would change the table under the loop.
  template <class F>
  void for_all(F f) {
    for (auto& [key, value] : *part_) f(key, value);
  }
  // How many keys there are in all processes.
  std::uint64_t size() const {
    return splitc::all_reduce(static_cast<std::uint64_t>(part_->size()), std::plus());
  }

 private:
  struct Entry {
    Key key;
    Value value;
  };
  struct Put {
    bool operator()(Part& part, const Entry& entry) const {
      return part.insert_or_assign(entry.key, entry.value).second;
    }
  };
  struct Visit {
    template <class F, class... Args>
    requires std::is_invocable_v<F&, Value&, Args&...>
    decltype(auto) operator()(Part& part, const Key& key, F& f, Args&... args) const {
      return f(part[key], args...);
    }
  };

  splitc::dist_object<Part> part_;
  splitc::aggregator<Entry, Part, Put> inserts_{part_, Put()};
};

}  // namespace containers
