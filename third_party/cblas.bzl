"""CBLAS from Debian's libblas-dev, the reference BLAS, or from whichever of Debian's other BLAS
libraries is installed beside it: they take its place by themselves.

The compiler finds the header in the machine's own folder, such as /usr/include/x86_64-linux-gnu, by
itself.
"""

_BUILD = """
cc_library(
    name = "cblas",
    hdrs = ["cblas.h"],
    linkopts = ["-lblas"],
    visibility = ["//visibility:public"],
)
"""

def _cblas_impl(ctx):
    for machine in ctx.path("/usr/include").readdir():
        header = machine.get_child("cblas.h")
        if header.exists:
            ctx.symlink(header, "cblas.h")
            ctx.file("BUILD", _BUILD)
            return
    fail("no /usr/include/*/cblas.h; install Debian's libblas-dev (third_party/install.sh)")

_cblas = repository_rule(
    implementation = _cblas_impl,
    local = True,
)

def cblas():
    _cblas(name = "cblas")
