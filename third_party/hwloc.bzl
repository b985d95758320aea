"""hwloc: the headers, from Debian's libhwloc-dev. The library is loaded where processes are bound.

One of them lies in a folder of the machine's own, such as /usr/include/x86_64-linux-gnu, where the
compiler for another processor does not look; what it says is true of all with 64 bits.
"""

_BUILD = """
cc_library(
    name = "headers",
    hdrs = glob(["include/**/*.h"]),
    includes = ["include"],
    linkopts = ["-ldl"],
    visibility = ["//visibility:public"],
)
"""

_CONFIG = "hwloc/autogen/config.h"

def _find_config(ctx):
    include = ctx.path("/usr/include")
    for folder in [include] + include.readdir():
        config = folder.get_child("hwloc").get_child("autogen").get_child("config.h")
        if config.exists:
            return config
    fail("neither /usr/include/%s nor in a folder there; install Debian's libhwloc-dev (third_party/install.sh)" % _CONFIG)

def _hwloc_impl(ctx):
    ctx.symlink(_find_config(ctx), "include/" + _CONFIG)
    ctx.symlink("/usr/include/hwloc.h", "include/hwloc.h")
    for header in ctx.path("/usr/include/hwloc").readdir():
        if header.basename.endswith(".h"):
            ctx.symlink(header, "include/hwloc/" + header.basename)
    ctx.file("BUILD", _BUILD)

_hwloc = repository_rule(
    implementation = _hwloc_impl,
    local = True,
)

def hwloc():
    _hwloc(name = "hwloc")
