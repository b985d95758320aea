#include "am/job/bootstrap/rendezvous/rendezvous.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "am/job/bootstrap/rendezvous/messages.h"
#include "am/sodium/sodium.h"
#include "tests/shmem/in_child.h"
#include "tests/support/text.h"

namespace am {
namespace {

using shmem::test::in_child;
using shmem::test::in_children;
using std::chrono::milliseconds;
using ::test::expect_contains;

constexpr auto kPatience = std::chrono::seconds(60);
constexpr const char* kSecret = "correct horse battery staple";

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// A place on this machine where nobody listens now.
Rendezvous free_place() {
  const Connection taken(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = loopback(0);
  socklen_t bytes = sizeof(address);
  bind(taken.fd(), reinterpret_cast<sockaddr*>(&address), bytes);
  getsockname(taken.fd(), reinterpret_cast<sockaddr*>(&address), &bytes);
  return {"127.0.0.1", std::to_string(ntohs(address.sin_port)), kSecret};
}

// Connects as any program can, as soon as somebody listens.
Connection connect_to(const Rendezvous& where) {
  while (true) {
    Connection to(socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in address = loopback(static_cast<std::uint16_t>(std::stoi(where.port)));
    if (connect(to.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
      return to;
    }
    poll(nullptr, 0, 10);  // rank 0 has not come as far
  }
}

// Returns when the other end has closed.
void wait_for_end(const Connection& of) {
  char byte;
  while (recv(of.fd(), &byte, 1, 0) > 0) {
  }
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(const std::vector<std::byte>& blob) {
  return {reinterpret_cast<const char*>(blob.data()), blob.size()};
}

// Takes part as that rank; returns what all said.
std::string take_part(Rank rank, std::uint32_t size, const Rendezvous& where) {
  const auto job = join_rendezvous(rank, size, where, kPatience);
  std::string all;
  for (const auto& blob : job->exchange(bytes_of(std::to_string(rank)))) all += text_of(blob);
  job->finished();
  return all;
}

// A job of 3 into which an intruder comes while rank 2 is still awaited. Returns what the intruder
// was told; the job must not mind.
std::string intrude(const std::function<std::string(const Rendezvous&)>& intruder) {
  const Rendezvous where = free_place();
  int done[2];
  EXPECT_EQ(pipe(done), 0);
  const auto results = in_children(4, [&](unsigned who) -> std::string {
    char byte = 0;
    if (who == 2 && read(done[0], &byte, 1) != 1) return "no word of the intruder";
    if (who < 3) return take_part(who, 3, where);
    std::string told;
    try {
      told = intruder(where);
    } catch (const Error& error) {
      told = error.what();
    }
    return write(done[1], &byte, 1) == 1 ? told : "cannot go on";
  });
  close(done[0]);
  close(done[1]);
  for (unsigned rank = 0; rank < 3; ++rank) EXPECT_EQ(results[rank], "012") << "rank " << rank;
  return results[3];
}

std::string intrude_as(Rank rank, std::uint32_t size, const char* secret,
                       milliseconds patience = kPatience) {
  return intrude([=](const Rendezvous& where) {
    Rendezvous other = where;
    other.secret = secret;
    join_rendezvous(rank, size, other, patience);
    return std::string("welcome");
  });
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

template <class Bytes>
std::string hex(const Bytes& bytes) {
  std::string text;
  for (const auto one : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned>(one));
    text += digits;
  }
  return text;
}

// The expected ones are those of another implementation, Python's hashlib:
// blake2b(text, key=blake2b(secret, digest_size=32).digest(), digest_size=32).hexdigest()
TEST(Proof, is_keyed_blake2b) {
  EXPECT_EQ(hex(proof_of("Jefe", bytes_of("what do ya want for nothing?"))),
            "af423ab2aeff1a0640e18cdf318293eea9a8a7d6608fa0df9879376dd2d16baa");
  EXPECT_EQ(hex(proof_of(std::string(131, '\xaa'),
                         bytes_of("Test Using Larger Than Block-Size Key - Hash Key First"))),
            "7f69304006052e7045a9d101467c9e3de152c179ce6e00596a41fab0b629801d");
  EXPECT_EQ(hex(proof_of("", {})),
            "0a28e966fb7a7d39fd0a4d12d6fb14625b94b1738943338d2b3df4cc81cb4ef0");
}

// Appendix A of RFC 7693, and the test vector of an empty text with the key 00 01 02 ... of the
// reference implementation.
TEST(Sodium, hashes_as_the_standard_says) {
  const Sodium& library = Sodium::get();
  std::array<unsigned char, 64> hash{}, key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<unsigned char>(i);
  const std::string abc = "abc";
  library.generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(abc.data()),
                      abc.size(), nullptr, 0);
  EXPECT_EQ(hex(hash),
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
            "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
  library.generichash(hash.data(), hash.size(), nullptr, 0, key.data(), key.size());
  EXPECT_EQ(hex(hash),
            "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786"
            "b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568");
}

// The test vector of the paper: the bytes 0 to 14 under the key of the bytes 0 to 15.
TEST(Sodium, seals_as_the_standard_says) {
  unsigned char key[16];
  unsigned char text[15];
  for (unsigned char i = 0; i < 16; ++i) key[i] = i;
  for (unsigned char i = 0; i < 15; ++i) text[i] = i;
  std::uint64_t seal = 0;
  Sodium::get().shorthash(reinterpret_cast<unsigned char*>(&seal), text, sizeof text, key);
  EXPECT_EQ(seal, 0xa129ca6149be45e5U);
}

TEST(Sodium, that_is_missing_is_named_with_the_remedy) {
  const char* const names[] = {"libnothing.so.1", "libnothing.so.2"};
  expect_contains(refusal([&] { Sodium::load(names); }),
                  {"libsodium", "cannot be loaded (libnothing.so.1:", "Debian: libsodium23"});
  const char* const another[] = {"libnothing.so.1", "libdl.so.2"};
  expect_contains(refusal([&] { Sodium::load(another); }),
                  {"has no function sodium_init here", "Debian: libsodium23"});
}

bool sodium_is_loaded() {
  std::ifstream maps("/proc/self/maps");
  const std::string all((std::istreambuf_iterator<char>(maps)), {});
  return all.find("libsodium.so.") != std::string::npos;  // not what is built here
}

// In programs of their own, which have loaded nothing yet.
TEST(Sodium, is_loaded_only_where_others_are_met) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto job_of_one = [] {
    join_rendezvous(0, 1, free_place());
    _exit(sodium_is_loaded() ? 1 : 0);
  };
  const auto guest_of_nobody = [] {
    refusal([] { join_rendezvous(1, 2, free_place(), milliseconds(10)); });
    _exit(sodium_is_loaded() ? 1 : 0);
  };
  EXPECT_EXIT(job_of_one(), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(guest_of_nobody(), testing::ExitedWithCode(1), "");
}

TEST(Proof, differs_in_any_bit) {
  const Proof proof = proof_of("", {});
  EXPECT_TRUE(same_proof(proof, proof));
  for (std::size_t i = 0; i < proof.size(); ++i) {
    Proof other = proof;
    other[i] ^= std::byte{1};
    EXPECT_FALSE(same_proof(proof, other));
  }
}

TEST(BootstrapRendezvous, job_of_one_needs_nobody) {
  const auto job = join_rendezvous(0, 1, free_place());
  EXPECT_EQ(job->launcher(), "rendezvous");
  EXPECT_EQ(text_of(job->exchange(bytes_of("alone")).at(0)), "alone");
  job->barrier();
  job->finished();
}

TEST(BootstrapRendezvous, exchange_gives_all_blobs_to_all_again_and_again) {
  constexpr std::uint32_t kSize = 30;
  const Rendezvous where = free_place();
  const auto results = in_children(kSize, [&](Rank rank) -> std::string {
    const auto job = join_rendezvous(rank, kSize, where, kPatience);
    for (int round = 0; round < 20; ++round) {
      const auto blob_of = [round](Rank of) {
        const std::size_t length = (round * 37 + of * 101) % (Bootstrap::kMaxBlob + 1);
        return std::string(length, static_cast<char>('a' + (round + of) % 26));
      };
      const auto all = job->exchange(bytes_of(blob_of(rank)));
      for (Rank other = 0; other < kSize; ++other) {
        if (text_of(all.at(other)) != blob_of(other)) return "wrong";
      }
      job->barrier();
    }
    job->finished();
    return "right";
  });
  for (const std::string& result : results) EXPECT_EQ(result, "right");
}

TEST(BootstrapRendezvous, one_process_may_run_one_job_after_another) {
  const Rendezvous places[] = {free_place(), free_place()};
  const auto results = in_children(
      3, [&](Rank rank) { return take_part(rank, 3, places[0]) + take_part(rank, 3, places[1]); });
  for (const std::string& result : results) EXPECT_EQ(result, "012012");
}

TEST(BootstrapRendezvous, who_does_not_know_the_secret_is_refused) {
  // Its time has to be over first: that answer could be anybody's.
  expect_contains(intrude_as(1, 3, "incorrect horse", milliseconds(1500)),
                  {"rank 1: SPLITC_RENDEZVOUS=127.0.0.1:", "did not find rank 0 there in time",
                   "another SPLITC_SECRET"});
}

TEST(BootstrapRendezvous, who_thinks_of_another_size_is_refused) {
  expect_contains(intrude_as(1, 4, kSecret), {"rank 1", "rank 0 has SPLITC_SIZE=3", "process 4"});
}

TEST(BootstrapRendezvous, second_process_of_one_rank_is_refused) {
  // Which of the two came first is chance; one of them is told.
  const Rendezvous where = free_place();
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const auto results = in_children(4, [&](unsigned who) -> std::string {
    char byte = 0;
    if (who == 2 && read(told[0], &byte, 1) != 1) return "no word of the other";
    try {
      return take_part(who == 3 ? 1 : who, 3, where);
    } catch (const Error& error) {
      if (write(told[1], &byte, 1) != 1) return "cannot go on";
      return error.what();
    }
  });
  close(told[0]);
  close(told[1]);
  EXPECT_EQ(results[0], "012");
  EXPECT_EQ(results[2], "012");
  const bool first = results[1] == "012";
  EXPECT_EQ(results[first ? 1 : 3], "012");
  expect_contains(results[first ? 3 : 1], {"another process is rank 1", "SPLITC_RANK"});
}

TEST(BootstrapRendezvous, garbage_does_no_harm) {
  for (const std::string& garbage :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(10'000, 'S'),
        std::string("Splitph2") + std::string(56, '\0')}) {
    intrude([&](const Rendezvous& where) {
      const Connection to = connect_to(where);
      send(to.fd(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
      wait_for_end(to);
      return std::string("over");
    });
  }
}

// Hellos that are right but for a few bits: every answer of a stranger to the challenge.
TEST(BootstrapRendezvous, mutated_greetings_do_no_harm) {
  const std::string told = intrude([](const Rendezvous& where) {
    std::mt19937_64 random(1);
    std::string unwelcome;
    for (int i = 0; i < 300; ++i) {
      const Connection to = connect_to(where);
      Challenge challenge{};
      recv(to.fd(), &challenge, sizeof(challenge), MSG_WAITALL);
      Hello hello{kGreeting, 1, 3, random_nonce(), {}};
      hello.proof = proof_of_hello(kSecret, challenge, hello);
      std::array<std::byte, sizeof(Hello)> bytes;
      std::memcpy(bytes.data(), &hello, sizeof(hello));
      for (std::uint64_t bits = 1 + random() % 4; bits != 0; --bits) {
        bytes[random() % bytes.size()] ^= std::byte{1} << random() % 8;
      }
      if (std::memcmp(bytes.data(), &hello, sizeof(hello)) == 0) continue;  // changed back
      send(to.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      GreetingVerdict verdict{};
      if (recv(to.fd(), &verdict, sizeof(verdict), MSG_WAITALL) != sizeof(verdict)) continue;
      if (verdict.answer != Answer::kOtherSecret) unwelcome += std::to_string(i) + " ";
    }
    return unwelcome + "refused";
  });
  EXPECT_EQ(told, "refused");
}

TEST(BootstrapRendezvous, greeting_that_breaks_off_does_no_harm) {
  for (const std::size_t length : {0, 1, 8, 63}) {
    intrude([=](const Rendezvous& where) {
      const Connection to = connect_to(where);
      const std::string begin = (std::string("Splitph2") + std::string(56, 'x')).substr(0, length);
      send(to.fd(), begin.data(), begin.size(), MSG_NOSIGNAL);
      return std::string("over");
    });
  }
}

TEST(BootstrapRendezvous, greeting_heard_from_another_is_worth_nothing) {
  const std::string told = intrude([](const Rendezvous& where) {
    // What a process that knows the secret said to another challenge.
    Challenge other{kGreeting, random_nonce()};
    Hello hello{kGreeting, 1, 3, random_nonce(), {}};
    hello.proof = proof_of_hello(kSecret, other, hello);
    const Connection to = connect_to(where);
    Challenge challenge{};
    GreetingVerdict verdict{};
    recv(to.fd(), &challenge, sizeof(challenge), MSG_WAITALL);
    send(to.fd(), &hello, sizeof(hello), MSG_NOSIGNAL);
    recv(to.fd(), &verdict, sizeof(verdict), MSG_WAITALL);
    return std::string(verdict.answer == Answer::kOtherSecret ? "refused" : "welcome");
  });
  EXPECT_EQ(told, "refused");
}

TEST(BootstrapRendezvous, names_who_is_missing) {
  const Rendezvous where = free_place();
  expect_contains(refusal([&] { join_rendezvous(0, 4, where, milliseconds(50)); }),
                  {"rank 0", where.port, "ranks 1, 2 and 3 of 4 did not come in time"});
  expect_contains(refusal([&] { join_rendezvous(0, 2, where, milliseconds(50)); }),
                  {"rank 1 of 2 did not come"});
  expect_contains(refusal([&] { join_rendezvous(0, 100, where, milliseconds(50)); }),
                  {"ranks 1, 2, 3, 4, 5, 6, 7, 8 and 91 others of 100"});
  expect_contains(refusal([&] { join_rendezvous(3, 4, where, milliseconds(50)); }),
                  {"rank 3", "did not find rank 0 there in time (Connection refused)"});
}

TEST(BootstrapRendezvous, those_who_came_are_told_who_is_missing) {
  const Rendezvous where = free_place();
  const auto results = in_children(2, [&](Rank rank) -> std::string {
    if (rank == 0) return refusal([&] { join_rendezvous(0, 3, where, milliseconds(1000)); });
    return take_part(1, 3, where);
  });
  expect_contains(results[0], {"rank 2 of 3 did not come"});
  EXPECT_EQ(results[1], "died: exit code 1");
}

TEST(BootstrapRendezvous, place_that_cannot_be_used_is_refused) {
  const Rendezvous where = free_place();
  const Connection taken(socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in address = loopback(static_cast<std::uint16_t>(std::stoi(where.port)));
  ASSERT_EQ(bind(taken.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(taken.fd(), 1), 0);
  expect_contains(refusal([&] { join_rendezvous(0, 2, where, milliseconds(50)); }),
                  {"cannot listen there (Address already in use)", "free port"});
  expect_contains(refusal([&] { join_rendezvous(1, 2, where, milliseconds(50)); }),
                  {"somebody listens and says nothing"});
  const Rendezvous elsewhere{"192.0.2.1", "4711", kSecret};  // nobody's, by RFC 5737
  expect_contains(refusal([&] { join_rendezvous(0, 2, elsewhere, milliseconds(50)); }),
                  {"cannot listen there (Cannot assign", "start rank 0 on the machine"});
  const Rendezvous nowhere{"no such host", "4711", kSecret};
  expect_contains(refusal([&] { join_rendezvous(0, 2, nowhere, milliseconds(50)); }),
                  {"no such host:", "write the name"});
}

// A listener at that place which every program may have made.
Connection listen_at(const Rendezvous& where) {
  Connection listener(socket(AF_INET, SOCK_STREAM, 0));
  const int yes = 1;
  setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const sockaddr_in address = loopback(static_cast<std::uint16_t>(std::stoi(where.port)));
  EXPECT_EQ(bind(listener.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(listen(listener.fd(), 1), 0);
  return listener;
}

// Greets the next guest as rank 0 would, and gives it that verdict, whose proof is wrong.
void mislead(const Connection& listener, Answer answer) {
  const Connection guest(accept(listener.fd(), nullptr, nullptr));
  const Challenge challenge{kGreeting, random_nonce()};
  Hello hello{};
  send(guest.fd(), &challenge, sizeof(challenge), MSG_NOSIGNAL);
  recv(guest.fd(), &hello, sizeof(hello), MSG_WAITALL);
  const GreetingVerdict verdict{answer, 2, hello.proof};
  send(guest.fd(), &verdict, sizeof(verdict), MSG_NOSIGNAL);
  wait_for_end(guest);
}

TEST(BootstrapRendezvous, strangers_in_the_place_of_rank_0_do_not_end_a_guest) {
  const Rendezvous where = free_place();
  const auto results = in_children(2, [&](unsigned who) -> std::string {
    if (who == 1) return take_part(1, 2, where);
    Connection listener = listen_at(where);
    for (const Answer answer : {Answer::kOtherSecret, Answer::kWelcome, Answer::kTaken}) {
      mislead(listener, answer);
    }
    for (const std::string& text : {std::string("SSH-2.0-OpenSSH_9.2\r\n"), std::string("Spl")}) {
      const Connection guest(accept(listener.fd(), nullptr, nullptr));
      send(guest.fd(), text.data(), text.size(), MSG_NOSIGNAL);
    }
    listener = Connection();
    return take_part(0, 2, where);
  });
  for (const std::string& result : results) EXPECT_EQ(result, "01");
}

TEST(BootstrapRendezvous, guest_says_at_last_what_a_stranger_told_it) {
  const Rendezvous where = free_place();
  const std::string told = in_children(2, [&](unsigned who) -> std::string {
    if (who == 1) return refusal([&] { join_rendezvous(1, 2, where, milliseconds(1500)); });
    mislead(listen_at(where), Answer::kWelcome);
    return "over";
  })[1];
  expect_contains(told, {"rank 1",
                         "did not find rank 0 there in time: who listens there does not "
                         "know SPLITC_SECRET; is it rank 0?"});
}

// More than rank 0 keeps at a time.
TEST(BootstrapRendezvous, strangers_who_connect_and_are_silent_hold_up_nobody) {
  intrude([](const Rendezvous& where) {
    std::vector<Connection> silent;
    for (int i = 0; i < 600; ++i) silent.push_back(connect_to(where));
    wait_for_end(silent.front());
    return std::string("over");
  });
}

TEST(BootstrapRendezvous, strangers_who_take_all_open_files_of_rank_0_do_not_end_it) {
  const Rendezvous where = free_place();
  int held[2];
  ASSERT_EQ(pipe(held), 0);
  const auto results = in_children(3, [&](unsigned who) -> std::string {
    char byte = 0;
    if (who == 0) {
      const rlimit few{40, 40};
      setrlimit(RLIMIT_NOFILE, &few);
      return take_part(0, 2, where);
    }
    if (who == 1) {
      if (read(held[0], &byte, 1) != 1) return "no word of the stranger";
      return take_part(1, 2, where);
    }
    std::vector<Connection> silent;
    for (int i = 0; i < 60; ++i) silent.push_back(connect_to(where));
    if (write(held[1], &byte, 1) != 1) return "cannot go on";
    wait_for_end(silent.back());
    return "over";
  });
  close(held[0]);
  close(held[1]);
  EXPECT_EQ(results, (std::vector<std::string>{"01", "01", "over"}));
}

TEST(BootstrapRendezvous, death_of_any_ends_all) {
  for (unsigned victim = 0; victim < 3; ++victim) {
    const Rendezvous where = free_place();
    const auto results = in_children(3, [&](Rank rank) -> std::string {
      const auto job = join_rendezvous(rank, 3, where, kPatience);
      job->barrier();
      if (rank == victim) _exit(3);
      while (true) pause();  // calls nothing: the thread of the library notices
    });
    for (unsigned rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(results[rank], rank == victim ? "died: exit code 3" : "died: exit code 1");
    }
  }
}

TEST(BootstrapRendezvous, abort_of_any_ends_all_with_its_code) {
  for (unsigned who = 0; who < 3; ++who) {
    const Rendezvous where = free_place();
    const auto results = in_children(3, [&](Rank rank) -> std::string {
      const auto job = join_rendezvous(rank, 3, where, kPatience);
      job->barrier();
      if (rank == who) job->abort(7, "no more room");
      while (true) pause();
    });
    for (const std::string& result : results) EXPECT_EQ(result, "died: exit code 7");
  }
}

TEST(BootstrapRendezvous, who_has_finished_may_leave) {
  const Rendezvous where = free_place();
  int left[2];
  ASSERT_EQ(pipe(left), 0);
  const auto results = in_children(3, [&](Rank rank) -> std::string {
    {
      const auto job = join_rendezvous(rank, 3, where, kPatience);
      job->barrier();
      char byte = 0;
      if (rank == 2 && read(left[0], &byte, 1) != 1) return "no word of rank 1";  // it has left
      job->finished();
    }
    if (rank == 1 && write(left[1], "", 1) != 1) return "cannot go on";
    return "well";
  });
  close(left[0]);
  close(left[1]);
  for (const std::string& result : results) EXPECT_EQ(result, "well");
}

TEST(Frames, come_in_pieces_and_together) {
  std::vector<std::byte> stream = frame_bytes(FrameKind::kMine, bytes_of("first"));
  for (const auto& more : {frame_bytes(FrameKind::kFinished, {}), end_frame(7, "why")}) {
    stream.insert(stream.end(), more.begin(), more.end());
  }
  for (std::size_t step = 1; step <= stream.size(); ++step) {
    FrameReader reader(2);
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      const auto piece = std::span(stream).subspan(at, std::min(step, stream.size() - at));
      ASSERT_TRUE(reader.add(piece, frames));
    }
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(text_of(frames[0].bytes), "first");
    EXPECT_EQ(frames[1].kind, FrameKind::kFinished);
    EXPECT_EQ(read_end(frames[2]).exit_code, 7);
    EXPECT_EQ(read_end(frames[2]).why, "why");
  }
}

TEST(Frames, that_nobody_sends_are_refused) {
  const auto refused = [](FrameHead head) {
    std::vector<Frame> frames;
    return !FrameReader(2).add(std::as_bytes(std::span(&head, 1)), frames);
  };
  EXPECT_TRUE(refused({FrameKind{0}, 0}));
  EXPECT_TRUE(refused({FrameKind{5}, 0}));
  EXPECT_TRUE(refused({FrameKind::kMine, 1u << 20}));
  EXPECT_FALSE(refused({FrameKind::kAll, 1056}));
  EXPECT_EQ(read_end({FrameKind::kEnd, {}}).exit_code, 1);
}

}  // namespace
}  // namespace am
