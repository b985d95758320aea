"""What dependencies.bzl is to a WORKSPACE, to MODULE.bazel."""

load("//third_party:cblas.bzl", "cblas")
load("//third_party:cli11.bzl", "cli11")
load("//third_party:hwloc.bzl", "hwloc")
load("//third_party:libfabric.bzl", "libfabric")
load("//third_party:libpng.bzl", "libpng")
load("//third_party:nlohmann_json.bzl", "nlohmann_json")
load("//third_party:pmix.bzl", "pmix")
load("//third_party:spdlog.bzl", "spdlog")

def _system_libraries_impl(_):
    cblas()
    cli11()
    hwloc()
    libfabric()
    libpng()
    nlohmann_json()
    pmix()
    spdlog()

system_libraries = module_extension(implementation = _system_libraries_impl)
