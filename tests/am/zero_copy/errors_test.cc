// What is refused, with which words, and that nothing is moved and nobody called then.

#include <optional>

#include "tests/am/zero_copy/support.h"

namespace am::zero_copy_test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A buffer at every process, which may be the other end of everybody's transfers.
struct Ends {
  Ends(ZeroCopy& zero, std::size_t bytes, std::size_t theirs, ZeroCopyMode mode)
      : mine(bytes, std::byte{1}),
        other(theirs, std::byte{2}),
        local(zero, mine, notes.callback()),
        remote(zero, other, notes.callback(), mode),
        infos(show(remote.info())) {}

  Notes notes;
  std::vector<std::byte> mine, other;
  ZeroCopyBuffer local, remote;
  std::vector<ZeroCopyInfo> infos;
};

TEST(Errors, a_source_larger_than_its_destination_is_named_with_both_sizes) {
  ZeroCopy zero(job(), bundle());
  for (std::uint32_t steps = 0; steps < job().size(); ++steps) {
    Ends large(zero, 5001, 17, ZeroCopyMode::kUnreg);
    Ends small(zero, 17, 5001, ZeroCopyMode::kReg);
    const std::string put = error_of(zero, [&] { large.local.put(large.infos[after(steps)]); });
    const std::string get = error_of(zero, [&] { small.local.get(small.infos[after(steps)]); });
    for (const std::string& text : {put, get}) {
      EXPECT_TRUE(contains(text, "source has 5001 bytes") && contains(text, "only 17")) << text;
      EXPECT_TRUE(contains(text, "errors_test.cc:")) << "no line in: " << text;
    }
    EXPECT_TRUE(contains(put, "put") && contains(get, "get"));
    settle(zero);
    EXPECT_EQ(large.notes.all.size() + small.notes.all.size(), 0u);
    EXPECT_EQ(large.other, std::vector(17, std::byte{2}));
    EXPECT_EQ(small.mine, std::vector(17, std::byte{1}));
  }
}

TEST(Errors, buffers_for_information_only_take_no_transfers) {
  ZeroCopy zero(job(), bundle());
  Ends ends(zero, 10, 10, ZeroCopyMode::kNoreg);
  EXPECT_TRUE(contains(error_of(zero, [&] { ends.local.put(ends.infos[after(1)]); }), "kNoreg"));
  EXPECT_TRUE(contains(error_of(zero, [&] { ends.local.get(ends.infos[after(1)]); }), "kNoreg"));
  EXPECT_TRUE(contains(error_of(zero, [&] { ends.remote.put(ends.local.info()); }),
                       "this buffer is for information only"));
  EXPECT_EQ(ends.infos[after(1)].bytes, 10u);
  settle(zero);
  EXPECT_EQ(ends.notes.all.size(), 0u);
}

// The owner has changed the buffer; what others know of it is stale, also when a transfer has
// worked before.
void expect_stale(ZeroCopyMode mode, std::size_t bytes, bool used_before) {
  SCOPED_TRACE(testing::Message() << bytes << " bytes, mode " << static_cast<int>(mode));
  ZeroCopy zero(job(), bundle());
  Ends ends(zero, bytes, bytes, mode);
  for (std::uint32_t steps = 0; steps < job().size(); ++steps) {
    ends.notes.all.clear();
    const ZeroCopyInfo before = show(ends.remote.info())[after(steps)];
    if (used_before) {
      for (std::size_t calls : {2, 4}) {
        ends.local.put(before);
        bundle().wait_until([&] { return ends.notes.all.size() == calls; });
        settle(zero);
      }
    }
    ends.notes.all.clear();
    std::vector<std::byte> anew(bytes, std::byte{3});
    ends.remote.init(anew, ends.notes.callback(), mode);
    barrier();
    for (const bool put : {false, true}) {
      const std::string text =
          error_of(zero, [&] { put ? ends.local.put(before) : ends.local.get(before); });
      EXPECT_TRUE(contains(text, "send a new info()")) << text;
      EXPECT_TRUE(contains(text, "rank " + std::to_string(after(steps)))) << text;
      barrier();
    }
    settle(zero);
    // Between nodes the Error may come after the bytes have left, or while a key is still on its
    // way back: then this end has been called already.
    EXPECT_LE(ends.notes.all.size(), near(after(steps)) ? 0u : 2u);
    EXPECT_EQ(ends.local.under_way() + ends.remote.under_way(), 0u);
    EXPECT_EQ(anew, std::vector(bytes, std::byte{3}));
    EXPECT_EQ(ends.mine, std::vector(bytes, std::byte{1}));
    ends.remote.init(ends.other, ends.notes.callback(), mode);
  }
  barrier();
}

TEST(Errors, a_stale_info_is_one) {
  for (const std::size_t bytes : {8, 50'000}) {
    for (const bool used_before : {false, true}) {
      expect_stale(ZeroCopyMode::kUnreg, bytes, used_before);
      expect_stale(ZeroCopyMode::kReg, bytes, used_before);
    }
  }
}

TEST(Errors, an_ended_buffer_is_stale_and_its_number_is_used_again) {
  ZeroCopy zero(job(), bundle());
  std::vector<std::byte> memory(100), other(100);
  Notes notes;
  std::optional<ZeroCopyBuffer> first(std::in_place, zero, memory);
  const auto old = show(first->info());
  first.reset();
  ZeroCopyBuffer second(zero, memory, notes.callback());
  EXPECT_EQ(second.info().slot, old[me()].slot);
  barrier();
  ZeroCopyBuffer local(zero, other, notes.callback());
  const std::string text = error_of(zero, [&] { local.put(old[after(1)]); });
  EXPECT_TRUE(contains(text, "send a new info()")) << text;
  settle(zero);
  EXPECT_EQ(notes.all.size(), near(after(1)) ? 0u : 1u) << "the source, which may be written again";
}

TEST(Errors, deregistered_buffers_refuse_until_they_are_registered) {
  ZeroCopy zero(job(), bundle());
  for (const std::size_t bytes : {8, 50'000}) {
    Ends ends(zero, bytes, bytes, ZeroCopyMode::kReg);
    ends.remote.deregister_memory();
    barrier();
    const std::string there = error_of(zero, [&] { ends.local.put(ends.infos[after(1)]); });
    EXPECT_TRUE(contains(there, "deregistered")) << there;
    settle(zero);
    ends.notes.all.clear();
    const std::string here = error_of(zero, [&] { ends.remote.put(ends.local.info()); });
    EXPECT_TRUE(contains(here, "register_memory()")) << here;
    EXPECT_EQ(ends.notes.all.size(), 0u);
    ends.remote.register_memory();
    barrier();
    ends.local.put(ends.infos[after(1)]);  // the info is as good as before
    bundle().wait_until([&] { return ends.notes.all.size() == 2; });
    settle(zero);
    EXPECT_EQ(ends.other, ends.mine);
    barrier();
  }
}

TEST(Errors, a_buffer_is_not_changed_while_a_transfer_is_under_way) {
  ZeroCopy zero(job(), bundle());
  Ends ends(zero, 10, 10, ZeroCopyMode::kReg);
  ends.local.put(ends.remote.info());
  EXPECT_EQ(ends.local.under_way(), 1u);
  for (const auto& change : {+[](ZeroCopyBuffer& b) { b.init({}); },
                             +[](ZeroCopyBuffer& b) { b.deregister_memory(); }}) {
    try {
      change(ends.remote);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_TRUE(contains(error.what(), "1 transfers are under way")) << error.what();
      EXPECT_TRUE(contains(error.what(), "errors_test.cc:")) << "no line in: " << error.what();
    }
  }
  settle(zero);
  EXPECT_EQ(ends.notes.all.size(), 2u);
}

TEST(Errors, an_info_of_no_process_is_refused) {
  ZeroCopy zero(job(), bundle());
  std::vector<std::byte> memory(10);
  ZeroCopyBuffer buffer(zero, memory);
  ZeroCopyInfo info = buffer.info();
  info.rank = job().size();
  const std::string text = error_of(zero, [&] { buffer.put(info); });
  EXPECT_TRUE(contains(text, "names rank " + std::to_string(job().size()))) << text;
  barrier();
}

TEST(Errors, the_pool_tells_what_is_wrong) {
  ZeroCopy zero(job(), bundle(), {.pool_bytes = 1 << 20});
  std::vector<std::byte> heap(100);
  const auto block = zero.alloc(1000);
  const auto error = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const Error& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_TRUE(contains(error([&] { ZeroCopyBuffer(zero, heap, {}, ZeroCopyMode::kPrereg); }),
                       "must lie in one block"));
  EXPECT_TRUE(contains(error([&] { zero.alloc(2 << 20); }), "2097152 bytes asked for"));
  {
    ZeroCopyBuffer part(zero, block.subspan(500, 100), {}, ZeroCopyMode::kPrereg);
    EXPECT_TRUE(contains(error([&] { zero.free(block); }), "a buffer still lies in this block"));
    EXPECT_TRUE(contains(error([&] {
                           part.init({block.data() + 500, 1000}, {}, ZeroCopyMode::kPrereg);
                         }),
                         "must lie in one block"));
  }
  zero.free(block);
  EXPECT_TRUE(contains(error([&] { zero.free(block); }), "no block"));
  const auto all = zero.alloc(1 << 20);
  EXPECT_EQ(all.size(), std::size_t{1} << 20) << "what was freed is one piece again";
  zero.free(all);
  barrier();
}

}  // namespace
}  // namespace am::zero_copy_test
