"""PMIx from Debian's libpmix-dev: the headers. The library is loaded where a job needs it.

Debian keeps them in a folder below the machine's own, such as /usr/lib/x86_64-linux-gnu.
"""

_BUILD = """
cc_library(
    name = "pmix",
    hdrs = glob(["include/pmix*.h"]),
    includes = ["include"],
    linkopts = ["-ldl"],
    visibility = ["//visibility:public"],
)
"""

def _pmix_impl(ctx):
    for machine in ctx.path("/usr/lib").readdir():
        folder = machine.get_child("pmix2").get_child("include")
        if folder.get_child("pmix.h").exists:
            ctx.symlink(folder, "include")
            ctx.file("BUILD", _BUILD)
            return
    fail("no /usr/lib/*/pmix2/include/pmix.h; install Debian's libpmix-dev (third_party/install.sh)")

_pmix = repository_rule(
    implementation = _pmix_impl,
    local = True,
)

def pmix():
    _pmix(name = "pmix")
