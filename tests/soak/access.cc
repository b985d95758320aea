// Accesses that are waited for: *p, *p = x, bulk_read, bulk_write. Each process writes where nobody
// else does, reads back what it has written, and reads what nobody changes.

#include <memory>
#include <vector>

#include "splitc/splitc.h"
#include "tests/soak/families.h"
#include "tests/soak/field.h"
#include "tests/soak/objects.h"

namespace soak {
namespace access {

constexpr std::string_view kName = "access";
constexpr std::uint64_t kReads = 1 << 20;  // numbers of operations that read begin here

class Access : public Family {
 public:
  explicit Access(const Settings& settings)
      : written_(kName, 4 * settings.max_bytes + (256 << 10)),
        read_(kName, 2 * settings.max_bytes + (256 << 10)) {}

  void plan(const Round& round, Schedule& schedule) override;
  void verify(const Round& round) override {
    written_.verify(round);
    read_.verify(round);
  }

 private:
  void plan_one(const Round& round, Schedule& schedule, Random& random, std::uint64_t id);
  void plan_object(const Round& round, Schedule& schedule, Random& random, std::uint64_t id);
  void write(const Round& round, const Range& range, std::size_t shift, bool read_back) const;
  void read(const Round& round, const Range& range, std::size_t shift) const;
  template <class T>
  void write_object(const Round& round, const Range& range) const;

  Field written_;
  Field read_;
};

void Access::write(const Round& round, const Range& range, std::size_t shift,
                   bool read_back) const {
  Local local(range.bytes, shift);
  fill(local.bytes(), range.key);
  splitc::bulk_write(written_.at(range), local.data(), range.bytes);
  local.scribble();
  if (!read_back) return;
  splitc::bulk_read(local.data(), written_.at(range), range.bytes);
  round.expect(local.difference(range.key), kName, range.id, "read back after bulk_write");
}

void Access::read(const Round& round, const Range& range, std::size_t shift) const {
  Local local(range.bytes, shift);
  splitc::bulk_read(local.data(), read_.at(range), range.bytes);
  round.expect(local.difference(range.key), kName, range.id,
               "bulk_read from process " + std::to_string(range.proc));
}

template <class T>
void Access::write_object(const Round& round, const Range& range) const {
  const splitc::global_ptr<T> at(written_.at(range));
  *at = object_of<T>(range.key);
  const T back = *at;
  round.expect(difference(std::as_bytes(std::span(&back, 1)), range.key), kName, range.id,
               "read back after *p = x at process " + std::to_string(range.proc));
}

void Access::plan_object(const Round& round, Schedule& schedule, Random& random, std::uint64_t id) {
  const std::uint32_t who = random.below(round.procs());
  const std::uint32_t proc = random.below(round.procs());
  const std::uint32_t type = random.below(kObjectTypes);
  const ObjectSize size = object_size(type);
  const auto range = written_.take_object(round, random, proc, id, size.bytes, size.alignment);
  if (!range || who != round.me()) return;
  schedule.add_once(kName, id, [this, &round, range = *range, type] {
    with_object(type, [&]<class T>() { write_object<T>(round, range); });
  });
}

void Access::plan_one(const Round& round, Schedule& schedule, Random& random, std::uint64_t id) {
  const std::uint32_t who = random.below(round.procs());
  const std::uint32_t proc = random.below(round.procs());
  const std::uint64_t bytes = random.size(round.settings().max_bytes);
  const std::size_t shift = random.below(std::uint64_t{16});
  if (random.one_in(3)) {
    const Range range = read_.take(round, random, proc, kReads + id, bytes);
    if (proc == round.me()) read_.write(range);
    if (who != round.me()) return;
    schedule.add_once(kName, range.id, [=, this, &round] { read(round, range, shift); });
  } else {
    const Range range = written_.take(round, random, proc, id, bytes);
    const bool read_back = random.one_in(2);
    if (who != round.me()) return;
    schedule.add_once(kName, id, [=, this, &round] { write(round, range, shift, read_back); });
  }
}

void Access::plan(const Round& round, Schedule& schedule) {
  written_.begin(round);
  read_.begin(round);
  Random random = round.for_all(kName);
  const std::uint64_t count = std::uint64_t{round.operations(random)} * round.procs();
  for (std::uint64_t id = 0; id < count; ++id) {
    if (random.one_in(2)) {
      plan_object(round, schedule, random, id);
    } else {
      plan_one(round, schedule, random, id);
    }
  }
}

}  // namespace access

std::unique_ptr<Family> make_access(const Settings& settings) {
  return std::make_unique<access::Access>(settings);
}

}  // namespace soak
