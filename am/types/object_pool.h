#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace am {

// Objects that are used again and again: none moves or ends before the pool does, so that others
// may hold its address meanwhile, or its number. There are as many as were ever in use together.
// An object is as its last user left it.
//
// Thread rule: one thread at a time.
template <class T>
class ObjectPool {
 public:
  // One that is not in use. `init(T&, std::uint32_t number)` is called for each that is new: the
  // numbers are 0, 1, 2, ... Allocates only then, and give_back() never.
  template <class Init>
  T& take(Init&& init) {
    if (free_.empty()) [[unlikely]] {
      // Twice as much each time, or every object would cost the room of all.
      if (free_.capacity() <= all_.size()) free_.reserve(2 * all_.size() + 1);
      T& made = all_.emplace_back();
      init(made, static_cast<std::uint32_t>(all_.size() - 1));
      free_.push_back(&made);
    }
    T& taken = *free_.back();
    free_.pop_back();
    return taken;
  }
  void give_back(T& object) noexcept { free_.push_back(&object); }

  // How many there are, and of these in use.
  std::size_t size() const noexcept { return all_.size(); }
  std::size_t in_use() const noexcept { return all_.size() - free_.size(); }

  T& operator[](std::uint32_t number) noexcept { return all_[number]; }
  const T& operator[](std::uint32_t number) const noexcept { return all_[number]; }

  // All of them, in use or not, by number.
  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

 private:
  std::deque<T> all_;
  std::vector<T*> free_;
};

// Empties a buffer that is filled again and again. Its memory stays for the next use, up to 4 MiB:
// one long message does not hold its memory for ever.
inline void clear_kept(std::vector<std::byte>& buffer) noexcept {
  constexpr std::size_t kKept = std::size_t{4} << 20;
  if (buffer.capacity() > kKept) {
    std::vector<std::byte>().swap(buffer);
  } else {
    buffer.clear();
  }
}

}  // namespace am
