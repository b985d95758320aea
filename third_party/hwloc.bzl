"""hwloc: the headers, from Debian's libhwloc-dev. The library is loaded where processes are bound.

The compiler finds them in /usr/include by itself.
"""

_BUILD = """
cc_library(
    name = "headers",
    hdrs = glob(["include/hwloc.h", "include/hwloc/**/*.h"]),
    linkopts = ["-ldl"],
    visibility = ["//visibility:public"],
)
"""

def _hwloc_impl(ctx):
    if not ctx.path("/usr/include/hwloc.h").exists:
        fail("no /usr/include/hwloc.h; install Debian's libhwloc-dev (third_party/install.sh)")
    ctx.symlink("/usr/include/hwloc.h", "include/hwloc.h")
    ctx.symlink("/usr/include/hwloc", "include/hwloc")
    ctx.file("BUILD", _BUILD)

_hwloc = repository_rule(
    implementation = _hwloc_impl,
    local = True,
)

def hwloc():
    _hwloc(name = "hwloc")
