"""What the library needs of other repositories, for the WORKSPACE of those who use it:

    local_repository(name = "splitphase", path = "/where/the/clone/is")
    load("@splitphase//packaging:dependencies.bzl", "splitphase_dependencies")
    splitphase_dependencies()
"""

load("//third_party:cli11.bzl", "cli11")
load("//third_party:hwloc.bzl", "hwloc")
load("//third_party:libfabric.bzl", "libfabric")
load("//third_party:nlohmann_json.bzl", "nlohmann_json")
load("//third_party:pmix.bzl", "pmix")
load("//third_party:remote_coverage_tools.bzl", "remote_coverage_tools")
load("//third_party:rules_cc.bzl", "rules_cc")
load("//third_party:rules_java.bzl", "rules_java")
load("//third_party:spdlog.bzl", "spdlog")

_DEPENDENCIES = {
    # Of the library.
    "cli11": cli11,
    "hwloc": hwloc,
    "libfabric": libfabric,
    "nlohmann_json": nlohmann_json,
    "pmix": pmix,
    "spdlog": spdlog,
    # Of Debian's Bazel.
    "remote_coverage_tools": remote_coverage_tools,
    "rules_cc": rules_cc,
    "rules_java": rules_java,
}

def splitphase_dependencies():
    """Declares what the workspace has not declared before, with Debian's packages."""
    for name, declare in _DEPENDENCIES.items():
        if not native.existing_rule(name):
            declare()
