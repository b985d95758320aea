#include "tests/litmus/process.h"

#include <cstring>

namespace litmus {
namespace {

using namespace splitc;

constexpr std::size_t kWideBytes = 32;
constexpr std::size_t kBulkBytes = 6000;

struct Wide {
  std::array<std::byte, kWideBytes> bytes;
};

// All bytes are `value`.
template <class Word>
Word filled_with(std::uint8_t value) noexcept {
  return static_cast<Word>(std::uint64_t{0x0101010101010101} * value);
}
Wide wide_of(std::uint8_t value) noexcept {
  Wide wide;
  wide.bytes.fill(std::byte{value});
  return wide;
}

std::uint64_t add(std::uint64_t& word, std::uint64_t value) {
  const std::uint64_t before = word;
  word = before + value;
  return before;
}

// --- Messages; handlers have nothing but these to work on
std::uint64_t received = 0;
std::uint64_t expected = 0;
std::uint64_t answers = 0;

void on_note(am::OneWay) { ++received; }
void on_answer(am::Reply) { ++answers; }
void on_question(am::Request request) {
  ++received;
  std::move(request).reply<&on_answer>();
}

}  // namespace

Messages::Messages() : endpoint_(world().bundle()) {
  received = expected = answers = 0;
  endpoint_.add_handlers<&on_note, &on_question, &on_answer>();
  world().job().connect(endpoint_);
  barrier();
}
Messages::~Messages() { barrier(); }

void Messages::send(std::uint32_t rank) { endpoint_.request<&on_note>(rank); }
void Messages::ask(std::uint32_t rank) {
  const std::uint64_t next = answers + 1;
  endpoint_.request<&on_question>(rank);
  wait_until([=] { return answers == next; });
}
void Messages::receive() {
  ++expected;
  wait_until([] { return received >= expected; });
}

Lines::Lines(const Program& program) : spacing(128), locations(program.locations.size()) {
  const bool bulk = program.uses(Kind::kBulkWrite) || program.uses(Kind::kBulkRead);
  if (bulk) spacing = (kBulkBytes + 127) / 128 * 128;
  for (std::size_t i = 0; i < locations; ++i) number[program.locations[i]] = i;
}

char digit_of(std::span<const std::byte> object) noexcept {
  const auto value = std::to_integer<unsigned>(object[0]);
  // Each byte equals the one before. By one call: 6,000 of them took most of a round one by one.
  const bool equal = std::memcmp(object.data(), object.data() + 1, object.size() - 1) == 0;
  return equal && value < 10 ? static_cast<char>('0' + value) : '-';
}

Process::Process(const Program& program, std::size_t number, const Placement& placement,
                 const spread_array<std::byte>& memory, std::size_t rounds, Messages& messages,
                 std::uint64_t pauses)
    : placement_(placement),
      operations_(program.processes[number]),
      lines_(program),
      number_(number),
      rounds_(rounds),
      messages_(messages),
      pauses_(pauses | 1),
      words_(rounds),
      digits_(rounds) {
  for (const std::uint8_t location : program.locations) {
    first_[location] = memory.on(placement.owners[location]) +
                       static_cast<std::ptrdiff_t>(lines_.first(location, rounds));
  }
}

void Process::run_round(std::size_t round) {
  switch (placement_.bytes) {
    case 1: return run_with<std::uint8_t>(round);
    case 2: return run_with<std::uint16_t>(round);
    case 4: return run_with<std::uint32_t>(round);
    default: return run_with<std::uint64_t>(round);
  }
}

template <class Word>
void Process::run_with(std::size_t round) {
  for (const Operation& operation : operations_) {
    const Pointer at =
        first_[operation.location] + static_cast<std::ptrdiff_t>(round * lines_.spacing);
    pause();
    access<Word>(operation, at, words_[round][operation.reg]);
    access_many(operation, at, digits_[round][operation.reg]);
    communicate(operation);
  }
  sync();  // of gets whose values the test looks at without one
}

template <class Word>
void Process::access(const Operation& operation, Pointer at, Register& reg) {
  const global_ptr<Word> p(at);
  const auto value = filled_with<Word>(operation.value);
  const auto keep = [&](Word word) { std::memcpy(reg.bytes, &word, sizeof word); };
  switch (operation.kind) {
    case Kind::kWrite: *p = value; break;
    case Kind::kRead: keep(*p); break;
    case Kind::kPut: put(p, value); break;
    case Kind::kGet: get(*reinterpret_cast<Word*>(reg.bytes), p); break;
    case Kind::kStore: store(p, value); break;
    case Kind::kCall:
      reg.word =
          atomic<&add>(global_ptr<std::uint64_t>(at), filled_with<std::uint64_t>(operation.value));
      break;
    default: break;
  }
  if constexpr (atomic_word<Word>) {
    switch (operation.kind) {
      case Kind::kAdd: keep(fetch_and_add(p, value)); break;
      case Kind::kSwap: keep(exchange(p, value)); break;
      case Kind::kCompareAndSwap: keep(cmp_and_swap(p, 0, value)); break;
      case Kind::kMiss: {
        const Word never = filled_with<Word>(9);
        keep(cmp_and_swap(p, never, never));
        break;
      }
      default: break;
    }
  }
}

void Process::access_many(const Operation& operation, Pointer at, char& digit) {
  static std::array<std::byte, kBulkBytes> many;
  switch (operation.kind) {
    case Kind::kWideWrite: *global_ptr<Wide>(at) = wide_of(operation.value); break;
    case Kind::kWideRead: digit = digit_of(Wide(*global_ptr<Wide>(at)).bytes); break;
    case Kind::kBulkWrite:
      many.fill(std::byte{operation.value});
      bulk_write(at, many.data(), many.size());
      break;
    case Kind::kBulkRead:
      bulk_read(many.data(), at, many.size());
      digit = digit_of(many);
      break;
    default: break;
  }
}

void Process::communicate(const Operation& operation) {
  switch (operation.kind) {
    case Kind::kSync: sync(); break;
    case Kind::kCount: store_sync(operation.value); break;
    case Kind::kAllCounted: all_store_sync(); break;
    case Kind::kSend: messages_.send(placement_.ranks[operation.value]); break;
    case Kind::kAsk: messages_.ask(placement_.ranks[operation.value]); break;
    case Kind::kReceive: messages_.receive(); break;
    case Kind::kBarrier: barrier(); break;
    case Kind::kNotify: barrier_notify(); break;
    case Kind::kWait: barrier_wait(); break;
    default: break;
  }
}

// As long as chance says.
void Process::pause() noexcept {
  if (placement_.longest_pause == 0) return;
  pauses_ ^= pauses_ << 13;  // George Marsaglia's xorshift
  pauses_ ^= pauses_ >> 7;
  pauses_ ^= pauses_ << 17;
  for (std::uint64_t turns = pauses_ % placement_.longest_pause; turns != 0; --turns) {
    asm volatile("");
  }
}

void Process::show(std::span<char> results) const {
  for (std::size_t round = 0; round < rounds_; ++round) {
    const std::span<char> row = results.subspan(round * kRegisters, kRegisters);
    for (const Operation& operation : operations_) {
      if (!has_register(operation.kind)) continue;
      const bool many = operation.kind == Kind::kWideRead || operation.kind == Kind::kBulkRead;
      const std::size_t bytes = operation.kind == Kind::kCall ? 8 : placement_.bytes;
      row[operation.reg] = many ? digits_[round][operation.reg]
                                : digit_of({words_[round][operation.reg].bytes, bytes});
    }
  }
}

}  // namespace litmus
