#include "splitc/shared/statics.h"

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "am/job/job.h"
#include "am/route/router.h"
#include "am/types/forked.h"
#include "splitc/collective/barrier.h"
#include "splitc/pointer/allocate.h"
#include "splitc/world/place.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

// The program's and those of its libraries, in the order in which the loader has initialized them.
constinit StaticPages* first_pages = nullptr;

constexpr const char* kCall = "variables marked SPLITC_GLOBAL";

bool is_whole(std::uintptr_t address, std::uintptr_t page) { return address % page == 0; }

// What has to be the same everywhere.
struct Amount {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::uint64_t digest = 0;  // of the bytes of each
  std::uint64_t page = 0;
  bool operator==(const Amount&) const = default;
};

// Of several programs perhaps not all have any, and those would not take part in the exchange.
void check_agreement(const Amount& mine, bool same_program) {
  bool same = same_program;
  if (same) {
    for (const Amount& other : world().job().exchange(mine)) same = same && other == mine;
  }
  if (same) return;
  refuse(kCall,
         "not all processes have the same, in memory pages of one size; start the same build of "
         "the program, with the same shared libraries, in all of them");
}

}  // namespace

StaticPages::StaticPages(std::byte* first, std::byte* last) noexcept : pages_(first, last) {
  StaticPages** end = &first_pages;
  while (*end != nullptr) end = &(*end)->next_;
  *end = this;
}

StaticPages::~StaticPages() {
  // A library is closed while a program runs: other memory may come to lie there.
  if (mapped_ && place.bases != nullptr) world().router().forget_also(pages_);
  StaticPages** at = &first_pages;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

void StaticMemory::allocate(bool same_program) {
  if (first_pages == nullptr) return;
  Amount mine{.page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))};
  for (const StaticPages* x = first_pages; x != nullptr; x = x->next_) {
    const auto first = reinterpret_cast<std::uintptr_t>(x->pages_.data());
    const std::uint64_t bytes = x->pages_.size();
    if (!is_whole(first, mine.page) || !is_whole(bytes, mine.page)) {
      refuse(kCall,
             "they take " + std::to_string(bytes) + " bytes, which are not whole pages of " +
                 std::to_string(mine.page) +
                 ": one of them is inline, or of a template; drop that; or g++ -flto has cut "
                 "the program into parts; link it with -flto-partition=one");
    }
    mine.objects += 1;
    mine.bytes += bytes;
    mine.digest = (mine.digest ^ bytes) * 0x9e3779b97f4a7c15;
  }
  check_agreement(mine, same_program);
  // Some bytes more than are needed, so that there is a page to begin with.
  std::uint64_t offset = all_allocate(mine.bytes + mine.page, kCall, mine.digest);
  offset += -reinterpret_cast<std::uintptr_t>(mapped(my_proc(), offset)) % mine.page;
  am::spoil_in_children(&make_private);
  for (StaticPages* x = first_pages; x != nullptr; x = x->next_) {
    std::memcpy(mapped(my_proc(), offset), x->pages_.data(), x->pages_.size());
    world().router().map_also(x->pages_, offset);
    x->mapped_ = true;
    offset += x->pages_.size();
  }
  meet(kCall);  // all have their values
}

void StaticMemory::make_private() noexcept {
  for (StaticPages* x = first_pages; x != nullptr; x = x->next_) {
    if (x->mapped_) am::Router::make_private(x->pages_);
    x->mapped_ = false;
  }
}

StaticMemory::~StaticMemory() { make_private(); }

}  // namespace splitc::detail
