#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "am/link/link.h"

namespace am::link {
namespace {

struct Noted final : TypeSink, WordSink {
  bool take(Rank from, const PacketHeader& packet) override {
    taken.emplace_back(from, packet.type);
    return packet.detail == 0;
  }
  bool keeps(const PacketHeader& packet) const noexcept override { return packet.handler != 0; }
  bool arrived(std::uint64_t word) override { return word == 7; }

  std::vector<std::pair<Rank, Type>> taken;
};

using Taken = std::vector<std::pair<Rank, Type>>;

class PacketSinksTest : public ::testing::Test {
 protected:
  static PacketHeader packet(Type type) { return make_header(type, sizeof(PacketHeader)); }

  Taken refused_;
  PacketSinks sinks_{
      [this](Rank from, const PacketHeader& packet) { refused_.emplace_back(from, packet.type); }};
  Noted stores_, messages_;
};

TEST_F(PacketSinksTest, pass_each_type_to_whom_it_belongs) {
  sinks_.add(Type::kStore, stores_);
  sinks_.add(Type::kRequest, messages_);
  sinks_.add(Type::kReply, messages_);
  sinks_.deliver(3, packet(Type::kRequest));
  sinks_.deliver(1, packet(Type::kStore));
  sinks_.deliver(2, packet(Type::kReply));
  EXPECT_EQ(stores_.taken, (Taken{{1, Type::kStore}}));
  EXPECT_EQ(messages_.taken, (Taken{{3, Type::kRequest}, {2, Type::kReply}}));
  EXPECT_EQ(refused_, Taken());
}

TEST_F(PacketSinksTest, refuse_what_nobody_takes_and_what_is_damaged) {
  sinks_.add(Type::kStore, stores_);
  sinks_.deliver(1, packet(Type::kRequest));
  PacketHeader damaged = packet(Type::kStore);
  damaged.detail = 1;
  sinks_.deliver(2, damaged);
  PacketHeader unknown = packet(Type::kGone);
  unknown.type = static_cast<Type>(kTypes);  // the first that is none
  sinks_.deliver(3, unknown);
  unknown.type = static_cast<Type>(255);
  sinks_.deliver(4, unknown);
  EXPECT_EQ(refused_, (Taken{{1, Type::kRequest},
                             {2, Type::kStore},
                             {3, static_cast<Type>(kTypes)},
                             {4, static_cast<Type>(255)}}));
}

TEST_F(PacketSinksTest, keep_what_its_sink_keeps) {
  sinks_.add(Type::kRequest, messages_);
  PacketHeader request = packet(Type::kRequest);
  EXPECT_FALSE(sinks_.keeps(request));
  request.handler = 1;
  EXPECT_TRUE(sinks_.keeps(request));
  request.type = Type::kReply;
  EXPECT_FALSE(sinks_.keeps(request)) << "nobody is there who could";
}

TEST_F(PacketSinksTest, know_only_the_words_that_were_given_out) {
  EXPECT_FALSE(sinks_.arrived(7)) << "so far nobody gives words";
  sinks_.add(static_cast<WordSink&>(stores_));
  EXPECT_TRUE(sinks_.arrived(7));
  EXPECT_FALSE(sinks_.arrived(8));
}

}  // namespace
}  // namespace am::link
