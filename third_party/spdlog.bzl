"""spdlog from Debian's libspdlog-dev: compiled, shared, with fmt outside of it.

The compiler finds the headers in /usr/include by itself.
"""

load(":system_folder.bzl", "system_folder")

_BUILD = """
cc_library(
    name = "spdlog",
    hdrs = glob(["**/*.h"]),
    defines = [
        "SPDLOG_COMPILED_LIB",
        "SPDLOG_FMT_EXTERNAL",
        "SPDLOG_SHARED_LIB",
    ],
    linkopts = [
        "-lspdlog",
        "-lfmt",
        "-pthread",
    ],
    visibility = ["//visibility:public"],
)
"""

def spdlog():
    system_folder(
        name = "spdlog",
        build_file_content = _BUILD,
        package = "libspdlog-dev",
        path = "/usr/include/spdlog",
    )
