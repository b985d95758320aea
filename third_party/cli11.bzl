"""CLI11 from Debian's libcli11-dev: headers only.

The compiler finds them in /usr/include by itself.
"""

_BUILD = """
cc_library(
    name = "cli11",
    hdrs = glob(["*.hpp"]),
    visibility = ["//visibility:public"],
)
"""

def cli11():
    native.new_local_repository(
        name = "cli11",
        build_file_content = _BUILD,
        path = "/usr/include/CLI",
    )
