// How the processes of a job that no launcher starts find rank 0 and convince it that they belong
// there (SPLITC_RENDEZVOUS). What they say, all in fixed sizes:
//
//   rank 0: Challenge   a random number
//   rank r: Hello       who I am, another random number, and proof that I know the secret
//   rank 0: GreetingVerdict     welcome, or why not, and proof that I know it too
//
// Every proof covers both random numbers, so none can be used a second time. What follows on the
// connection, in frames, is neither hidden nor signed; no more is what the job's own messages are.
#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "am/job/config/config.h"
#include "am/types/types.h"
#include "shmem/descriptor.h"

namespace am {

using Connection = shmem::OwnFd;

struct MeetingPlace {
  Rendezvous where;
  Rank rank;
  std::uint32_t size;
  std::chrono::steady_clock::time_point deadline;
};

// Rank 0: listens until all others have connected and returns the connections, in order. Processes
// that do not belong to the job are refused, and reported on standard error. Throws Error at the
// deadline (names the missing ranks), when the address is not this machine's or in use, and when a
// connection is lost; the processes that have connected are sent the reason.
std::vector<Connection> meet_others(const MeetingPlace& place);

// Any other rank: the connection to rank 0. Throws Error when rank 0 refuses this process, and at
// the deadline, with what was heard from impostors that could not prove to be rank 0. What they say
// is also printed when it is heard, and ends nothing.
Connection meet_first(const MeetingPlace& place);

// How two processes show one another that they know the same secret without sending it: each sends
// a keyed hash of what was said. Hash, random numbers and comparison are libsodium's: the functions
// throw Error when it is not installed.
using Proof = std::array<std::byte, 32>;
using Nonce = std::array<std::byte, 16>;  // a random number that is used once

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

// The protocol of a rendezvous's connections once they are established: frames, each a header and
// its bytes. All processes run on machines of one kind, so numbers are sent as they are in memory.
enum class FrameKind : std::uint32_t {
  kMine = 1,      // to rank 0: my blob
  kAll = 2,       // from rank 0: what all have said (am/job/bootstrap/packing.h)
  kFinished = 3,  // I may leave from here on
  kEnd = 4,       // leave now: exit code, and why
};

struct FrameHead {
  FrameKind kind;
  std::uint32_t bytes;
};

struct Frame {
  FrameKind kind;
  std::vector<std::byte> bytes;
};

// Head and bytes, ready to be sent.
std::vector<std::byte> frame_bytes(FrameKind kind, std::span<const std::byte> bytes);

// A frame that ends the job.
std::vector<std::byte> end_frame(int exit_code, std::string_view why);

// The exit code (never 0) and the text of such a frame.
struct End {
  int exit_code;
  std::string why;
};
End read_end(const Frame& frame);

// Takes bytes as they come and gives frames.
class FrameReader {
 public:
  explicit FrameReader(std::uint32_t processes);
  // False: no process of this job said that.
  [[nodiscard]] bool add(std::span<const std::byte> bytes, std::vector<Frame>& frames);

 private:
  const std::size_t max_bytes_;
  std::vector<std::byte> rest_;
};

}  // namespace am
