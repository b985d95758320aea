// The translation table of an endpoint.

#include <mutex>
#include <string>

#include "am/c/binding/handles.h"
#include "am/c/binding/own_queue.h"
#include "am/route/router.h"

namespace am::c {
namespace {

// `index`, which the table has; and, of bound(), which is bound.
std::uint32_t place_of(EndpointState& core, int index) {
  const std::uint32_t size = core.translations();
  if (index >= 0 && static_cast<std::uint32_t>(index) < size) {
    return static_cast<std::uint32_t>(index);
  }
  refuse(AM_ERR_BAD_ARG, "there is no translation " + std::to_string(index) + ": the table has " +
                             std::to_string(size) +
                             " places; AM_SetNumTranslations() makes it larger");
}
std::uint32_t bound(EndpointState& core, int index) {
  const std::uint32_t place = place_of(core, index);
  if (core.mapped(place)) return place;
  refuse(AM_ERR_RESOURCE, "translation " + std::to_string(index) + " is not mapped");
}

Name checked(EndpointState& core, const en_t& name) {
  const std::uint32_t size = core.bundle().router().size();
  const Name made = from_c(name);
  if (made.rank < size) return made;
  refuse(AM_ERR_BAD_ARG, "the name says rank " + std::to_string(made.rank) + ", but the job has " +
                             std::to_string(size) +
                             " processes; the name was not made by this job");
}

void map(EndpointState& core, int index, const en_t& name, tag_t tag) {
  const std::uint32_t place = place_of(core, index);
  const Name to = checked(core, name);
  const std::lock_guard lock(core.mapping);
  if (core.mapped(place)) {
    refuse(AM_ERR_IN_USE, "translation " + std::to_string(index) +
                              " is in use; AM_Unmap() it first, or use AM_MapAny()");
  }
  core.map(place, to, tag);
}

void unmap(const char* call, EndpointState& core, int index) {
  const std::uint32_t place = bound(core, index);
  check_no_handler();
  if (core.queue) core.queue->wait_until_sent(call);
  core.unmap(To(place, SourceLocation()));
}

}  // namespace
}  // namespace am::c

using namespace am::c;

int AM_Map(ep_t endpoint, int index, en_t name, tag_t tag) {
  return guarded("AM_Map", [&] { map(core_of(endpoint), index, name, tag); });
}

int AM_MapAny(ep_t endpoint, int* index, en_t name, tag_t tag) {
  return guarded("AM_MapAny", [&] {
    EndpointState& core = core_of(endpoint);
    check_result(index);
    const am::Name to = checked(core, name);
    const std::lock_guard lock(core.mapping);
    std::uint32_t free = 0;
    while (free < core.translations() && core.mapped(free)) ++free;
    if (free == core.translations()) {
      refuse(AM_ERR_RESOURCE, "all " + std::to_string(free) +
                                  " translations are in use; AM_SetNumTranslations() makes more");
    }
    core.map(free, to, tag);
    *index = static_cast<int>(free);
  });
}

int AM_Unmap(ep_t endpoint, int index) {
  return guarded("AM_Unmap", [=] { unmap("AM_Unmap", core_of(endpoint), index); });
}

int AM_SetTranslationTag(ep_t endpoint, int index, tag_t tag) {
  constexpr const char* kCall = "AM_SetTranslationTag";
  return guarded(kCall, [&] {
    EndpointState& core = core_of(endpoint);
    const en_t name = to_c(core.translation_name(bound(core, index)));
    unmap(kCall, core, index);
    map(core, index, name, tag);
  });
}

int AM_GetTranslationName(ep_t endpoint, int index, en_t* name) {
  return get("AM_GetTranslationName", endpoint, name,
             [=](auto& core) { return to_c(core.translation_name(bound(core, index))); });
}

int AM_GetTranslationTag(ep_t endpoint, int index, tag_t* tag) {
  return get("AM_GetTranslationTag", endpoint, tag,
             [=](auto& core) { return core.translation_tag(bound(core, index)); });
}

int AM_GetTranslationInuse(ep_t endpoint, int index) {
  return guarded("AM_GetTranslationInuse", [=] { bound(core_of(endpoint), index); });
}

int AM_SetNumTranslations(ep_t endpoint, int count) {
  return guarded("AM_SetNumTranslations", [=] {
    EndpointState& core = core_of(endpoint);
    if (count < 1) refuse(AM_ERR_BAD_ARG, std::to_string(count) + " translations; at least 1");
    const auto wanted = static_cast<std::uint32_t>(count);
    for (std::uint32_t index = wanted; index < core.translations(); ++index) {
      if (!core.mapped(index)) continue;
      refuse(AM_ERR_IN_USE,
             "translation " + std::to_string(index) + " is mapped, and would be beyond the end");
    }
    core.resize_translations(wanted);
  });
}

int AM_GetNumTranslations(ep_t endpoint, int* count) {
  return get("AM_GetNumTranslations", endpoint, count,
             [](auto& core) { return static_cast<int>(core.translations()); });
}

int AM_MaxNumTranslations(int* count) {
  return give("AM_MaxNumTranslations", count, static_cast<int>(am::Endpoint::kMaxTranslations));
}
