#include "tools/splitcrun/topology.h"

#include <dlfcn.h>
#include <hwloc.h>

#include <algorithm>

namespace am::launcher {
namespace {

// Loaded for good. All null where it is not installed.
struct Hwloc {
  decltype(&hwloc_topology_init) init = nullptr;
  decltype(&hwloc_topology_load) load = nullptr;
  decltype(&hwloc_topology_destroy) destroy = nullptr;
  decltype(&hwloc_get_type_depth) type_depth = nullptr;
  decltype(&hwloc_get_nbobjs_by_depth) count = nullptr;
  decltype(&hwloc_get_obj_by_depth) object = nullptr;
  decltype(&hwloc_bitmap_isset) is_set = nullptr;

  static const Hwloc& get() {
    static const Hwloc library;
    return library;
  }
  bool complete() const noexcept {
    return init && load && destroy && type_depth && count && object && is_set;
  }

 private:
  Hwloc() {
    void* const handle = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return;
    find(handle, "hwloc_topology_init", init);
    find(handle, "hwloc_topology_load", load);
    find(handle, "hwloc_topology_destroy", destroy);
    find(handle, "hwloc_get_type_depth", type_depth);
    find(handle, "hwloc_get_nbobjs_by_depth", count);
    find(handle, "hwloc_get_obj_by_depth", object);
    find(handle, "hwloc_bitmap_isset", is_set);
  }
  template <class Function>
  static void find(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
  }
};

hwloc_obj_type_t type_of(Domain kind) {
  switch (kind) {
    case Domain::kCore: return HWLOC_OBJ_CORE;
    case Domain::kL3: return HWLOC_OBJ_L3CACHE;
    case Domain::kNuma: return HWLOC_OBJ_NUMANODE;
    default: return HWLOC_OBJ_PACKAGE;
  }
}

class Topology {
 public:
  explicit Topology(const Hwloc& library) : library_(library) {
    if (library_.init(&topology_) != 0) topology_ = nullptr;
    loaded_ = topology_ != nullptr && library_.load(topology_) == 0;
  }
  ~Topology() {
    if (topology_ != nullptr) library_.destroy(topology_);
  }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  bool loaded() const noexcept { return loaded_; }

  std::vector<Processors> domains(Domain kind, const Processors& allowed) const {
    std::vector<Processors> all;
    const int depth = library_.type_depth(topology_, type_of(kind));
    if (depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE) return all;
    const unsigned count = library_.count(topology_, depth);
    for (unsigned i = 0; i < count; ++i) {
      const hwloc_obj* const object = library_.object(topology_, depth, i);
      Processors in;
      for (const int processor : allowed) {
        if (library_.is_set(object->cpuset, static_cast<unsigned>(processor)) != 0) {
          in.push_back(processor);
        }
      }
      std::ranges::sort(in);
      if (!in.empty()) all.push_back(std::move(in));
    }
    return all;
  }

 private:
  const Hwloc& library_;
  hwloc_topology_t topology_ = nullptr;
  bool loaded_ = false;
};

}  // namespace

std::optional<std::vector<Processors>> find_domains(Domain kind, const Processors& allowed) {
  const Hwloc& library = Hwloc::get();
  if (!library.complete()) return std::nullopt;
  const Topology topology(library);
  if (!topology.loaded()) return std::nullopt;
  return topology.domains(kind, allowed);
}

}  // namespace am::launcher
