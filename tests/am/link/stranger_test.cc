// Somebody outside the job who can connect to a process's port, and speaks the protocol of
// libfabric's provider net as far as he likes: the job's own packets go on.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "rdma/interface.h"
#include "tests/am/link/fabric_pair.h"

namespace am::link {
namespace stranger_test {

using test::Pair;
using test::parts_of;
using test::Side;

constexpr const char* kProvider = "net";

// The first messages of a connection, and the head of each that follows (libfabric 1.17,
// prov/net/src/xnet_proto.h).
struct [[gnu::packed]] ConnectionRequest {
  std::uint8_t version = 3;
  std::uint8_t type = 0;
  std::uint16_t data_bytes = htons(8);
  std::uint32_t unused = 0;
  std::uint64_t more_unused[2] = {};
  std::uint64_t one = 1;
  std::uint8_t data_version = 0;
  std::uint8_t data_unused = 0;
  std::uint16_t port = 0;  // that the stranger says he listens to
  std::uint32_t pid = htonl(1);
};
struct [[gnu::packed]] MessageHead {
  std::uint8_t version = 3;
  std::uint8_t op = 0;  // of a message
  std::uint16_t flags = 0;
  std::uint8_t op_data = 0;
  std::uint8_t segments = 0;
  std::uint8_t head_bytes = 16;
  std::uint8_t unused = 0;
  std::uint64_t bytes = 0;  // the head included
};
static_assert(sizeof(ConnectionRequest) == 40 && sizeof(MessageHead) == 16);

class Stranger {
 public:
  explicit Stranger(const Side& link) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto card = parts_of(const_cast<Side&>(link).link().card());
    if (connect(fd_, reinterpret_cast<const sockaddr*>(card.address.data()),
                static_cast<socklen_t>(card.address.size())) != 0) {
      throw std::runtime_error("cannot connect to the link");
    }
  }
  ~Stranger() { close(fd_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  void introduce(std::uint16_t port) {
    ConnectionRequest request;
    request.port = htons(port);
    send(std::as_bytes(std::span(&request, 1)));
  }
  // The head of a message of `bytes`, and as many of them as `really`.
  void send_message(std::uint64_t bytes, std::size_t really) {
    MessageHead head;
    head.bytes = sizeof head + bytes;
    send(std::as_bytes(std::span(&head, 1)));
    send(std::vector<std::byte>(really, std::byte{0x78}));
  }
  // A whole message that carries completion data: a put, if that were all that makes one.
  void send_message_with_completion_data() {
    MessageHead head;
    const std::uint64_t word = 7;
    head.flags = 1;
    head.head_bytes = sizeof head + sizeof word;
    head.bytes = sizeof head + sizeof word + 8;
    send(std::as_bytes(std::span(&head, 1)));
    send(std::as_bytes(std::span(&word, 1)));
    send(std::vector<std::byte>(8, std::byte{0x78}));
  }
  // A write of no bytes, with completion data: the provider asks for no key.
  void send_completion(std::uint64_t word) {
    MessageHead head;
    head.op = 4;
    head.flags = 1;
    head.head_bytes = sizeof head + sizeof word;
    head.bytes = sizeof head + sizeof word;
    send(std::as_bytes(std::span(&head, 1)));
    send(std::as_bytes(std::span(&word, 1)));
  }
  // A link that has closed the connection does not matter.
  void send(std::span<const std::byte> bytes) {
    (void)!::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

 private:
  const int fd_;
};

std::uint16_t port_of(Side& link) {
  const auto card = parts_of(link.link().card());
  sockaddr_in address{};
  std::memcpy(&address, card.address.data(), std::min(sizeof address, card.address.size()));
  return ntohs(address.sin_port);
}

class Strangers : public testing::Test {
 protected:
  Strangers() {
    pair_.a.send(1, next_++);
    pair_.poll_until([&] { return pair_.b.numbers().size() == 1; });
  }

  std::unique_ptr<Stranger> introduced() {
    auto made = std::make_unique<Stranger>(pair_.b);
    made->introduce(port_++);
    exchange();  // so that the link takes the connection
    return made;
  }
  // Packets of the job go both ways, some with a page of data.
  void exchange() {
    for (int i = 0; i < 20; ++i) {
      pair_.a.send(1, next_, i % 4 == 0 ? 4096 : 8);
      pair_.b.send(0, next_, i % 4 == 0 ? 4096 : 8);
      ++next_;
    }
    await_all();
  }
  void await_all() {
    int polls = 0;
    pair_.poll_until([&] {
      if (++polls % 1000 == 0) pair_.b.link().verify();  // as who waits for long does
      return pair_.b.numbers().size() == next_ && pair_.a.numbers().size() == next_ - 1;
    });
  }
  const StrangerStats& stats() { return pair_.b.link().stats().strangers; }

  Pair pair_{kProvider};
  std::uint64_t next_ = 0;
  std::uint16_t port_ = 20'000;
};

TEST_F(Strangers, who_say_nothing_do_not_matter) {
  std::vector<std::unique_ptr<Stranger>> all;
  for (int i = 0; i < 50; ++i) all.push_back(std::make_unique<Stranger>(pair_.b));
  exchange();
  all.clear();
  exchange();
  EXPECT_EQ(stats(), StrangerStats{});
}

TEST_F(Strangers, who_send_garbage_are_dropped) {
  std::vector<std::byte> garbage(200);
  for (int i = 0; i < 50; ++i) {
    for (std::size_t k = 0; k < garbage.size(); ++k) {
      garbage[k] = static_cast<std::byte>(i * 131 + static_cast<int>(k) * 29);
    }
    Stranger stranger(pair_.b);
    stranger.send(garbage);
    exchange();
  }
}

TEST_F(Strangers, who_send_frames_without_the_token_are_dropped) {
  std::vector<std::unique_ptr<Stranger>> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(introduced());
    all.back()->send_message(64, 64);
    exchange();
  }
  pair_.poll_until([&] { return stats().frames == 10; });
  EXPECT_EQ(pair_.b.warnings().size(), 1u);
}

TEST_F(Strangers, cannot_report_puts_by_completion_data_that_was_not_given_to_them) {
  auto stranger = introduced();
  for (int i = 0; i < 3; ++i) stranger->send_completion(Side::kUnknownWord);
  stranger->send_completion(7);  // as if it had been given that word
  pair_.poll_until([&] { return !pair_.b.arrivals().empty(); });
  EXPECT_EQ(pair_.b.arrivals(), std::vector<std::uint64_t>{7});
  EXPECT_EQ(stats(), (StrangerStats{.words = 3}));
  EXPECT_EQ(pair_.b.warnings().size(), 1u);
  exchange();
}

// More than a link has receives: each takes one, and must give it back.
TEST_F(Strangers, who_send_messages_with_completion_data_take_no_room_and_report_no_puts) {
  auto stranger = introduced();
  for (int i = 0; i < 3000; ++i) {
    stranger->send_message_with_completion_data();
    if (i % 100 == 0) exchange();
  }
  pair_.poll_until([&] { return stats().frames == 3000; });
  EXPECT_TRUE(pair_.b.arrivals().empty());
  EXPECT_EQ(stats(), (StrangerStats{.frames = 3000}));
  exchange();
}

// More than a link has receives: each takes one, and must give it back.
TEST_F(Strangers, who_break_off_in_the_middle_of_a_message_take_no_room) {
  for (int i = 0; i < 300; ++i) {
    auto stranger = introduced();
    stranger->send_message(8000, 100);
    exchange();
    stranger.reset();
    exchange();
  }
  pair_.poll_until([&] { return stats().receives == 300; });
  pair_.poll_until([&] { return !pair_.b.warnings().empty(); });
  EXPECT_EQ(pair_.b.warnings().size(), 1u);
  EXPECT_EQ(stats(), (StrangerStats{.receives = 300}));
}

TEST_F(Strangers, who_send_messages_longer_than_any_take_no_room) {
  for (int i = 0; i < 300; ++i) {
    auto stranger = introduced();
    stranger->send_message(1 << 20, 1000);
    exchange();
  }
  exchange();
}

// Half messages that stay half: verify() makes room beside them.
TEST_F(Strangers, who_hold_messages_open_do_not_stop_the_job) {
  std::vector<std::unique_ptr<Stranger>> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(introduced());
    all.back()->send_message(8000, 100);
    exchange();
  }
  for (int i = 0; i < 400; ++i) {
    all.push_back(std::make_unique<Stranger>(pair_.b));
    all.back()->introduce(port_++);
    all.back()->send_message(8000, 100);
    pair_.a.link().poll(pair_.a);
    pair_.b.link().poll(pair_.b);
  }
  pair_.a.send(1, next_);
  pair_.b.send(0, next_++);
  await_all();
  all.clear();
  exchange();
}

// A stranger on the same machine can say that he is a process of the job: the provider then drops
// that one's connection, and what is under way on it. What follows comes by the next connection.
TEST(Replaced, connections_bring_no_packet_without_the_bytes_that_were_written_before) {
  struct Done : Completion {};
  constexpr std::size_t kBytes = Side::kSegment - 64;  // more than sockets hold
  const std::vector<std::byte> source(kBytes, std::byte{7});
  int lost = 0;
  for (int round = 0; round < 8; ++round) {
    Pair pair(kProvider, {.longest_gap_ns = 50'000'000});
    pair.b.on_packet = [&](std::uint64_t number) {
      const auto there = std::ranges::count(pair.b.segment(), std::byte{7});
      EXPECT_EQ(there, number == 0 ? 0 : kBytes);
    };
    pair.a.send(1, 0);
    pair.b.send(0, 0);
    pair.poll_until([&] { return !pair.a.numbers().empty() && !pair.b.numbers().empty(); });
    Done done;
    done.done = [](Completion&) {};
    const auto write = RmaAccess::write(1, RemoteKey::in_segment(0), source, true);
    pair.poll_until([&] { return pair.a.link().try_access(write, done); });
    pair.a.send(1, 1);
    for (int i = 0; i < round; ++i) pair.b.link().poll(pair.b);
    auto stranger = std::make_unique<Stranger>(pair.b);
    stranger->introduce(port_of(pair.a));
    int polls = 0;
    try {
      pair.poll_until([&] {
        if (++polls == 100) stranger.reset();
        if (polls % 10'000 == 0) pair.a.link().verify(), pair.b.link().verify();
        return pair.b.numbers().size() == 2;
      });
    } catch (const test::Fatal&) {
      ++lost;
    }
  }
  EXPECT_GT(lost, 0) << "no connection was replaced";
}

}  // namespace stranger_test
}  // namespace am::link
