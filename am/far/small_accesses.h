#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "am/far/one_sided.h"
#include "am/far/tails.h"
#include "am/link/in_flight.h"
#include "am/link/link.h"
#include "am/table/sparse_table.h"
#include "am/types/object_pool.h"
#include "am/types/types.h"

namespace am {

class Router;

// Gets and puts of 1 to 8 bytes each, where an access by the network costs as much as a message:
// those that come in a row for one process share a packet, and are answered together. One alone
// goes by RMA, if there is any, which needs no poll of the other program.
//
// A row is one operation to its user: it has one completion, that of its first access.
//
// Thread rule: its callers are inside the port (am/route/port.h).
class SmallAccesses {
 public:
  static constexpr std::size_t kMost = sizeof(link::SmallStore::data);  // bytes of each

  SmallAccesses(Router& router, link::Link& link, OneSided& one_sided, Tails& tails);

  // Whether accesses of so many bytes are for this.
  bool takes(std::size_t bytes) const noexcept { return applies_ && bytes <= kMost; }

  // Joins a row that is under way: returns its completion, which is called when all of it is done;
  // nullptr: there is none. `to` of a get lives until then.
  link::Completion* try_join_put(Rank to, std::uint64_t offset, std::span<const std::byte> data);
  link::Completion* try_join_get(Rank from, std::uint64_t offset, std::span<std::byte> to);
  // One that others may join. False: no room now. `data`, too, lives until done.
  bool try_put(Rank to, std::uint64_t offset, std::span<const std::byte> data,
               link::Completion& completion);
  bool try_get(Rank from, std::uint64_t offset, std::span<std::byte> to,
               link::Completion& completion);

  // Those that wait for an answer of the dead, as OneSided does.
  void end_rows_of_dead();
  bool idle() const noexcept { return rows_.in_use() == 0; }

  // A packet of one of these types has come. False: it is damaged, or answers nothing.
  bool serve_puts(Rank from, const link::Row& packet);
  bool serve_gets(Rank from, const link::Row& packet);
  bool take_done(Rank from, const link::Row& packet);   // kPutsDone
  bool take_words(Rank from, const link::Row& packet);  // kGotWords

 private:
  // One packet's.
  struct Row {
    Rank peer = 0;
    std::uint32_t bytes = 0;                 // of each
    std::vector<std::byte*> to;              // of gets
    link::Completion* completion = nullptr;  // nullptr: this one is free
    std::uint64_t generation = 0;            // counts the uses
    std::uint32_t number = 0;                // in the pool
  };
  static constexpr std::size_t kSlots = 1 << 16;  // rows that packets can name
  static constexpr link::InFlight::Limits kRows{.reserved = 8, .per_peer = 32, .shared = 1024};

  Row* begin(link::Type type, Rank peer, std::size_t bytes, link::Completion& completion,
             std::uint32_t item_bytes, std::byte*& item);
  Row& of(const link::PacketHeader& packet) noexcept;
  Row* find(Rank from, const link::Row& packet, bool gets) noexcept;
  void end(Row& row);

  // Constant after construction.
  Router& router_;
  link::Link& link_;
  OneSided& one_sided_;
  Tails& tails_;
  const bool applies_;
  // Owned by whoever is inside.
  ObjectPool<Row> rows_;
  link::InFlight in_flight_{kRows};
  SparseTable<link::InFlight::Share> shares_;  // by rank
};

}  // namespace am
