#include "shmem/region.h"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "shmem/descriptor.h"

namespace shmem {
namespace {

constexpr std::size_t kSmallPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::string text_of(int error) { return std::strerror(error); }

std::string bytes_text(std::uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

// The soft limit in bytes, or "unlimited".
std::string limit_text(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : bytes_text(limit);
}

rlim_t soft_limit(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

std::uint64_t mapped_now() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Growing a file beyond RLIMIT_FSIZE raises SIGXFSZ, so the limit is looked at before.
void check_file_size_limit(const Region::Options& options) {
  const rlim_t limit = soft_limit(RLIMIT_FSIZE);
  if (limit == RLIM_INFINITY || options.bytes <= limit) return;
  throw Error("shmem: " + options.what + " needs a file of " + bytes_text(options.bytes) +
              " but the file size limit of this process is " + limit_text(limit) +
              "; raise it (ulimit -f) or ask for less");
}

// Address space for `bytes`, so aligned that huge pages can be mapped there; nullptr: anywhere.
std::byte* find_aligned(std::size_t bytes) noexcept {
  if (bytes < kHugePage) return nullptr;
  const std::size_t wide = bytes + kHugePage;
  void* const found =
      mmap(nullptr, wide, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(found);
  const std::size_t before = kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage;
  munmap(begin, before);
  const std::size_t used = (bytes + kSmallPage - 1) / kSmallPage * kSmallPage;
  if (wide - before > used) munmap(begin + before + used, wide - before - used);
  return begin + before;
}

// The aligned region that was mapped last. No partner: a hint, which the kernel need not follow.
constinit std::atomic<std::uintptr_t> last_aligned{0};

std::byte* map(int fd, std::size_t bytes, std::uintptr_t at, int flags) noexcept {
  void* const data = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_NORESERVE | flags, fd, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

// Below the last one there is room most times: one call, where it takes four to find an aligned
// place. (256 processes on 2 cores, each of which maps all, start and end in 1.5 s instead
// of 1.75.) nullptr: not this time.
std::byte* map_below_last(int fd, std::size_t bytes) noexcept {
  const std::uintptr_t last = last_aligned.load(std::memory_order_relaxed);
  if (bytes < kHugePage || last <= bytes) return nullptr;
  std::byte* const data = map(fd, bytes, (last - bytes) / kHugePage * kHugePage, 0);
  if (data == nullptr || reinterpret_cast<std::uintptr_t>(data) % kHugePage == 0) return data;
  munmap(data, bytes);
  return nullptr;
}

std::byte* map_whole(int fd, std::size_t bytes, const std::string& what) {
  std::byte* data = map_below_last(fd, bytes);
  std::byte* at = nullptr;
  if (data == nullptr) {
    at = find_aligned(bytes);
    data = map(fd, bytes, reinterpret_cast<std::uintptr_t>(at), at != nullptr ? MAP_FIXED : 0);
  }
  if (data != nullptr) {
    if (bytes >= kHugePage) {
      last_aligned.store(reinterpret_cast<std::uintptr_t>(data), std::memory_order_relaxed);
    }
    return data;
  }
  const int error = errno;
  if (at != nullptr) munmap(at, bytes);
  errno = error;
  throw Error("shmem: cannot map " + what + ", " + bytes_text(bytes) + " (" + text_of(errno) +
              "): this process maps " + bytes_text(mapped_now()) +
              " already and its address space limit is " + limit_text(soft_limit(RLIMIT_AS)) +
              "; raise it (ulimit -v) or ask for less");
}

// Under strict overcommit a page that was not reserved can be refused when it is first touched.
bool overcommit_is_strict() {
  int mode = 0;
  std::ifstream("/proc/sys/vm/overcommit_memory") >> mode;
  return mode == 2;
}

// Takes every page of the file now, so that none can be missing later. Returns an errno or 0.
int reserve(int fd, std::size_t bytes) {
  int error = 0;
  do {
    error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  return error;
}

// A memfd of that size, or -1 with `why` telling the refusal.
int try_memfd(const Region::Options& options, std::string& why) {
  OwnFd fd(memfd_create(options.what.substr(0, 200).c_str(), MFD_CLOEXEC));
  if (!fd) {
    why = "memfd_create is refused (" + text_of(errno) + ")";
    return -1;
  }
  const int error = overcommit_is_strict() ? reserve(fd.fd(), options.bytes)
                    : ftruncate(fd.fd(), static_cast<off_t>(options.bytes)) == 0 ? 0
                                                                                 : errno;
  if (error != 0) {
    why = "a memfd cannot hold it (" + text_of(error) + ")";
    return -1;
  }
  return fd.keep();
}

// An unnamed file in fallback_dir with all its pages. Throws with what `memfd_refusal` says first.
int make_fallback(const Region::Options& options, const std::string& memfd_refusal) {
  const std::string begin = "shmem: no memory for " + options.what + ": " + memfd_refusal;
  OwnFd fd(::open(options.fallback_dir.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd) {
    throw Error(begin + " and no unnamed file can be made in " + options.fallback_dir + " (" +
                text_of(errno) + "); allow memfd_create or mount a tmpfs there");
  }
  const int error = reserve(fd.fd(), options.bytes);
  if (error == 0) return fd.keep();
  struct statvfs space {};
  const bool known = statvfs(options.fallback_dir.c_str(), &space) == 0;
  const std::uint64_t free_bytes = known ? std::uint64_t{space.f_bavail} * space.f_frsize : 0;
  throw Error(begin + " and " + options.fallback_dir + " has " + bytes_text(free_bytes) +
              " free of the " + bytes_text(options.bytes) + " needed (" + text_of(error) +
              "); enlarge " + options.fallback_dir + ", allow memfd_create, or ask for less");
}

// What children that are forked get zeros for.
struct Hidden {
  std::mutex mutex;  // guards the rest
  std::vector<std::span<std::byte>> pages;
  bool kept_out = false;
};

Hidden& hidden() {
  static auto* const hidden = new Hidden;  // children are forked until the end
  return *hidden;
}

void zero_in_child() {
  for (const std::span<std::byte> pages : hidden().pages) {
    if (!hidden().kept_out) break;
    static_cast<void>(mmap(pages.data(), pages.size(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
  }
  hidden().mutex.unlock();
}

}  // namespace

Region Region::create(const Options& options) {
  if (options.bytes == 0) {
    throw Error("shmem: " + options.what + " was asked for with 0 bytes; ask for at least 1");
  }
  check_file_size_limit(options);
  std::string refusal = "memfd_create was not tried";
  int raw = options.try_memfd ? try_memfd(options, refusal) : -1;
  if (raw < 0) raw = make_fallback(options, refusal);
  OwnFd fd(raw);
  if (fchmod(fd.fd(), 0600) != 0) {  // memfd_create makes it 0777
    throw Error("shmem: cannot make " + options.what + " private: fchmod 0600 failed (" +
                text_of(errno) + ")");
  }
  std::byte* data = map_whole(fd.fd(), options.bytes, options.what);
  return Region(data, options.bytes, fd.keep());
}

Region Region::open(const Address& address) {
  OwnFd fd(open_neighbours(address));
  return Region(map_whole(fd.fd(), address.bytes, name_of(address)), address.bytes, -1);
}

Region Region::adopt(int inherited_fd) {
  struct stat status {};
  if (fstat(inherited_fd, &status) != 0) {
    throw Error("shmem: cannot use descriptor " + std::to_string(inherited_fd) + " (" +
                text_of(errno) + "); it was not inherited");
  }
  if (!S_ISREG(status.st_mode) || status.st_size <= 0) {
    throw Error("shmem: cannot use descriptor " + std::to_string(inherited_fd) +
                ": it is not a file with contents");
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  const std::string what = "descriptor " + std::to_string(inherited_fd);
  return Region(map_whole(inherited_fd, bytes, what), bytes, inherited_fd);
}

Region::Region(Region&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      fd_(std::exchange(other.fd_, -1)),
      hides_(std::exchange(other.hides_, false)) {}

Region& Region::operator=(Region&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(fd_, other.fd_);
  std::swap(hides_, other.hides_);
  return *this;
}

Region::~Region() {
  if (hides_) {
    const std::lock_guard lock(hidden().mutex);
    std::erase_if(hidden().pages, [this](auto pages) { return pages.data() == data_; });
  }
  if (data_ != nullptr) munmap(data_, size_);
  if (fd_ >= 0) close(fd_);
}

void Region::keep_children_out(bool out) {
  static const int registered = pthread_atfork([] { hidden().mutex.lock(); },
                                               [] { hidden().mutex.unlock(); }, &zero_in_child);
  if (registered != 0) throw Error("shmem: no memory to keep children out that are forked");
  const std::lock_guard lock(hidden().mutex);
  hidden().kept_out = out;
}

void Region::hide_from_children(std::size_t bytes) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t whole = bytes == size_ ? (bytes + page - 1) / page * page : bytes / page * page;
  if (whole == 0) return;
  const std::lock_guard lock(hidden().mutex);
  hidden().pages.emplace_back(data_, whole);
  hides_ = true;
}

bool Region::ask_for_huge_pages() const noexcept {
  return madvise(data_, size_, MADV_HUGEPAGE) == 0;
}

void Region::map_also(std::span<std::byte> pages, std::size_t offset) const {
  if (mmap(pages.data(), pages.size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd_,
           static_cast<off_t>(offset)) != MAP_FAILED) {
    return;
  }
  throw Error("shmem: cannot map " + bytes_text(pages.size()) + " of a region a second time (" +
              text_of(errno) + "); they have to be whole pages, of " +
              bytes_text(static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))));
}

// Copied aside and moved there, so that no moment sees the pages empty.
void make_private(std::span<std::byte> pages) noexcept {
  void* const copy =
      mmap(nullptr, pages.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return;
  std::memcpy(copy, pages.data(), pages.size());
  if (mremap(copy, pages.size(), pages.size(), MREMAP_MAYMOVE | MREMAP_FIXED, pages.data()) ==
      MAP_FAILED) {
    munmap(copy, pages.size());
  }
}

// The policy is one of the file, as this is a shared mapping.
bool Region::prefer_node(int node) const noexcept {
  constexpr int kBits = std::numeric_limits<unsigned long>::digits;
  std::array<unsigned long, 16> nodes{};
  if (node < 0 || node >= kBits * static_cast<int>(nodes.size())) return false;
  nodes[static_cast<std::size_t>(node / kBits)] |= 1ul << (node % kBits);
  const unsigned long bits = kBits * nodes.size() + 1;  // the kernel takes one off
  return syscall(SYS_mbind, data_, size_, MPOL_PREFERRED, nodes.data(), bits, 0) == 0;
}

// The choice that is in brackets counts: "always within_size [advise] never deny force".
bool Region::has_huge_pages() {
  std::string choices;
  std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/shmem_enabled"), choices);
  return choices.find("[never]") == choices.npos && choices.find("[deny]") == choices.npos &&
         !choices.empty();
}

Region::Address Region::address() const {
  struct stat status {};
  if (fd_ < 0 || fstat(fd_, &status) != 0) {
    throw Error(
        "shmem: a region opened from a neighbour has no address of its own; pass on the "
        "one it was opened with");
  }
  return {.pid = getpid(), .fd = fd_, .bytes = size_, .inode = status.st_ino};
}

}  // namespace shmem
