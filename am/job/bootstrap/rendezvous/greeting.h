// The three messages of a meeting (am/job/bootstrap/rendezvous/meeting.h) and what the two sides
// share.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "am/job/config/config.h"

namespace am {

// How two processes show one another that they know the same secret without sending it: each sends
// a keyed hash of what was said. Hash, random numbers and comparison are libsodium's.

using Proof = std::array<std::byte, 32>;
using Nonce = std::array<std::byte, 16>;  // a random number that is used once

// The functions below throw Error when libsodium is not installed.

Nonce random_nonce();

// BLAKE2b of `text` under the key that is BLAKE2b of `secret`, which may have any length: 32 bytes
// each.
Proof proof_of(std::string_view secret, std::span<const std::byte> text);

// Whether they are equal, in a time that does not depend on where they differ.
bool same_proof(const Proof& a, const Proof& b);

using Magic = std::array<char, 8>;
constexpr Magic kGreeting = {'S', 'p', 'l', 'i', 't', 'p', 'h', '2'};  // the digit: version

struct Challenge {
  Magic magic;
  Nonce nonce;
};

struct Hello {
  Magic magic;
  std::uint32_t rank;
  std::uint32_t size;
  Nonce nonce;
  Proof proof;
};

enum class Answer : std::uint32_t {
  kWelcome = 1,
  kOtherSecret = 2,
  kOtherSize = 3,  // detail: rank 0's
  kTaken = 4,      // another process is this rank
  kNoSuchRank = 5,
};

struct GreetingVerdict {
  Answer answer;
  std::uint32_t detail;
  Proof proof;
};

static_assert(sizeof(Challenge) == 24 && sizeof(Hello) == 64 && sizeof(GreetingVerdict) == 40);
static_assert(std::is_trivially_copyable_v<Hello> && std::is_trivially_copyable_v<GreetingVerdict>);

// What the guest, or rank 0 in its verdict, has to prove.
Proof proof_of_hello(std::string_view secret, const Challenge& challenge, const Hello& hello);
Proof proof_of_verdict(std::string_view secret, const Challenge& challenge, const Hello& hello,
                       const GreetingVerdict& verdict);

struct SocketAddress {
  sockaddr_storage bytes;
  socklen_t length;
};

// The addresses of rank 0, at least one; of localhost also ::1, which not every /etc/hosts has.
// Throws Error, "rank R: SPLITC_RENDEZVOUS=...", if the host has none.
std::vector<SocketAddress> addresses_of(const Rendezvous& where, std::uint32_t rank);

// "rank 2: SPLITC_RENDEZVOUS=node7:4711: ", as errors begin.
std::string meeting_prefix(const Rendezvous& where, std::uint32_t rank);

// Sends small frames at once and notices within some ten seconds when the other machine is gone.
void prepare_connection(int fd);

}  // namespace am
