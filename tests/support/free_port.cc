#include "tests/support/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace test {

int free_port() {
  const int taken = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  bind(taken, reinterpret_cast<sockaddr*>(&address), bytes);
  getsockname(taken, reinterpret_cast<sockaddr*>(&address), &bytes);
  close(taken);
  return ntohs(address.sin_port);
}

}  // namespace test
