// The translation table of an endpoint.

#include <mutex>
#include <string>

#include "am/c/binding/errors.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/own_queue.h"
#include "am/route/router.h"

namespace am::c {

namespace {

int check_translation_index(const char* call, ep_t endpoint, int index) {
  if (const int code = check_endpoint(call, endpoint)) return code;
  const std::uint32_t size = endpoint->core->translations();
  if (index >= 0 && static_cast<std::uint32_t>(index) < size) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call,
              "there is no translation " + std::to_string(index) + ": the table has " +
                  std::to_string(size) + " places; AM_SetNumTranslations() makes it larger");
}

int check_bound(const char* call, ep_t endpoint, int index) {
  if (const int code = check_translation_index(call, endpoint, index)) return code;
  if (endpoint->core->mapped(static_cast<std::uint32_t>(index))) return AM_OK;
  return fail(AM_ERR_RESOURCE, call, "translation " + std::to_string(index) + " is not mapped");
}

int check_name(const char* call, ep_t endpoint, const en_t& name) {
  const std::uint32_t size = endpoint->core->bundle().router().size();
  const Rank rank = from_c(name).rank;
  if (rank < size) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call,
              "the name says rank " + std::to_string(rank) + ", but the job has " +
                  std::to_string(size) + " processes; the name was not made by this job");
}

int map(const char* call, ep_t endpoint, int index, const en_t& name, tag_t tag) {
  if (const int code = check_translation_index(call, endpoint, index)) return code;
  if (const int code = check_name(call, endpoint, name)) return code;
  const std::lock_guard lock(endpoint->core->mapping);
  const auto place = static_cast<std::uint32_t>(index);
  if (endpoint->core->mapped(place)) {
    return fail(AM_ERR_IN_USE, call,
                "translation " + std::to_string(index) +
                    " is in use; AM_Unmap() it first, or use AM_MapAny()");
  }
  return guarded(call, [&] { endpoint->core->map(place, from_c(name), tag); });
}

int map_any(const char* call, ep_t endpoint, int* index, const en_t& name, tag_t tag) {
  if (const int code = check_endpoint(call, endpoint)) return code;
  if (const int code = check_result(call, index)) return code;
  if (const int code = check_name(call, endpoint, name)) return code;
  return guarded(call, [&] {
    EndpointState& core = *endpoint->core;
    const std::lock_guard lock(core.mapping);
    std::uint32_t free = 0;
    while (free < core.translations() && core.mapped(free)) ++free;
    if (free == core.translations()) {
      return fail(AM_ERR_RESOURCE, call,
                  "all " + std::to_string(free) +
                      " translations are in use; AM_SetNumTranslations() makes more");
    }
    core.map(free, from_c(name), tag);
    *index = static_cast<int>(free);
    return static_cast<int>(AM_OK);
  });
}

int unmap(const char* call, ep_t endpoint, int index) {
  if (const int code = check_bound(call, endpoint, index)) return code;
  if (const int code = check_no_handler(call)) return code;
  return guarded(call, [&] {
    EndpointState& core = *endpoint->core;
    if (core.queue) core.queue->wait_until_sent(call);
    core.unmap(To(static_cast<std::uint32_t>(index), SourceLocation()));
  });
}

int set_tag(const char* call, ep_t endpoint, int index, tag_t tag) {
  if (const int code = check_bound(call, endpoint, index)) return code;
  const en_t name = to_c(endpoint->core->translation_name(static_cast<std::uint32_t>(index)));
  if (const int code = unmap(call, endpoint, index)) return code;
  return map(call, endpoint, index, name, tag);
}

int set_translation_count(const char* call, ep_t endpoint, int count) {
  if (const int code = check_endpoint(call, endpoint)) return code;
  if (count < 1) {
    return fail(AM_ERR_BAD_ARG, call, std::to_string(count) + " translations; at least 1");
  }
  const auto wanted = static_cast<std::uint32_t>(count);
  EndpointState& core = *endpoint->core;
  for (std::uint32_t index = wanted; index < core.translations(); ++index) {
    if (!core.mapped(index)) continue;
    return fail(AM_ERR_IN_USE, call,
                "translation " + std::to_string(index) + " is mapped, and would be beyond the end");
  }
  return guarded(call, [&] { core.resize_translations(wanted); });
}

}  // namespace
}  // namespace am::c

using am::c::check_bound;
using am::c::check_result;

int AM_Map(ep_t endpoint, int index, en_t name, tag_t tag) {
  return am::c::map("AM_Map", endpoint, index, name, tag);
}

int AM_MapAny(ep_t endpoint, int* index, en_t name, tag_t tag) {
  return am::c::map_any("AM_MapAny", endpoint, index, name, tag);
}

int AM_Unmap(ep_t endpoint, int index) { return am::c::unmap("AM_Unmap", endpoint, index); }

int AM_SetTranslationTag(ep_t endpoint, int index, tag_t tag) {
  return am::c::set_tag("AM_SetTranslationTag", endpoint, index, tag);
}

int AM_GetTranslationName(ep_t endpoint, int index, en_t* name) {
  constexpr const char* kCall = "AM_GetTranslationName";
  if (const int code = check_bound(kCall, endpoint, index)) return code;
  if (const int code = check_result(kCall, name)) return code;
  *name = am::c::to_c(endpoint->core->translation_name(static_cast<std::uint32_t>(index)));
  return AM_OK;
}

int AM_GetTranslationTag(ep_t endpoint, int index, tag_t* tag) {
  constexpr const char* kCall = "AM_GetTranslationTag";
  if (const int code = check_bound(kCall, endpoint, index)) return code;
  if (const int code = check_result(kCall, tag)) return code;
  *tag = endpoint->core->translation_tag(static_cast<std::uint32_t>(index));
  return AM_OK;
}

int AM_GetTranslationInuse(ep_t endpoint, int index) {
  return check_bound("AM_GetTranslationInuse", endpoint, index);
}

int AM_SetNumTranslations(ep_t endpoint, int count) {
  return am::c::set_translation_count("AM_SetNumTranslations", endpoint, count);
}

int AM_GetNumTranslations(ep_t endpoint, int* count) {
  return am::c::get("AM_GetNumTranslations", endpoint, count,
                    [](auto& core) { return static_cast<int>(core.translations()); });
}

int AM_MaxNumTranslations(int* count) {
  if (const int code = check_result("AM_MaxNumTranslations", count)) return code;
  *count = static_cast<int>(am::Endpoint::kMaxTranslations);
  return AM_OK;
}
