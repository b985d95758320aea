#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "am/route/router.h"
#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/nodes.h"

// Pointers that point to nothing, and what every operation says of them. Release builds refuse null
// pointers and processes that are not there; checked builds look at every access.

namespace {

using namespace splitc;

std::uint64_t runtime_bytes() {
  World& w = world();
  return World::runtime_bytes(detail::place.segment_bytes, w.storers());
}

using Calls = std::vector<std::pair<std::string, std::function<void(global_ptr<std::uint64_t>)>>>;

std::uint64_t word = 0;

// Every operation that takes a pointer, by the name it must give.
const Calls& calls() {
  using P = global_ptr<std::uint64_t>;
  static const Calls list = {
      {"read", [](P p) { word = *p; }},
      {"write", [](P p) { *p = 1; }},
      {"get", [](P p) { get(word, p); }},
      {"put", [](P p) { put(p, 1); }},
      {"store", [](P p) { store(p, 1); }},
      {"bulk_read", [](P p) { bulk_read(&word, p, 8); }},
      {"bulk_write", [](P p) { bulk_write(p, &word, 8); }},
      {"bulk_get", [](P p) { bulk_get(std::span(&word, 1), p); }},
      {"bulk_put", [](P p) { bulk_put(p, std::span(&word, 1)); }},
      {"bulk_store", [](P p) { bulk_store(p, &word, 8); }},
      {"tolocal", [](P p) { tolocal(p); }},
      {"fetch_and_add", [](P p) { fetch_and_add(p, 1); }},
      {"exchange", [](P p) { exchange(p, 1); }},
      {"cmp_and_swap", [](P p) { cmp_and_swap(p, 0, 1); }},
      {"test_and_set", [](P p) { test_and_set(p); }},
  };
  return list;
}

int increment(std::uint64_t& x) { return static_cast<int>(++x); }

// Calls that wait, and the name that each gives.
const std::pair<const char*, void (*)()> kWaits[] = {
    {"barrier", [] { barrier(); }},
    {"barrier_notify", [] { barrier_notify(); }},
    {"all_reduce", [] { all_reduce(1, std::plus()); }},
    {"store_sync", [] { store_sync(8); }},
    {"wait_until", [] { wait_until([] { return true; }); }},
};
int is_refused(std::uint64_t&, std::uint64_t which) {
  const auto& [name, call] = kWaits[which];
  const std::string sentence = test::error_of(call);
  return sentence.find(std::string(name) +
                       ": called by a handler, or by a function that rpc() or atomic() "
                       "runs, which may not wait") != std::string::npos;
}

void expect_all_refuse(global_ptr<std::uint64_t> p, std::initializer_list<std::string> parts) {
  for (const auto& [name, call] : calls()) {
    SCOPED_TRACE(name);
    test::expect_error([&, &call = call] { call(p); },
                       {name + ": ", "(at tests/splitc/bad_input_test.cc:"});
    test::expect_error([&, &call = call] { call(p); }, parts);
  }
}

class BadInput : public testing::Test {
 protected:
  void SetUp() override {
    if (!am::kChecked) GTEST_SKIP() << "a release build";
  }
};

TEST(BadInputInAnyBuild, null_pointer_is_named_as_such) {
  expect_all_refuse(nullptr, {"the pointer is null", "use addresses that all_spread_malloc"});
}

TEST(BadInputInAnyBuild, null_pointer_with_an_index_is_null) {
  expect_all_refuse(global_ptr<std::uint64_t>() + 1000, {"the pointer is null"});
  const global_ptr<std::uint64_t> misaligned(global_ptr<char>() + 1);
  test::expect_error([&] { fetch_and_add(misaligned, std::uint64_t{1}); }, {"the pointer is null"});
  if (!am::kChecked) return;
  test::expect_error([] { static_cast<void>(global_ptr<char>() - 1); }, {"from the null pointer"});
}

TEST(BadInputInAnyBuild, process_outside_the_job) {
  const std::string count = std::to_string(procs());
  expect_all_refuse({procs(), 1 << 16}, {"there is no process " + count, "the job has " + count});
  for (const std::uint32_t proc : {300u, 60'000u, 16'000'000u}) {
    expect_all_refuse({proc, 1 << 16}, {"there is no process " + std::to_string(proc)});
  }
}

TEST(BadInputInAnyBuild, ordinary_address_that_is_taken_for_a_global_one) {
  const auto address = reinterpret_cast<std::uintptr_t>(&word) / 8 * 8;
  expect_all_refuse(global_ptr<std::uint64_t>::from_bits(address), {"there is no process "});
}

TEST(BadInputInAnyBuild, index_outside_an_array) {
  const spread_array<int> a(10);
  const auto here = [](int line) {
    return " (at tests/splitc/bad_input_test.cc:" + std::to_string(line) + ")";
  };
  int index = -1;
  const auto below = [&] { a[index] = 1; };
  test::expect_error(
      below, {"spread_array: there is no index -1: it has 10, 0 to 9" + here(__LINE__ - 2)});
  test::expect_error([&] { a[10] = 1; }, {"spread_array: there is no index 10: it has 10, 0 to 9"});
  if (am::kChecked) {
    const auto no_process = [&] { a.on(procs()); };
    test::expect_error(no_process, {"spread_array::on: there is no process", here(__LINE__ - 1)});
  }
  const spread_array_2d<int> b(2, 3);
  test::expect_error([&] { b(2, 0) = 1; }, {"spread_array_2d, row: there is no index 2"});
  test::expect_error([&] { b(0, 3) = 1; }, {"spread_array_2d, column: there is no index 3"});
}

// Within the node the processor says it, at once: by a signal, which ends the process.
TEST(BadInputInAnyBuild, local_memory_of_a_far_transfer_that_is_not_mapped) {
  const std::size_t part = 65'536;  // from where on it is looked at
  void* const mapped =
      mmap(nullptr, 3 * part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const memory = static_cast<char*>(mapped);
  ASSERT_EQ(munmap(memory + part, part), 0);
  const auto p = all_spread_malloc<char>(procs() * 3 * part);
  const auto refused = [&](const char* call, const std::function<void()>& body) {
    const std::string bytes = std::to_string(2 * part) + " bytes at 0x";
    test::expect_error(
        body, {std::string(call) + ": the " + bytes,
               "are not mapped from byte " + std::to_string(part) + " on", "bad_input_test.cc:"});
  };
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    if (!test::is_far(proc)) continue;
    const global_ptr<char> there = p.on(proc);
    refused("bulk_put", [&] { bulk_put(there, memory, 2 * part); });
    refused("bulk_write", [&] { bulk_write(there, memory, 2 * part); });
    refused("bulk_get", [&] { bulk_get(memory, there, 2 * part); });
    refused("bulk_read", [&] { bulk_read(memory, there, 2 * part); });
    refused("bulk_store", [&] { bulk_store(there, memory, 2 * part); });
    test::expect_error([&] { bulk_get(memory + part, there, part); }, {"bulk_get", "not mapped:"});
    const auto null_refused = [](const char* call, const std::function<void()>& body) {
      test::expect_error(body, {std::string(call) + ": the pointer to the 8 bytes of this process",
                                "is null", "bad_input_test.cc:"});
    };
    null_refused("bulk_put", [&] { bulk_put(there, nullptr, 8); });
    null_refused("bulk_read", [&] { bulk_read(static_cast<void*>(nullptr), there, 8); });
    null_refused("bulk_store", [&] { bulk_store(there, nullptr, 8); });
    bulk_write(there, nullptr, 0);
  }
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    put_channel<char> channel(p.on(proc), std::span(memory, 2 * part));
    if (test::is_far(proc)) refused("put_channel::put", [&] { channel.put(); });
  }
  barrier();
  all_spread_free(p);
  munmap(memory, 3 * part);
}

// What only the thread of run() may do, called by another one.
TEST(BadInputInAnyBuild, thread_that_did_not_call_run) {
  const auto p = all_spread_malloc<std::uint64_t>(procs());
  const std::string sentence = "called by another thread than the one that called run()";
  const auto refused = [&](const char* call, const std::function<void()>& body) {
    std::thread([&] { test::expect_error(body, {std::string(call) + ": " + sentence}); }).join();
  };
  refused("barrier", [] { barrier(); });
  refused("barrier_notify", [] { barrier_notify(); });
  refused("all_bcast", [] { return all_bcast(1); });
  refused("spread_array", [] { spread_array<int>(1); });
  refused("store_sync", [] { store_sync(8); });
  refused("wait_until", [] { wait_until([] { return true; }); });
  refused("local_malloc", [] { local_malloc<int>(1); });
  refused("put_channel", [] { put_channel<int>(nullptr, {}); });
  refused("multicast_channel", [] { multicast_channel<int>(std::span<int>()); });
  refused("reduce_channel", [] { reduce_channel<int>({}, std::span<int>()); });
  refused("grid", [] { grid<int, 1>({64}); });
  refused("atomic", [&] { atomic<&increment>(p.on(0)); });
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    if (test::is_far(proc)) refused("read", [&] { word = *p.on(proc); });
  }
  if (am::kChecked) refused("poll", [] { poll(); });
  // Memory of its node it may use.
  std::thread([&] { *p.on(my_proc()) = 5; }).join();
  EXPECT_EQ(*p.on(my_proc()), 5u);
  barrier();
  all_spread_free(p);
}

// What waits, called by a function that atomic() runs.
TEST(BadInputInAnyBuild, wait_in_a_function_that_atomic_runs) {
  const auto p = all_spread_malloc<std::uint64_t>(procs());
  for (std::uint64_t which = 0; which < std::size(kWaits); ++which) {
    EXPECT_EQ(atomic<&is_refused>(p.on((my_proc() + 1) % procs()), which), 1) << which;
  }
  barrier();
  all_spread_free(p);
}

TEST_F(BadInput, offset_outside_the_segment) {
  const std::uint64_t size = detail::place.segment_bytes;
  expect_all_refuse({procs() - 1, size},
                    {"8 bytes at offset " + std::to_string(size) + " of process " +
                         std::to_string(procs() - 1) + " are outside its segment",
                     "has " + std::to_string(size) + " bytes"});
  expect_all_refuse({0, (std::uint64_t{1} << 40) - 8}, {"are outside its segment"});
}

TEST_F(BadInput, the_librarys_own_memory) {
  expect_all_refuse({procs() - 1, 64}, {"8 bytes at offset 64 of process", "library's own memory"});
  expect_all_refuse({0, runtime_bytes() - 8}, {"library's own memory"});
}

TEST_F(BadInput, memory_that_was_never_allocated) {
  expect_all_refuse({my_proc(), detail::place.segment_bytes / 2 / 64 * 64},
                    {"are freed, or were never allocated"});
  expect_all_refuse({procs() - 1, detail::place.segment_bytes / 2 / 64 * 64},
                    {"are freed, or were never allocated"});
}

TEST_F(BadInput, freed_spread_memory) {
  const auto first = all_spread_malloc<std::uint64_t>(procs());
  const auto second = all_spread_malloc<std::uint64_t>(procs());
  all_spread_free(first);  // below one that lives
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    expect_all_refuse(first.on(proc), {"are freed, or were never allocated"});
  }
  all_spread_free(second);
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    expect_all_refuse(second.on(proc), {"are freed, or were never allocated"});
  }
}

// A process that has made an array calls one that is still making it.
TEST_F(BadInput, but_not_memory_whose_process_is_still_in_the_call_that_allocates_it) {
  const std::uint32_t right = (my_proc() + 1) % procs();
  for (int round = 0; round < 100; ++round) {
    const spread_array<int> a(procs());
    rpc(
        right, [](global_ptr<int> p) { ++*tolocal(p); }, a.pointer(right))
        .wait();
    barrier();
    EXPECT_EQ(a.mine()[0], 1);
  }
}

TEST_F(BadInput, freed_local_memory) {
  auto* const mine = local_malloc<std::uint64_t>(1);
  const auto all = all_gather(toglobal(mine));
  for (const auto& p : all) word = *p;
  barrier();
  local_free(mine);
  barrier();
  for (const auto& p : all) expect_all_refuse(p, {"are freed, or were never allocated"});
  barrier();
}

TEST_F(BadInput, memory_beyond_the_end_of_its_block) {
  const auto a = all_spread_malloc<std::uint64_t>(100 * procs());
  std::vector<std::uint64_t> many(101);
  const global_ptr<std::uint64_t> p = a.on(procs() - 1);
  test::expect_error([&] { bulk_read(std::span(many), p); },
                     {"bulk_read: 808 bytes at offset " + std::to_string(p.offset()),
                      "run over the end of the block of 800 bytes", "stay inside it"});
  test::expect_error([&] { p[100] = 1; },
                     {"write: ", "run over the end of the block of 800 bytes"});
  bulk_read(std::span(many).first(100), p);
  bulk_read(many.data(), global_ptr<std::uint64_t>(), 0);  // nothing, from nowhere
  barrier();
  all_spread_free(a);
}

// Of every process, which alone gave it: of one size that its bookkeeping holds in one place, and
// of sizes that it holds in several.
TEST_F(BadInput, memory_beyond_the_end_of_local_memory_of_another) {
  for (const std::size_t count : {std::size_t{7}, std::size_t{10'000}, std::size_t{500'000}}) {
    auto* const before = local_malloc<std::uint64_t>(3 + my_proc());
    auto* const mine = local_malloc<std::uint64_t>(count);
    auto* const behind = local_malloc<std::uint64_t>(5);
    const auto all = all_gather(toglobal(mine));
    std::vector<std::uint64_t> many(count + 1);
    for (const auto& p : all) {
      const std::string fault = "run over the end of the block of " + std::to_string(count * 8) +
                                " bytes that begins at offset " + std::to_string(p.offset());
      test::expect_error([&] { bulk_put(p, std::span(many)); }, {"bulk_put: ", fault});
      test::expect_error([&] { bulk_get(std::span(many), p); }, {"bulk_get: ", fault});
      test::expect_error([&] { bulk_put(p + (count - 1), many.data(), 16); }, {fault});
      test::expect_error([&] { bulk_put(p + count / 2, many.data(), count / 2 * 8 + 16); },
                         {fault});
      bulk_read(many.data(), p, count * 8);
      bulk_read(many.data(), p + (count - 1), 8);
    }
    barrier();
    local_free(mine);
    barrier();
    for (const auto& p : all) {
      test::expect_error([&] { bulk_read(many.data(), p + count / 2, 8); },
                         {"are freed, or were never allocated"});
    }
    barrier();
    local_free(before);
    local_free(behind);
  }
}

TEST_F(BadInput, misaligned_objects) {
  const auto a = all_spread_malloc<std::uint64_t>(2 * procs());
  const global_ptr<std::uint64_t> crooked(procs() - 1, a.offset() + 3);
  for (const auto& [name, call] : calls()) {
    if (name.starts_with("bulk") || name == "tolocal") continue;  // any bytes
    test::expect_error([&, &call = call] { call(crooked); },
                       {name + ": 8 bytes at offset " + std::to_string(a.offset() + 3),
                        "are misaligned", "a multiple of 8"});
  }
  barrier();
  all_spread_free(a);
}

TEST_F(BadInput, local_memory_without_a_global_address) {
  int outside = 0;
  test::expect_error([&] { toglobal(&outside); },
                     {"toglobal: 0x", "is not in this process's segment", "local_malloc"});
  int* const inside = local_malloc<int>(1);
  test::expect_error([&] { toglobal(procs(), inside); },
                     {"toglobal: there is no process " + std::to_string(procs())});
  local_free(inside);
}

TEST(World, cannot_be_run_inside_itself) {
  test::expect_error([] { run(0, nullptr, [](Args) {}); }, {"run: a program is running already"});
}

TEST(World, needs_a_segment_for_its_own_memory) {
  EXPECT_EQ(World::heap_bytes(1 << 20, 0, 2), (1u << 20) - World::runtime_bytes(1 << 20, 2));
  EXPECT_EQ(test::error_of([] { World::heap_bytes(32768, 3, 600); }),
            "rank 3: run: a segment of 32768 bytes is too small for the 39168 that the library "
            "needs for 600 processes and threads on a node; set SPLITC_SEGMENT higher");
}

}  // namespace
