#include "tests/am/link/forwarder/host.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <thread>

namespace am::link::test {
namespace {

[[noreturn]] void refused(const char* what, const char* remedy) {
  throw NoHosts(std::string(what) + ": " + std::strerror(errno) + "; " + remedy);
}

constexpr const char* kRoot = "run it as root, where that may make network namespaces";

// A socket to ask the calling thread's namespace with.
class Interfaces {
 public:
  Interfaces() : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    if (fd_ < 0) refused("no socket in a new network namespace", kRoot);
  }
  ~Interfaces() { close(fd_); }
  Interfaces(const Interfaces&) = delete;
  Interfaces& operator=(const Interfaces&) = delete;

  void set_address(const char* name, const std::string& address) const {
    set_address(name, SIOCSIFADDR, address);
    set_address(name, SIOCSIFNETMASK, "255.255.255.0");
  }
  void set_mtu(const char* name, int mtu) const {
    ifreq request = request_for(name);
    request.ifr_mtu = mtu;
    ask(SIOCSIFMTU, request, "cannot set an MTU");
  }
  void switch_on(const char* name) const {
    ifreq request = request_for(name);
    ask(SIOCGIFFLAGS, request, "an interface has no flags");
    request.ifr_flags |= IFF_UP;
    ask(SIOCSIFFLAGS, request, "an interface cannot be switched on");
  }

 private:
  static ifreq request_for(const char* name) {
    ifreq request{};
    std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    return request;
  }
  void ask(unsigned long what, ifreq& request, const char* refusal) const {
    if (ioctl(fd_, what, &request) != 0) refused(refusal, kRoot);
  }
  void set_address(const char* name, unsigned long what, const std::string& address) const {
    ifreq request = request_for(name);
    sockaddr_in in{};
    in.sin_family = AF_INET;
    inet_pton(AF_INET, address.c_str(), &in.sin_addr);
    std::memcpy(&request.ifr_addr, &in, sizeof in);
    ask(what, request, "an interface takes no address");
  }

  const int fd_;
};

int make_cable() {
  const int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) refused("cannot open /dev/net/tun", "load the kernel's module tun, as root");
  ifreq request{};
  std::strncpy(request.ifr_name, Host::kInterface, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(fd, TUNSETIFF, &request) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  refused("cannot make a TUN device", kRoot);
}

}  // namespace

// The calling thread stays in the namespace.
void Host::make() {
  if (unshare(CLONE_NEWNET) != 0) refused("cannot make a network namespace", kRoot);
  namespace_ = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (namespace_ < 0) refused("cannot name a network namespace", "mount /proc");
  cable_ = make_cable();
  const Interfaces interfaces;
  interfaces.switch_on("lo");
  interfaces.set_address(kInterface, address_);
  interfaces.set_mtu(kInterface, kMtu);
  interfaces.switch_on(kInterface);
}

// Namespaces are of threads: so one of its own makes it, and ends.
Host::Host(const std::string& address) : address_(address) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      make();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (!failure) return;
  for (const int fd : {cable_, namespace_}) {
    if (fd >= 0) close(fd);
  }
  std::rethrow_exception(failure);
}

Host::~Host() {
  close(cable_);
  close(namespace_);
}

std::vector<std::string> Host::command_there(std::span<const std::string> command) const {
  std::vector<std::string> words{
      "nsenter", "--net=/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(namespace_),
      "--"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace am::link::test
