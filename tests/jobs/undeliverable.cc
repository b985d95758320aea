// What undeliverable_test starts under splitcrun: rank 0 sends something that rank 1 refuses, and
// has no handler for what comes back.
//
//   undeliverable short|medium|long|oneway|reply
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include "am/am.h"

namespace {

void on_medium(am::Request, std::span<const std::byte>, std::uint32_t) {}
void on_long(am::Request, std::span<std::byte>) {}
void on_answer(am::Reply, std::uint16_t) {}
void on_question(am::Request request) { std::move(request).reply<&on_answer>(7u); }

int run(const std::string& how) {
  am::Job job;
  am::Bundle bundle(job);
  am::Endpoint endpoint(bundle);
  endpoint.set_handler<&on_long>(2);
  endpoint.set_handler<&on_question>(4);
  if (job.rank() == 0) endpoint.set_handler<&on_medium>(1);
  if (job.rank() == 1) endpoint.set_handler<&on_answer>(3);
  job.connect(endpoint, 9);
  if (job.rank() == 0) {
    const std::array<std::uint32_t, 2> words{0x04030201, 0xff};
    const std::array<std::byte, 5> bytes{};
    if (how == "short") endpoint.request_index(1, 200, words);
    if (how == "oneway") endpoint.request_index(1, 201, {}, am::Role::kOneWay);
    if (how == "medium") endpoint.request_medium<&on_medium>(1, bytes, 0x11u);
    if (how == "long") endpoint.request_long<&on_long>(1, std::uint64_t{1} << 40, bytes);
    if (how == "reply") endpoint.request<&on_question>(1);
  }
  bundle.wait_until([] { return false; });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "");
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
