#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "am/message/correspondent.h"
#include "am/table/node_rows.h"
#include "am/table/sparse_table.h"
#include "am/types/types.h"
#include "shmem/mailbox.h"

namespace am {

class Router;

// An index of a translation table as a request takes it: the number, with the place of the call,
// which errors and the report on a job that stands still name. An integer converts to it.
using To = Located<std::uint32_t>;

// The route to an endpoint of this node, made at the first request.
struct Near {
  Owned<shmem::Outbox> box;
  Correspondent peer;  // as the source of its replies
  std::array<std::uint64_t, shmem::window(shmem::Lane::kLong)> offsets{};  // of long requests
  // Requests that await replies and were made with another tag than the endpoint has now.
  struct Former {
    Tag tag;
    std::uint64_t slots[shmem::kLanes];
  };
  std::vector<Former> retagged;
};
// A place in an endpoint's translation table; all zero bits at first.
struct Translation {
  bool used;      // the rest says what is mapped
  bool unmapped;  // not what Exchange::connect() maps everywhere, either
  bool closing;   // it is being unmapped, and sends no more
  Name name;
  Tag tag;
  Near* near;
};

// The translation table of an endpoint: which names its indices have, and the routes to those of
// this node that it has sent to.
//
// Thread rule: one thread at a time, in a parallel bundle the one that holds its lock.
class TranslationTable {
 public:
  // `router` outlives it.
  TranslationTable(const Router& router, std::uint32_t size) : router_(router), places_(size) {}

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(places_.size()); }
  // A look-up of an index below size() for which entry() was called before.
  Translation& operator[](std::uint32_t index) noexcept { return places_[index]; }
  const Translation& operator[](std::uint32_t index) const noexcept { return places_[index]; }

  // For indices below size().
  bool is_used(std::uint32_t index) const noexcept {
    const Translation& place = places_[index];
    return place.used || (index < everyones_ && !place.unmapped);
  }
  // The place itself; at its first use it is filled in as bind_all() has said.
  Translation& entry(std::uint32_t index) const noexcept;
  std::uint32_t lowest_free() const noexcept;  // size(): there is none

  // The place at `index` for `call`, which throws Error if there is none; used(): also if it is
  // free, as refuse_unmapped() does.
  const Translation& checked(std::uint32_t index, Call call) const;
  const Translation& used(std::uint32_t index, Call call) const;
  [[noreturn]] void refuse_unmapped(std::uint32_t index, Call call) const;

  // Throws Error if the index is not free, or the name is not one of this job.
  void bind(std::uint32_t index, const Name& name, Tag tag, Call call);
  // Binds each index r below names.rows() to row r, a Name without its rank, which is r. Takes no
  // memory for those that are never used. Throws Error if one is not free.
  void bind_all(NodeRows names, Tag tag, Call call);
  // It is free; what was connected is not any more.
  void unbind(std::uint32_t index) noexcept;
  // The index, which is in use, has a route now.
  void connect(std::uint32_t index, Owned<Near> near);

  // Another size; none of what is cut off is in use. Throws std::bad_alloc, and nothing has
  // changed.
  void resize(std::uint32_t size);

 private:
  void check_free(std::uint32_t index, Call call) const;

  const Router& router_;
  SparseTable<Translation> places_;
  mutable bool written_ = false;  // to any of them
  NodeRows everyone_;             // by index: what bind_all() has bound
  std::uint32_t everyones_ = 0;   // ... below this: the table has been as short since
  Tag everyones_tag_ = kTagNone;
  std::vector<Owned<Near>> near_;  // of the indices that have one, in any order
};

}  // namespace am
