// Accesses whose local memory cannot be read or written: the job ends with a sentence that says so,
// instead of the other process's death, or of nothing.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <span>
#include <string>

#include "am/types/local_memory.h"
#include "tests/am/link/fabric_pair.h"

namespace am::link {
namespace bad_memory_test {

using test::Fatal;
using test::Pair;
using testing::AllOf;
using testing::HasSubstr;

// Pages that may be used as `protection` says.
class Pages {
 public:
  explicit Pages(int protection)
      : memory_(mmap(nullptr, bytes(), protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    EXPECT_NE(memory_, MAP_FAILED);
  }
  ~Pages() { munmap(memory_, bytes()); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::span<std::byte> range() const { return {static_cast<std::byte*>(memory_), bytes()}; }

 private:
  static std::size_t bytes() { return 16 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  void* const memory_;
};

class BadMemory : public testing::TestWithParam<const char*> {
 protected:
  // What ends the job when `start` has started an access of `a` to the segment of `b`.
  template <class Start>
  std::string fatal(Start&& start) {
    Completion completion;
    completion.done = [](Completion&) { ADD_FAILURE() << "the access is reported complete"; };
    try {
      bool started = false;
      pair_.poll_until([&] {
        if (!started) started = start(completion);
        return false;
      });
    } catch (const Fatal& error) {
      return error.what();
    }
    return "";
  }
  RemoteKey there() { return RemoteKey::in_segment(0); }

  Pair pair_{GetParam()};
};

TEST_P(BadMemory, that_a_put_reads_is_named) {
  const Pages none(PROT_NONE);
  EXPECT_THAT(fatal([&](Completion& completion) {
                return pair_.a.link().try_access(RmaAccess::write(1, there(), none.range(), false),
                                                 completion);
              }),
              AllOf(HasSubstr("failed here"), HasSubstr(name_of(none.range())),
                    HasSubstr("of this process")));
}

// Its beginning can be written: that much the provider net copies itself, and would crash.
TEST_P(BadMemory, that_a_get_writes_is_named) {
  const Pages constant(PROT_READ);
  const std::span<std::byte> beginning = constant.range().first(constant.range().size() / 2);
  ASSERT_EQ(mprotect(beginning.data(), beginning.size(), PROT_READ | PROT_WRITE), 0);
  EXPECT_THAT(fatal([&](Completion& completion) {
                return pair_.a.link().try_access(RmaAccess::read(1, there(), constant.range()),
                                                 completion);
              }),
              AllOf(HasSubstr("failed here"), HasSubstr(name_of(constant.range())),
                    HasSubstr("of this process")));
}

INSTANTIATE_TEST_SUITE_P(providers, BadMemory, testing::Values("net", "sockets", "shm"));

TEST(LocalMemory, first_unmapped_byte_is_found) {
  const Pages pages(PROT_READ | PROT_WRITE);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(first_unmapped(pages.range()), nullptr);
  EXPECT_EQ(first_unmapped({}), nullptr);
  munmap(pages.range().data() + 5 * page, page);
  EXPECT_EQ(first_unmapped(pages.range()), pages.range().data() + 5 * page);
  EXPECT_EQ(first_unmapped(pages.range().subspan(3, 5 * page - 3)), nullptr);
  EXPECT_EQ(first_unmapped(pages.range().subspan(5 * page + 7, 1)),
            pages.range().data() + 5 * page + 7);
  EXPECT_FALSE(is_usable(pages.range(), false));
}

TEST(LocalMemory, that_may_only_be_read_cannot_be_written) {
  const Pages constant(PROT_READ);
  EXPECT_EQ(first_unmapped(constant.range()), nullptr);
  EXPECT_TRUE(is_usable(constant.range(), false));
  EXPECT_FALSE(is_usable(constant.range(), true));
}

}  // namespace bad_memory_test
}  // namespace am::link
