"""spdlog from Debian's libspdlog-dev: compiled, shared, with fmt outside of it. Where the library is not
installed for the processor that is built for, all of both is compiled from the headers.

The compiler finds the headers in /usr/include by itself.
"""

load(":system_folder.bzl", "system_folder")

_BUILD = """
cc_library(
    name = "spdlog",
    hdrs = glob(["**/*.h"]),
    defines = ["SPDLOG_FMT_EXTERNAL"] + select({
        "{headers_only}": ["FMT_HEADER_ONLY"],
        "//conditions:default": [
            "SPDLOG_COMPILED_LIB",
            "SPDLOG_SHARED_LIB",
        ],
    }),
    linkopts = ["-pthread"] + select({
        "{headers_only}": [],
        "//conditions:default": [
            "-lspdlog",
            "-lfmt",
        ],
    }),
    visibility = ["//visibility:public"],
)
""".replace(
    "{headers_only}",
    "@%s//third_party:headers_only" % Label("//third_party:headers_only").workspace_name,
)

def spdlog():
    system_folder(
        name = "spdlog",
        build_file_content = _BUILD,
        package = "libspdlog-dev",
        path = "/usr/include/spdlog",
    )
