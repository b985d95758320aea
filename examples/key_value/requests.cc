#include "examples/key_value/requests.h"

#include <cmath>
#include <random>

#include "examples/random.h"

namespace key_value {
namespace {

// How popular each key is. (As in B. F. Cooper et al., Benchmarking Cloud Serving Systems with
// YCSB, 2010. Popular keys need not be dealt out by chance: the store hashes them.)
std::vector<double> weights(const Workload& workload) {
  std::vector<double> all(workload.keys, 1.0);
  if (workload.distribution == "uniform") return all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = std::pow(static_cast<double>(i) + 1, -workload.skew);
  }
  return all;
}

}  // namespace

std::vector<Request> make_requests(const Workload& workload, std::uint32_t proc) {
  std::mt19937_64 random(examples::mix(workload.seed) + proc);
  const std::vector<double> popular = weights(workload);
  std::discrete_distribution<std::uint32_t> key(popular.begin(), popular.end());
  std::uniform_real_distribution<double> percent(0, 100);

  std::vector<Request> requests;
  requests.reserve(workload.requests);
  for (std::uint64_t i = 0; i < workload.requests; ++i) {
    Request request{key(random), Kind::kRead};
    if (percent(random) >= workload.reads) {
      request.kind = percent(random) < workload.updates ? Kind::kUpdate : Kind::kPut;
    }
    requests.push_back(request);
  }
  return requests;
}

}  // namespace key_value
