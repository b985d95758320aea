// Children that a process forks may not use the endpoints and channels that they have a copy of.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "am/am.h"
#include "tests/support/in_child.h"
#include "tests/support/job_main.h"

namespace am {
namespace fork_test {

using ::test::job;

std::uint64_t answers = 0;
void on_answer(Reply, std::uint64_t n) { answers += n; }
void on_question(Request request, std::uint64_t n) { std::move(request).reply<&on_answer>(n); }
void on_medium(Request, std::span<const std::byte>) {}

std::string sentence_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

// A bundle with an endpoint that reaches all, and in a sequential one a channel to the right.
struct Objects {
  explicit Objects(Access access) : bundle(job(), access), endpoint(bundle) {
    endpoint.add_handlers<&on_question, &on_answer, &on_medium>();
    job().connect(endpoint);
    if (access == Access::kParallel) return;
    const std::span<std::byte> landing(job().router().segment(), source.size());
    in.emplace(bundle, landing, [this] { ++arrived; });
    out.emplace(bundle, job().exchange(in->handle())[right()]);
    out->associate(source);
  }
  static Rank right() { return (job().rank() + 1) % job().size(); }

  void communicate() {
    const std::uint64_t before = answers;
    endpoint.request<&on_question>(right(), std::uint64_t{1});
    bundle.wait_until([&] { return answers == before + 1; });
    if (out) {
      out->put();
      bundle.wait_until([&] { return arrived == 1; });
      arrived = 0;
      in->ready();
    }
    job().barrier(bundle);
  }

  std::vector<std::byte> source = std::vector<std::byte>(256);
  int arrived = 0;
  Bundle bundle;
  Endpoint endpoint;
  std::optional<ReceiveChannel> in;
  std::optional<SendChannel> out;
};

class Fork : public testing::TestWithParam<Access> {};

TEST_P(Fork, EveryCallIsRefusedInAChild) {
  Objects objects(GetParam());
  objects.communicate();
  const Rank to = Objects::right();
  Bundle& bundle = objects.bundle;
  Endpoint& endpoint = objects.endpoint;
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"poll", [&] { bundle.poll(); }},
      {"wait_until", [&] { bundle.wait_until([] { return false; }); }},
      {"wait", [&] { bundle.wait(Events::kNotEmpty); }},
      {"request", [&] { endpoint.request<&on_question>(to, std::uint64_t{1}); }},
      {"try_request",
       [&] { static_cast<void>(endpoint.try_request<&on_question>(to, std::uint64_t{1})); }},
      {"request_medium", [&] { endpoint.request_medium<&on_medium>(to, objects.source); }},
      {"set_tag", [&] { endpoint.set_tag(Tag{5}); }},
      {"unmap", [&] { endpoint.unmap(to); }},
      {"flush", [&] { endpoint.flush(); }},
      {"resize_translations", [&] { endpoint.resize_translations(300); }},
      {"barrier", [&] { job().barrier(bundle); }},
      {"exchange", [] { job().exchange(1); }},
      {"quiesce", [&] { job().quiesce(bundle); }},
      {"finish", [&] { job().finish(bundle); }},
      {"Bundle", [] { Bundle another(job()); }},
      {"Endpoint", [&] { Endpoint another(bundle); }},
      {"Job", [] { Job another; }},
  };
  std::vector<test::Refused> refused;
  for (const auto& [name, call] : calls) {
    refused.push_back({name, [&call = call] { return sentence_of(call); }});
  }
  if (objects.out) {
    refused.push_back({"put", [&] { return sentence_of([&] { objects.out->put(); }); }});
  }
  const test::Child child =
      test::in_child([&] { return test::not_refused(refused, job().rank()); });
  EXPECT_EQ(child.said, "");
  EXPECT_EQ(child.exit_code, 0);
  objects.communicate();
}

TEST_P(Fork, DestructorsInAChildTellNobody) {
  std::optional<Objects> objects(GetParam());
  objects->communicate();
  const test::Child child = test::in_child([&] {
    objects.reset();
    return std::string("done");
  });
  EXPECT_EQ(child.said, "done");
  EXPECT_EQ(child.exit_code, 0);
  objects->communicate();
}

INSTANTIATE_TEST_SUITE_P(Bundles, Fork, testing::Values(Access::kSequential, Access::kParallel),
                         [](const auto& access) {
                           return access.param == Access::kParallel ? "parallel" : "sequential";
                         });

}  // namespace fork_test
}  // namespace am
