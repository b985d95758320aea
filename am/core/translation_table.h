#pragma once

#include <cstdint>
#include <vector>

#include "am/core/translation.h"
#include "am/table/node_rows.h"
#include "am/table/sparse_table.h"
#include "am/types/types.h"

namespace am {

class Router;

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
  const Translation& checked(std::uint32_t index, const char* call) const;
  const Translation& used(std::uint32_t index, const char* call) const;
  [[noreturn]] void refuse_unmapped(std::uint32_t index, const char* call) const;

  // Throws Error if the index is not free, or the name is not one of this job.
  void bind(std::uint32_t index, const Name& name, Tag tag);
  // Binds each index r below names.rows() to row r, a Name without its rank, which is r. Takes no
  // memory for those that are never used. Throws Error if one is not free.
  void bind_all(NodeRows names, Tag tag);
  // It is free; what was connected is not any more.
  void unbind(std::uint32_t index) noexcept;
  // The index, which is in use, has a route now.
  void connect(std::uint32_t index, Owned<Near> near);

  // Another size; none of what is cut off is in use. Throws std::bad_alloc, and nothing has
  // changed.
  void resize(std::uint32_t size);

 private:
  void check_free(std::uint32_t index) const;

  const Router& router_;
  SparseTable<Translation> places_;
  mutable bool written_ = false;  // to any of them
  NodeRows everyone_;             // by index: what bind_all() has bound
  std::uint32_t everyones_ = 0;   // ... below this: the table has been as short since
  Tag everyones_tag_ = kTagNone;
  std::vector<Owned<Near>> near_;  // of the indices that have one, in any order
};

}  // namespace am
