"""CLI11 from Debian's libcli11-dev: headers only.

The compiler finds them in /usr/include by itself.
"""

load(":system_folder.bzl", "system_folder")

_BUILD = """
cc_library(
    name = "cli11",
    hdrs = glob(["*.hpp"]),
    visibility = ["//visibility:public"],
)
"""

def cli11():
    system_folder(
        name = "cli11",
        build_file_content = _BUILD,
        package = "libcli11-dev",
        path = "/usr/include/CLI",
    )
