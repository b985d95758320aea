"""libfabric: the headers, which programs include as <rdma/...>.

They are Debian's (libfabric-dev), which the compiler finds in /usr/include by itself. To build
against another libfabric, name the folder that it was installed in:

    bazel build --repo_env=LIBFABRIC_PREFIX=/opt/libfabric --platform_suffix=-other //...

Programs load libfabric when they first use it, so which one they run with is for the dynamic linker
to find: LD_LIBRARY_PATH=/opt/libfabric/lib.
"""

_BUILD = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    hdrs = glob(["include/rdma/**"]),
    includes = %s,
)

cc_library(
    name = "libfabric",
    linkopts = %s,
    deps = [":headers"],
)
"""

def _libfabric_impl(ctx):
    prefix = ctx.os.environ.get("LIBFABRIC_PREFIX", "")
    if not prefix:
        ctx.file("BUILD", _BUILD % ([], ["-lfabric"]))
        return
    ctx.symlink(prefix + "/include/rdma", "include/rdma")
    lib = prefix + "/lib"
    ctx.file("BUILD", _BUILD % (["include"], ["-L" + lib, "-Wl,-rpath," + lib, "-lfabric"]))

_libfabric = repository_rule(
    implementation = _libfabric_impl,
    environ = ["LIBFABRIC_PREFIX"],
    local = True,
)

def libfabric():
    _libfabric(name = "libfabric")
