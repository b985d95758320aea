// One piece of memory shared between the processes of a node.
//
// A region is an anonymous file (memfd) mapped whole. It has no name, so nothing is left behind
// when its processes end, even by SIGKILL; it is sparse, so an untouched page costs nothing.
//
//   shmem::Region mine = shmem::Region::create({.what = "segment", .bytes = 1 << 28});
//   send_to_neighbour(mine.address());                          // 24 bytes, by any means
//   shmem::Region theirs = shmem::Region::open(received);       // same bytes, other process
//
// Where memfd is refused (some sandboxes), the memory comes from an unnamed file in fallback_dir
// with every page reserved at creation: too little space is an Error then, never SIGBUS later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace shmem {

// What every call of shmem throws when it cannot do its work: one sentence with the numbers, the
// cause and the remedy. Only set-up calls throw; nothing on a data path does.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What was to be opened is there, and the system does not let this process open it.
struct Unreachable : Error {
  using Error::Error;
};

// What was to be opened has ended, or its process has.
struct Gone : Error {
  using Error::Error;
};

class Region {
 public:
  struct Options {
    std::string what;       // names the region in errors and in /proc/<pid>/maps
    std::size_t bytes = 0;  // size; at least 1
    bool try_memfd = true;  // false: go straight to fallback_dir
    std::string fallback_dir = "/dev/shm";
  };

  // What another process of this node needs to map the region. Valid while its creator lives and
  // keeps the region.
  struct Address {
    std::int32_t pid;
    std::int32_t fd;
    std::uint64_t bytes;
    std::uint64_t inode;  // distinguishes the region from what took its pid and fd after its death
  };

  // A new region of zeros, for this user only (0600), closed by exec.
  // Throws Error: memory, file size or address space short, with the numbers.
  [[nodiscard]] static Region create(const Options& options);

  // A neighbour's region, or one of this process: the same user, user namespace, PID namespace and
  // boot, else there is no way to it. Throws Gone: the neighbour has ended or has closed it.
  // Throws Unreachable: it lives, and the system refuses. Throws Error: no room to map it.
  [[nodiscard]] static Region open(const Address& address);

  // Takes over `inherited_fd` (closed with the region) and maps the whole file.
  // Throws Error: not an open file or empty; the descriptor then stays the caller's.
  [[nodiscard]] static Region adopt(int inherited_fd);

  Region() = default;  // none: data() is nullptr, size() is 0
  Region(Region&& other) noexcept;
  Region& operator=(Region&& other) noexcept;
  ~Region();  // unmaps; the memory lives on while another process maps it

  // Of a region made here or adopted. Throws Error for an opened one: only its creator shows it.
  Address address() const;

  // Asks the kernel for huge pages. Who maps the region elsewhere asks, too. False: it has none, or
  // this is not for them to decide; and where it is asked in vain, small ones are as good.
  bool ask_for_huge_pages() const noexcept;
  // Whether the kernel gives those who ask huge pages of shared memory.
  static bool has_huge_pages();

  // Asks the kernel to take untouched pages from NUMA node `node`, whoever touches them first and
  // through whatever mapping; where it has no room, from another. False: it refuses.
  bool prefer_node(int node) const noexcept;

  // While children are kept out, which at first they are not, those that this process forks have
  // zeros of their own instead of regions that hide from them: what they do there others do not
  // see. `bytes`: only of the first pages, as many as have no more bytes. Any thread.
  static void keep_children_out(bool out);
  void hide_from_children() { hide_from_children(size_); }
  void hide_from_children(std::size_t bytes);

  // Maps bytes [offset, offset + pages.size()) of this region at `pages`, too, in place of the
  // memory that was there; all of it whole pages of the system. For a region made here or adopted.
  // The mapping outlives the region, until make_private(). Throws Error if the system refuses.
  void map_also(std::span<std::byte> pages, std::size_t offset) const;

  // Page aligned, and, from 2 MiB on, aligned to huge pages of that size.
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  int fd() const { return fd_; }  // -1 for an opened region, which needs none

 private:
  Region(std::byte* data, std::size_t size, int fd) : data_(data), size_(size), fd_(fd) {}

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  int fd_ = -1;
  bool hides_ = false;  // from children
};

static_assert(std::is_trivially_copyable_v<Region::Address> && sizeof(Region::Address) == 24);

// A new descriptor of the file that `address` names, this process's own or a neighbour's. It is
// found through /proc, or, where that shows other processes than those of this PID namespace, by
// the kernel's pidfd_getfd. Throws as Region::open.
int open_neighbours(const Region::Address& address);

// Replaces `pages`, which map_also() has mapped, by memory of this process alone that has the same
// contents. Nobody changes them meanwhile. Callable in a child behind fork(). Where the system has
// no memory for that, they stay as they are.
void make_private(std::span<std::byte> pages) noexcept;

// "the region of process 12 (descriptor 5, 4096 bytes)".
std::string name_of(const Region::Address& address);

}  // namespace shmem
