// Processes of several threads, each of which has a bundle and an endpoint of its own: a party.
#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"

namespace am::test_threads {

inline constexpr std::uint32_t kThreads = 2;  // of a process; the first is that of main()

// What `number` of the messages from one party to another is; a function of these and the seed, so
// that everybody knows what everybody sends.
struct Message {
  Message(std::uint32_t from, std::uint32_t to, std::uint32_t number, bool answer = false);
  std::vector<std::byte> payload() const;
  bool matches(std::span<const std::byte> payload) const;

  std::uint64_t key;
  Kind kind;
  bool one_way;
  std::size_t bytes;  // of payload
};

// Whether these two send to each other. (Through memory that two threads see at two addresses, as
// those of one process do: so the thread sanitizer would not see what orders their accesses.)
inline bool talk(std::uint32_t one, std::uint32_t other) {
#ifdef __SANITIZE_THREAD__
  constexpr bool kSanitized = true;
#else
  constexpr bool kSanitized = false;
#endif
  return !kSanitized || one / kThreads != other / kThreads;
}

// Where the parties of a process meet, and of all processes exchange names.
class Meeting {
 public:
  static std::uint32_t parties() { return ::test::size() * kThreads; }

  // All parties of the process are here.
  void wait() { barrier_.arrive_and_wait(); }
  // All parties of the job are here. Polls `bundle`, the thread's, meanwhile. Once.
  void part(std::uint32_t thread, Bundle& bundle);
  // Maps the endpoints of all parties of the job, each at the index that is its number.
  void connect(std::uint32_t thread, Endpoint& endpoint);

 private:
  struct Names {
    Name name[kThreads];
  };

  std::barrier<> barrier_{kThreads};
  std::atomic<std::uint32_t> arrived_{0};  // threads in part()
  Names mine_{};
  std::vector<Names> all_;
};

// Thread rule: one thread at a time.
class Party {
 public:
  Party(Meeting& meeting, std::uint32_t thread);

  std::uint32_t me() const noexcept { return me_; }
  Bundle& bundle() noexcept { return bundle_; }
  Endpoint& endpoint() noexcept { return endpoint_; }

  // Sends messages [first, last) to everybody, and polls meanwhile.
  void send(std::uint32_t first, std::uint32_t last);
  // Whether messages [0, last) have come from everybody, once each, and all answers to those that
  // this one has sent.
  bool complete(std::uint32_t last) const noexcept;

 private:
  struct Peer {
    std::vector<bool> received, answered;  // by number
    std::uint32_t received_count = 0;
    std::uint32_t due = 0;  // answers
    bool long_under_way = false;
  };

  void send_one(std::uint32_t to, std::uint32_t number);
  void send_long(std::uint32_t to, std::uint32_t number, const std::vector<std::byte>& payload);
  void note(std::uint32_t from, std::uint32_t number, std::span<const std::byte> payload);
  void answer(Request&& request, std::uint32_t from, std::uint32_t number);
  void note_answer(std::uint32_t from, std::uint32_t number, std::span<const std::byte> payload);

  void on_short(Request request, std::uint32_t from, std::uint32_t number);
  void on_medium(Request request, std::span<const std::byte> payload, std::uint32_t from,
                 std::uint32_t number);
  void on_long(Request request, std::span<std::byte> payload, std::uint32_t from,
               std::uint32_t number);
  void on_one_way(OneWay message, std::uint32_t from, std::uint32_t number);
  void on_one_way_medium(OneWay message, std::span<const std::byte> payload, std::uint32_t from,
                         std::uint32_t number);
  void on_answer(Reply reply, std::uint32_t from, std::uint32_t number);
  void on_answer_medium(Reply reply, std::span<const std::byte> payload, std::uint32_t from,
                        std::uint32_t number);
  void on_answer_long(Reply reply, std::span<std::byte> payload, std::uint32_t from,
                      std::uint32_t number);

  const std::uint32_t me_;
  Bundle bundle_;
  Endpoint endpoint_;
  std::vector<Peer> peers_;
};

}  // namespace am::test_threads
