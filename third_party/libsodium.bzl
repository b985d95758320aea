"""libsodium: the headers, from Debian's libsodium-dev. The library is loaded where a job needs it.

The compiler finds them in /usr/include by itself.
"""

_BUILD = """
cc_library(
    name = "headers",
    hdrs = glob(["include/sodium.h", "include/sodium/*.h"]),
    linkopts = ["-ldl"],
    visibility = ["//visibility:public"],
)
"""

def _libsodium_impl(ctx):
    if not ctx.path("/usr/include/sodium.h").exists:
        fail("no /usr/include/sodium.h; install Debian's libsodium-dev (third_party/install.sh)")
    ctx.symlink("/usr/include/sodium.h", "include/sodium.h")
    ctx.symlink("/usr/include/sodium", "include/sodium")
    ctx.file("BUILD", _BUILD)

_libsodium = repository_rule(
    implementation = _libsodium_impl,
    local = True,
)

def libsodium():
    _libsodium(name = "libsodium")
