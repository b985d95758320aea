#include "tests/support/side_channel.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace test {
namespace {

constexpr std::size_t kBytes = 4096;

// All processes of a job have one parent.
std::string path_of(const std::string& name) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" + name + "." +
         std::to_string(getppid());
}

std::atomic<std::uint64_t>* map_shared(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, kBytes) != 0) throw std::runtime_error("cannot make " + path);
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot map " + path);
  return static_cast<std::atomic<std::uint64_t>*>(memory);
}

}  // namespace

SideChannel::SideChannel(const std::string& name)
    : path_(path_of(name)), value_(map_shared(path_)) {}

SideChannel::~SideChannel() {
  munmap(value_, kBytes);
  unlink(path_.c_str());
}

void SideChannel::await(std::uint64_t value) const noexcept {
  while (!reached(value)) sched_yield();
}

}  // namespace test
