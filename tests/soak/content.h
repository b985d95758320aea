// What the bytes of a transfer are: a function of its key and of their place in it, so that whoever
// knows the key can check them, and bytes of another transfer, another round or another place are
// seen to be wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace soak {

// Bytes `from`, `from` + 1, ... of the content that `key` stands for.
void fill(std::span<std::byte> bytes, std::uint64_t key, std::uint64_t from = 0) noexcept;

// Empty if they are that, else how many are wrong, where the first is, and what is there.
std::string difference(std::span<const std::byte> bytes, std::uint64_t key, std::uint64_t from = 0);

// What memory holds that awaits content.
inline constexpr std::byte kScribble{0xee};

// Memory of this process from which something is sent, or to which something comes: at any address,
// and between guards that nobody writes.
class Local {
 public:
  static constexpr std::size_t kGuard = 48;

  Local() noexcept = default;
  // `shift`, 0 to 15, is the distance from a multiple of 16.
  Local(std::size_t bytes, std::size_t shift);
  Local(Local&& other) noexcept;
  Local& operator=(Local&& other) noexcept;
  ~Local();

  std::span<std::byte> bytes() const noexcept { return {memory_ + kGuard + shift_, size_}; }
  std::byte* data() const noexcept { return bytes().data(); }
  // Overwrites all of it, as an owner may whose transfer is complete.
  void scribble() noexcept;
  // Empty if the first `count` bytes are the content of `key`, the others are untouched since
  // scribble(), and so are the guards.
  std::string difference(std::uint64_t key, std::size_t count) const;
  std::string difference(std::uint64_t key) const { return difference(key, size_); }

 private:
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
  std::size_t shift_ = 0;
};

}  // namespace soak
