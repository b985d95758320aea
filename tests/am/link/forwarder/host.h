#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace am::link::test {

// This machine makes no hosts for tests; with the cause and the remedy.
struct NoHosts : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// As good as another machine, as far as the network is concerned: a network namespace with a
// loopback and one interface (a TUN device), whose cable ends in this process. It has no name
// anywhere, and is gone with this object and the processes in it.
class Host {
 public:
  static constexpr const char* kInterface = "cable0";
  static constexpr int kMtu = 1500;

  // `address`: IPv4, of a subnet of 24 bits. Throws NoHosts.
  explicit Host(const std::string& address);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const std::string& address() const noexcept { return address_; }
  // Gives one IP packet a read(), never blocks, and takes one by write(), which arrives there.
  int cable() const noexcept { return cable_; }
  // `command` as a process there. Good in children of this process.
  std::vector<std::string> command_there(std::span<const std::string> command) const;

 private:
  void make();

  const std::string address_;
  int namespace_ = -1;
  int cable_ = -1;
};

}  // namespace am::link::test
