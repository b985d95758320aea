// What comes to a link from outside its job, or damaged; and how packets share frames, seen by an
// endpoint that is no link.
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "rdma/endpoint.h"
#include "rdma/memory.h"
#include "tests/am/link/fabric_pair.h"

namespace am::link {
namespace forged_test {

using test::Fatal;
using test::make_card;
using test::Pair;
using test::parts_of;
using test::Side;

constexpr const char* kProvider = "net";

// A bare endpoint that a link takes for rank 2.
class Stranger {
 public:
  explicit Stranger(Side& link)
      : fabric_(test::open_fabric(kProvider)),
        endpoint_(*fabric_, {.operations = 256, .wait_fd = false}),
        rooms_(*fabric_, endpoint_, kReceives, fabric_->eager_bytes()) {
    auto card = parts_of(link.link().card());
    token_ = card.token;
    link_ = endpoint_.insert(card.address);
    for (std::size_t i = 0; i < kReceives; ++i) {
      rdma::Op& op = receives_.emplace_back(rdma::Op::Kind::kReceive);
      EXPECT_TRUE(endpoint_.try_receive(rooms_[i], rooms_.descriptor(), op));
    }
    card.address = endpoint_.address();
    card.token = kToken;
    link.link().introduce(2, make_card(card));
  }

  // A frame: header, then `body`. If it is the next one of rank 2 it has the next number.
  void send(std::uint64_t token, Rank source, std::span<const std::byte> body, Side& to) {
    const bool counts = token == token_ && source == 2;
    send_frame({token, source, counts ? ++number_ : 0}, body, to);
  }
  void send_frame(const FrameHeader& header, std::span<const std::byte> body, Side& to) {
    std::vector<std::byte> frame(sizeof header + body.size());
    std::memcpy(frame.data(), &header, sizeof header);
    if (!body.empty()) std::memcpy(frame.data() + sizeof header, body.data(), body.size());
    send_raw(frame, to);
  }
  void send_raw(std::span<const std::byte> frame, Side& to) {
    while (!endpoint_.try_send(link_, frame, nullptr, send_)) look(&to);
    for (sent_ = false; !sent_;) look(&to);
  }

  // As if the next frames had been lost on the way.
  void skip_frames(std::uint32_t count) { number_ += count; }

  // The bytes of each frame that has come, once there are that many; `from`, if any, polls.
  const std::vector<std::size_t>& await_frames(std::size_t count, Side* from) {
    while (frames_.size() < count) look(from);
    return frames_;
  }

  std::uint64_t token() const { return token_; }
  static constexpr std::uint64_t kToken = 0x1234567812345678;

  // Polls, and `other`, too, if it is given.
  void look(Side* other) {
    std::array<fi_cq_data_entry, 8> events{};
    rdma::Failure failure;
    const int count = endpoint_.poll(events, failure);
    if (count < 0) sent_ = true;  // the link has ended the connection
    for (int i = 0; i < count; ++i) {
      const auto& event = events[static_cast<std::size_t>(i)];
      if (rdma::Op::of(event.op_context).kind == rdma::Op::Kind::kSend) {
        sent_ = true;
        continue;
      }
      FrameHeader header{};
      std::memcpy(&header, rooms_[frames_.size()].data(), sizeof header);  // in the order posted
      EXPECT_EQ(header.token, kToken);
      EXPECT_EQ(header.number, frames_.size() + 1);
      EXPECT_EQ(header.source, 0u);
      frames_.push_back(event.len);
    }
    if (other != nullptr) other->link().poll(*other);
  }

 private:
  static constexpr std::size_t kReceives = 8;  // more frames than any test sends here

  std::unique_ptr<rdma::Fabric> fabric_;
  rdma::Endpoint endpoint_;
  rdma::Buffers rooms_;  // one for each frame that comes
  std::deque<rdma::Op> receives_;
  rdma::Op send_{rdma::Op::Kind::kSend};
  fi_addr_t link_ = 0;
  std::uint64_t token_ = 0;
  std::uint32_t number_ = 0;  // of the last frame sent
  bool sent_ = false;
  std::vector<std::size_t> frames_;
};

TEST(Frames, hold_all_packets_that_are_answers_of_one_poll) {
  Side link(kProvider, 0);
  Stranger other(link);
  constexpr std::uint64_t kAnswers = 50;
  link.on_packet = [&](std::uint64_t) {
    for (std::uint64_t i = 0; i < kAnswers; ++i) link.send(2, i);
  };
  const test::Numbered question{{.bytes = sizeof question,
                                 .type = Type::kBarrier,
                                 .detail = 0,
                                 .data_bytes = 0,
                                 .handler = 0,
                                 .words = 0},
                                7};
  other.send(other.token(), 2, std::as_bytes(std::span(&question, 1)), link);
  const std::size_t bytes = sizeof(FrameHeader) + kAnswers * sizeof(test::Numbered);
  EXPECT_EQ(other.await_frames(1, &link), std::vector{bytes});
}

TEST(Frames, leave_at_once_when_the_link_is_idle) {
  const std::size_t bytes = sizeof(FrameHeader) + sizeof(test::Numbered);
  Side link(kProvider, 0);
  Stranger other(link);
  link.send(2, 1);
  other.await_frames(1, &link);  // connected
  for (int i = 0; i < 1000; ++i) link.link().poll(link);
  EXPECT_FALSE(link.link().busy());
  link.send(2, 2);
  EXPECT_EQ(other.await_frames(2, nullptr), (std::vector{bytes, bytes}));  // without another poll
}

std::vector<std::byte> body_with(std::uint16_t bytes, std::size_t really) {
  std::vector<std::byte> body(really);
  PacketHeader head{};
  head.bytes = bytes;
  head.type = Type::kBarrier;
  if (really != 0) std::memcpy(body.data(), &head, std::min(really, sizeof head));
  return body;
}

TEST(Forged, frames_without_the_token_are_dropped) {
  Side link(kProvider, 0);
  Stranger other(link);
  const auto good = body_with(16, 16);
  other.send(other.token() + 1, 2, good, link);  // another job's
  other.send(0, 0, good, link);
  other.send(other.token(), 4, good, link);           // no such rank
  other.send(other.token(), 0xffffffff, good, link);  // no such rank
  other.send_raw(std::span(good).first(3), link);     // no frame
  other.send(other.token() + 1, 2, body_with(0xfff8, 16), link);
  other.send(other.token(), 2, good, link);
  while (link.numbers().empty()) link.link().poll(link);
  EXPECT_EQ(link.numbers().size(), 1u);
  EXPECT_EQ(link.link().stats().strangers, (StrangerStats{.frames = 6}));
  EXPECT_EQ(link.warnings().size(), 1u) << "it is reported once";
}

// What was lost together with a connection that a provider makes anew by itself.
TEST(Frames, that_are_missing_end_the_job_with_a_sentence) {
  for (const std::uint32_t missing : {1u, 2u, 100u}) {
    Side link(kProvider, 0, {.longest_gap_ns = 0});
    Stranger other(link);
    try {
      other.send(other.token(), 2, body_with(16, 16), link);
      other.skip_frames(missing);
      other.send(other.token(), 2, body_with(16, 16), link);
      for (;;) link.link().poll(link);
    } catch (const Fatal& error) {
      const std::string sentence = error.what();
      EXPECT_NE(sentence.find("of rank 2 has arrived, but frame 2 has not"), std::string::npos)
          << sentence;
      EXPECT_EQ(link.numbers().size(), 1u);
    }
  }
}

TEST(Frames, that_overtake_others_are_delivered_in_order) {
  Side link(kProvider, 0);
  Stranger other(link);
  for (const std::uint32_t number : {1u, 3u, 5u, 4u, 2u, 7u, 6u, 8u}) {
    const test::Numbered packet{make_header(Type::kBarrier, sizeof packet), number};
    other.send_frame({other.token(), 2, number}, std::as_bytes(std::span(&packet, 1)), link);
  }
  while (link.numbers().size() < 8) other.look(&link);
  EXPECT_EQ(link.numbers(), (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Frames, that_come_twice_are_delivered_once) {
  Side link(kProvider, 0);
  Stranger other(link);
  for (const std::uint32_t number : {1u, 1u, 2u, 1u, 4u, 4u, 3u, 0u, 0xffffffffu, 5u}) {
    const test::Numbered packet{make_header(Type::kBarrier, sizeof packet), number};
    other.send_frame({other.token(), 2, number}, std::as_bytes(std::span(&packet, 1)), link);
  }
  while (link.numbers().size() < 5) other.look(&link);
  EXPECT_EQ(link.numbers(), (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
}

TEST(Forged, packets_of_impossible_length_end_the_job_with_a_sentence) {
  for (const auto& body : {body_with(0, 16), body_with(7, 16), body_with(12, 16), body_with(24, 16),
                           body_with(0xfff8, 16), body_with(16, 4)}) {
    Side link(kProvider, 0);
    Stranger other(link);
    try {
      other.send(other.token(), 2, body, link);
      for (;;) link.link().poll(link);
    } catch (const Fatal& error) {
      EXPECT_NE(std::string(error.what()).find("a message of rank 2 is damaged"), std::string::npos)
          << error.what();
    }
  }
}

// Each ends the connection that it came by, and leaves the receive that it took to others.
TEST(Forged, frames_longer_than_any_are_dropped_and_take_no_room_from_others) {
  constexpr int kFrames = 200;  // more than a link has receives posted
  Side link(kProvider, 0);
  const std::vector<std::byte> body(40'000);
  for (int i = 0; i < kFrames; ++i) {
    Stranger other(link);
    other.send(other.token() + 1, 2, body, link);
  }
  Stranger friendly(link);
  friendly.send(friendly.token(), 2, body_with(16, 16), link);
  while (link.numbers().empty()) link.link().poll(link);
  EXPECT_EQ(link.numbers().size(), 1u);
}

// --- Cards

void expect_refused(Side& link, std::span<const std::byte> card, const char* why) {
  try {
    link.link().introduce(1, card);
    FAIL() << "taken; expected: " << why;
  } catch (const Error& error) {
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find("rank 0: the network address of rank 1"), std::string::npos)
        << sentence;
    EXPECT_NE(sentence.find(why), std::string::npos) << sentence;
  }
}

TEST(Cards, that_are_cut_are_refused_at_every_length) {
  Side link(kProvider, 0);
  Side other(kProvider, 1);
  const auto card = other.link().card();
  ASSERT_LE(card.size(), FabricLink::kMaxCard);
  for (std::size_t bytes = 0; bytes < card.size(); ++bytes) {
    expect_refused(link, std::span(card).first(bytes), bytes < 40 ? "too few" : "cut off");
  }
  auto longer = card;
  longer.push_back(std::byte{0});
  expect_refused(link, longer, "cut off");
}

TEST(Cards, with_any_bit_wrong_are_refused) {
  Side link(kProvider, 0);
  Side other(kProvider, 1);
  const auto card = other.link().card();
  for (std::size_t bit = 0; bit < 8 * card.size(); ++bit) {
    auto wrong = card;
    wrong[bit / 8] ^= std::byte{1} << bit % 8;
    expect_refused(link, wrong, "");
  }
  link.link().introduce(1, card);
}

TEST(Cards, of_another_provider_are_refused) {
  Side link(kProvider, 0);
  Side other(kProvider, 1);
  auto parts = parts_of(other.link().card());
  parts.address.resize(parts.address.size() + 8);
  expect_refused(link, make_card(parts), "of another provider");
  EXPECT_EQ(make_card(parts_of(other.link().card())), other.link().card());
}

}  // namespace forged_test
}  // namespace am::link
