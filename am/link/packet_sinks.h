#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "am/link/link.h"
#include "am/link/packet.h"
#include "am/types/forked.h"

namespace am::link {

// Who takes packets of some types.
//
// Thread rule: the link's.
class TypeSink {
 public:
  // False: the packet is damaged. What this throws leaves Link::poll(), see PacketSink.
  virtual bool take(Rank from, const PacketHeader& packet) = 0;
  // Whether Link::fetch() shall leave it to poll(), as it may run a handler.
  virtual bool keeps(const PacketHeader&) const noexcept { return false; }

 protected:
  ~TypeSink() = default;
};

// Who takes the words of puts that have arrived.
class WordSink {
 public:
  // False: this process has given that word to nobody.
  virtual bool arrived(std::uint64_t word) = 0;

 protected:
  ~WordSink() = default;
};

// Distributes what comes from the network. The rooms above register for what is theirs, once,
// before the first poll; so nobody below knows them.
class PacketSinks final : public PacketSink {
 public:
  // `refuse` ends the job for a packet that is damaged, or that nobody takes; it does not return.
  explicit PacketSinks(std::function<void(Rank from, const PacketHeader& packet)> refuse)
      : refuse_(std::move(refuse)) {}

  // `sink` lives as long as packets come.
  void add(Type type, TypeSink& sink) noexcept { by_type_[static_cast<std::size_t>(type)] = &sink; }
  void add(WordSink& sink) noexcept { words_ = &sink; }

  void deliver(Rank from, const PacketHeader& packet) override {
    TypeSink* const sink = find(packet);
    if (sink == nullptr || !sink->take(from, packet)) [[unlikely]]
      refuse_(from, packet);
    if (is_forked()) [[unlikely]]
      end_forked("the end of a handler");
  }
  bool arrived(std::uint64_t word) override { return words_ != nullptr && words_->arrived(word); }
  bool keeps(const PacketHeader& packet) const noexcept override {
    const TypeSink* const sink = find(packet);
    return sink != nullptr && sink->keeps(packet);
  }

 private:
  TypeSink* find(const PacketHeader& packet) const noexcept {
    const auto type = static_cast<std::size_t>(packet.type);
    return type < by_type_.size() ? by_type_[type] : nullptr;
  }

  const std::function<void(Rank, const PacketHeader&)> refuse_;
  std::array<TypeSink*, kTypes> by_type_{};
  WordSink* words_ = nullptr;
};

// A packet that ends with data, or one that is as long as all of its kind. nullptr: it is not.
template <class Packet>
const Packet* as(const PacketHeader& head) noexcept {
  return head.bytes >= sizeof(Packet) ? reinterpret_cast<const Packet*>(&head) : nullptr;
}
template <class Packet>
const Packet* as_exactly(const PacketHeader& head) noexcept {
  return head.bytes == sizeof(Packet) ? reinterpret_cast<const Packet*>(&head) : nullptr;
}

}  // namespace am::link
