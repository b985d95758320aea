// Collective calls between everything else, each checked against what it must give.

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "splitc/splitc.h"
#include "tests/soak/content.h"
#include "tests/soak/families.h"

namespace soak {
namespace collectives {

constexpr std::string_view kName = "collectives";

class Collectives : public Family {
 public:
  explicit Collectives(const Settings& settings)
      : most_(std::min<std::uint64_t>(settings.max_bytes, 200'000)) {}

  void plan(const Round& round, Schedule& schedule) override;

 private:
  struct Call {
    std::uint64_t id;
    std::uint32_t what;
    std::uint64_t bytes;
    std::uint32_t root;
  };

  std::uint64_t of(std::uint64_t id, std::uint32_t proc) const {
    return round_->key(kName, id << 16 | proc);
  }
  std::vector<std::byte> content(std::uint64_t bytes, std::uint64_t key) const {
    std::vector<std::byte> all(bytes);
    fill(all, key);
    return all;
  }
  void expect(const Call& call, bool right, const char* what) const {
    if (!right) round_->fail(kName, call.id, what);
  }
  void expect(const Call& call, std::span<const std::byte> bytes, std::uint64_t key,
              const char* what) const {
    round_->expect(difference(bytes, key), kName, call.id, what);
  }
  void do_one(const Call& call) const;
  void broadcast(const Call& call) const;
  void reduce(const Call& call) const;
  void scan(const Call& call) const;
  void gather(const Call& call) const;
  void all_to_all(const Call& call) const;

  const std::uint64_t most_;  // bytes of a span
  const Round* round_ = nullptr;
};

void Collectives::broadcast(const Call& call) const {
  const bool mine = round_->me() == call.root;
  expect(call, splitc::all_bcast(mine ? of(call.id, 0) : 0, call.root) == of(call.id, 0),
         "all_bcast of a number");
  std::vector<std::byte> bytes(call.bytes);
  if (mine) fill(bytes, of(call.id, 1));
  splitc::all_bcast(std::span(bytes), call.root);
  expect(call, bytes, of(call.id, 1), "all_bcast of a span");
}

void Collectives::reduce(const Call& call) const {
  std::uint64_t sum = 0;
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t bits = 0;
  for (std::uint32_t proc = 0; proc < round_->procs(); ++proc) {
    sum += of(call.id, proc);
    least = std::min(least, of(call.id, proc));
    bits ^= of(call.id, proc);
  }
  const std::uint64_t mine = of(call.id, round_->me());
  expect(call, splitc::all_reduce(mine, std::plus()) == sum, "all_reduce of a sum");
  expect(call, splitc::all_reduce(mine, splitc::minimum()) == least, "all_reduce of the least");
  const std::uint64_t at_one = splitc::all_reduce_to_one(mine, std::bit_xor());
  expect(call, at_one == (round_->me() == 0 ? bits : mine), "all_reduce_to_one");
}

void Collectives::scan(const Call& call) const {
  std::uint64_t before = 0;
  for (std::uint32_t proc = 0; proc < round_->me(); ++proc) before += of(call.id, proc);
  const std::uint64_t mine = of(call.id, round_->me());
  expect(call, splitc::all_scan(mine, std::plus()) == before + mine, "all_scan");
  expect(call, splitc::all_exscan(mine, std::plus(), 0) == before, "all_exscan");
}

void Collectives::gather(const Call& call) const {
  const std::vector<std::uint64_t> numbers = splitc::all_gather(of(call.id, round_->me()));
  for (std::uint32_t proc = 0; proc < round_->procs(); ++proc) {
    expect(call, numbers[proc] == of(call.id, proc), "all_gather of numbers");
  }
  const std::vector<std::byte> mine = content(call.bytes, of(call.id, round_->me()));
  std::vector<std::byte> all(call.bytes * round_->procs());
  const bool to_one = call.root % 2 == 0;
  if (to_one) {
    splitc::all_gather_to_one(std::span(mine), std::span(all));
    if (round_->me() != 0) return;
  } else {
    splitc::all_gather(std::span(mine), std::span(all));
  }
  for (std::uint32_t proc = 0; proc < round_->procs(); ++proc) {
    expect(call, std::span(all).subspan(proc * call.bytes, call.bytes), of(call.id, proc),
           "all_gather of spans");
  }
}

void Collectives::all_to_all(const Call& call) const {
  const std::uint32_t procs = round_->procs();
  const std::uint64_t part = call.bytes / procs;
  std::vector<std::byte> to(part * procs);
  std::vector<std::byte> from(part * procs);
  for (std::uint32_t proc = 0; proc < procs; ++proc) {
    fill(std::span(to).subspan(proc * part, part), of(call.id, round_->me() * procs + proc));
  }
  splitc::all_to_all(std::span(to), std::span(from));
  for (std::uint32_t proc = 0; proc < procs; ++proc) {
    expect(call, std::span(from).subspan(proc * part, part),
           of(call.id, proc * procs + round_->me()), "all_to_all");
  }
}

void Collectives::do_one(const Call& call) const {
  switch (call.what) {
    case 0: return splitc::barrier();
    case 1:
      splitc::barrier_notify();
      splitc::poll();
      return splitc::barrier_wait();
    case 2: return broadcast(call);
    case 3: return reduce(call);
    case 4: return scan(call);
    case 5: return gather(call);
    default: return all_to_all(call);
  }
}

void Collectives::plan(const Round& round, Schedule& schedule) {
  round_ = &round;
  Random random = round.for_all(kName);
  const std::uint64_t count = round.operations(random) / 4;
  for (std::uint64_t id = 0; id < count; ++id) {
    const Call call{id, random.below(7u), random.size(most_), random.below(round.procs())};
    schedule.add_together(kName, [this, call] { do_one(call); });
  }
}

}  // namespace collectives

std::unique_ptr<Family> make_collectives(const Settings& settings) {
  return std::make_unique<collectives::Collectives>(settings);
}

}  // namespace soak
