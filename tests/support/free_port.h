// A port of this machine for a test to listen on.
#pragma once

namespace test {

// A TCP port of 127.0.0.1 where nobody listens now.
int free_port();

}  // namespace test
