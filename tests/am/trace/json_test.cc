#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "am/observe/event.h"
#include "am/observe/trace_json.h"

namespace am {
namespace {

// A nanosecond a tick; the trace begins at 1000.
ClockLine plain_clock() {
  ClockLine line;
  line.first = {0, 0};
  line.last = {1'000'000, 1'000'000};
  return line;
}

TraceEvent event(TraceKind kind, std::uint64_t begin, std::uint64_t length) {
  TraceEvent made;
  made.begin = begin;
  made.length = length;
  made.kind = static_cast<std::uint8_t>(kind);
  made.name = 1;
  return made;
}

std::string text_of(const TraceEvent& event) {
  const TraceText text(3, plain_clock(), 1'000, {{"others", ""}, {"on_ping", "a.cc:7"}});
  std::string line;
  text.append(line, 2, event);
  EXPECT_LE(line.size(), text.most_bytes());
  return line;
}

TEST(TraceText, is_a_slice_for_a_handler_and_an_arrow_that_ends_there) {
  TraceEvent made = event(TraceKind::kRequestHandler, 3'004, 1'500);
  made.flow = 0xabc;
  made.peer = 5;
  made.bytes = 16;
  const std::string slice =
      ",\n{\"ph\":\"X\",\"pid\":3,\"tid\":2,\"ts\":2.004,\"dur\":1.500,\"cat\":\"handler\","
      "\"name\":\"on_ping\",\"args\":{\"peer\":5,\"bytes\":16,\"at\":\"a.cc:7\"}}";
  EXPECT_EQ(text_of(made), slice);  // the other end is not there
  made.matched = 1;
  EXPECT_EQ(text_of(made),
            slice +
                ",\n{\"ph\":\"f\",\"pid\":3,\"tid\":2,\"ts\":2.004,\"bp\":\"e\","
                "\"id\":\"0x0000000000000abc\",\"cat\":\"message\",\"name\":\"message\"}");
}

TEST(TraceText, is_an_arrow_alone_for_a_reply_inside_its_handler) {
  TraceEvent made = event(TraceKind::kReply, 3'004, 0);
  made.flow = 1;
  EXPECT_EQ(text_of(made), "");
  made.matched = 1;
  EXPECT_EQ(text_of(made),
            ",\n{\"ph\":\"s\",\"pid\":3,\"tid\":2,\"ts\":2.003,\"id\":\"0x0000000000000001\","
            "\"cat\":\"message\",\"name\":\"message\"}");
}

TEST(TraceText, is_a_moment_for_an_operation) {
  TraceEvent made = event(TraceKind::kOperation, 1'000, 0);
  made.peer = 0;
  made.bytes = 8;
  EXPECT_EQ(text_of(made),
            ",\n{\"ph\":\"i\",\"pid\":3,\"tid\":2,\"ts\":0.000,\"s\":\"t\",\"cat\":\"operation\","
            "\"name\":\"on_ping\",\"args\":{\"peer\":0,\"bytes\":8,\"at\":\"a.cc:7\"}}");
}

TEST(TraceText, has_room_for_the_largest_of_all) {
  TraceEvent made = event(TraceKind::kChannelPut, ~std::uint64_t{0} >> 2, 1);
  made.length = (std::uint64_t{1} << 47) - 1;
  made.flow = ~TraceFlow{0};
  made.matched = 1;
  made.peer = TraceEvent::kNoPeer - 1;
  made.bytes = TraceEvent::kMostBytes;
  text_of(made);
  made.name = 500;  // no such label
  EXPECT_NE(text_of(made).find("\"name\":\"channel ?\""), std::string::npos);
}

TEST(Escaped, keeps_what_a_string_of_json_may_have) {
  EXPECT_EQ(escaped("plain"), "plain");
  EXPECT_EQ(escaped("a\"b\\c"), "a\\\"b\\\\c");
  EXPECT_EQ(escaped("a\nb\x01"), "a b ");
  EXPECT_EQ(escaped("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(escaped("\xc3(\xff\xe2\x82"), "?(???");
}

TEST(Describe, names_the_process_and_says_what_is_missing) {
  const std::string text =
      describe({.rank = 4, .node = 1, .host = "a\"b", .threads = 2, .dropped = 17}, 1'234'567);
  EXPECT_NE(text.find("\"rank 4 (node 1, a\\\"b)\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"tid\":1,\"name\":\"thread_name\""), std::string::npos) << text;
  EXPECT_NE(text.find("17 later events are missing"), std::string::npos) << text;
  EXPECT_NE(text.find("\"ts\":1234.567"), std::string::npos) << text;
  EXPECT_EQ(describe(TraceProcess{}, 0).find("missing"), std::string::npos);
}

}  // namespace
}  // namespace am
