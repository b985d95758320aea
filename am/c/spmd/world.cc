#include "am/c/spmd/world.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

#include "am/types/types.h"

namespace am::c {
namespace {

// NAME=VALUE, each ended by 0.
std::string pack_environment() {
  std::string text;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    text.append(*variable);
    text.push_back('\0');
  }
  return text;
}

// A number that another job hardly has.
std::uint64_t choose_id() noexcept {
  const auto now =
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  return (now ^ static_cast<std::uint64_t>(getpid()) << 40) | 1;
}

// What rank 0 decides.
struct First {
  std::uint64_t environment_bytes;
  std::uint64_t id;
};

}  // namespace

SpmdWorld::SpmdWorld(Job& job) : job_(job), bundle_(job), endpoint_(bundle_), nodes_(job.router()) {
  endpoint_.add_handlers<&SpmdWorld::on_piece>(*this);
  // Pieces for the dead are nobody's: who gathers is refused.
  if (job_.survives()) endpoint_.on_returned([](const Returned&) {});
  job_.connect(endpoint_);
  share_environment();
}

void SpmdWorld::on_piece(OneWay message, std::span<const std::byte> piece, std::uint64_t offset) {
  std::ranges::copy(piece, all_ + message.source() * stride_ + offset);
  received_ += piece.size();
}

// Until it returns: what it throws before is of a handler that ran meanwhile, and it had no effect.
// The first of these is kept. After a death it never would.
template <class Step>
void SpmdWorld::finish(Step&& step) {
  for (;;) {
    try {
      return step();
    } catch (const PeerDied&) {
      throw;
    } catch (...) {
      if (!thrown_) thrown_ = std::current_exception();
    }
  }
}

void SpmdWorld::give(std::span<const std::byte> bytes) {
  for (std::size_t offset = 0; offset < bytes.size(); offset += max_medium()) {
    const auto piece =
        bytes.subspan(offset, std::min<std::size_t>(max_medium(), bytes.size() - offset));
    // The next rank first, so that not all send to the same one.
    for (Rank i = 1; i < job_.size(); ++i) {
      finish([&] {
        endpoint_.request_medium<&SpmdWorld::on_piece>((job_.rank() + i) % job_.size(), piece,
                                                       std::uint64_t{offset});
      });
    }
  }
}

void SpmdWorld::await(std::uint64_t bytes) {
  const auto explain = [] {
    return Reason{
        .call = "AMX_SPMDAllGather", .needs = "pieces of other processes", .needs_all = true};
  };
  finish([&] { bundle_.wait_until([&] { return received_ == bytes; }, Wake::kRung, explain); });
}

// Between two barriers: before the first nobody has a place for what comes, and behind the second
// nobody gives for this any more.
void SpmdWorld::all_gather(std::span<const std::byte> mine, std::byte* all, Call call) {
  all_ = all;
  stride_ = mine.size();
  received_ = 0;
  std::ranges::copy(mine, all + job_.rank() * stride_);
  finish([this, call] { barrier(call); });
  give(mine);
  await(mine.size() * (job_.size() - 1));
  finish([this, call] { barrier(call); });
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void SpmdWorld::share_environment() {
  std::string& text = environment_;
  if (job_.rank() == 0) text = pack_environment();
  const First first = job_.exchange(First{text.size(), choose_id()})[0];
  id_ = first.id;
  text.resize(first.environment_bytes);
  all_ = reinterpret_cast<std::byte*>(text.data());
  barrier("AMX_SPMDStartup");
  if (job_.rank() == 0) {
    give(std::as_bytes(std::span(text)));
  } else {
    await(text.size());
  }
  barrier("AMX_SPMDStartup");
  for (std::size_t at = 0; at < text.size(); at = text.find('\0', at) + 1) {
    variables_.push_back(text.data() + at);
  }
  variables_.push_back(nullptr);
}

const char* SpmdWorld::variable(const char* name) const noexcept {
  const std::string_view wanted = name;
  for (const char* const one : variables_) {
    if (one == nullptr) break;
    const std::string_view variable = one;
    if (variable.starts_with(wanted) && variable.substr(wanted.size()).starts_with('=')) {
      return one + wanted.size() + 1;
    }
  }
  return nullptr;
}

}  // namespace am::c
