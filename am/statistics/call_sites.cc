#include "am/statistics/call_sites.h"

#include <cstring>
#include <functional>
#include <string_view>

namespace am {

// The same name may stand at several addresses, one in each part of the program.
bool CallSites::Same::operator()(const CallPlace& a, const CallPlace& b) const noexcept {
  return a.caller == b.caller && a.where.line() == b.where.line() &&
         std::strcmp(a.call, b.call) == 0 &&
         std::strcmp(a.where.file_name(), b.where.file_name()) == 0;
}

std::size_t CallSites::Hash::operator()(const CallPlace& place) const noexcept {
  const std::size_t caller = std::hash<const void*>()(place.caller);
  return std::hash<std::string_view>()(place.call) ^ caller * 31 ^ place.where.line() * 1'000'003;
}

CallSites::CallSites(std::uint32_t processes) : traffic_(processes) {
  active_.store(this, std::memory_order_relaxed);
}

CallSites::~CallSites() { active_.store(nullptr, std::memory_order_relaxed); }

CallSites::Site& CallSites::site(const CallPlace& place) {
  if (const auto found = sites_.find(place); found != sites_.end()) [[likely]]
    return found->second;
  const CallPlace added = sites_.size() < kMost ? place : CallPlace{.call = kOthers};
  Site& site = sites_[added];
  site.place = added;
  return site;
}

void CallSites::count(const CallPlace& place, Traffic Site::*route, Rank to, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const Traffic one{1, bytes};
  site(place).*route += one;
  if (to < traffic_.size()) traffic_[to] += one;
}

void CallSites::waited(const CallPlace& place, std::int64_t ns, const char* needs) {
  const std::lock_guard lock(mutex_);
  Site& at = site(place);
  ++at.waits;
  at.waited_ns += static_cast<std::uint64_t>(ns);
  if (needs != nullptr) at.needs = needs;
}

std::vector<CallSites::Site> CallSites::sites() const {
  const std::lock_guard lock(mutex_);
  std::vector<Site> all;
  for (const auto& [place, site] : sites_) all.push_back(site);
  return all;
}

std::vector<CallSites::Traffic> CallSites::traffic() const {
  const std::lock_guard lock(mutex_);
  return traffic_;
}

}  // namespace am
