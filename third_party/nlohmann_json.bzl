"""JSON for Modern C++ from Debian's nlohmann-json3-dev: headers only.

The compiler finds them in /usr/include by itself.
"""

load(":system_folder.bzl", "system_folder")

_BUILD = """
cc_library(
    name = "nlohmann_json",
    hdrs = glob(["**/*.hpp"]),
    visibility = ["//visibility:public"],
)
"""

def nlohmann_json():
    system_folder(
        name = "nlohmann_json",
        build_file_content = _BUILD,
        package = "nlohmann-json3-dev",
        path = "/usr/include/nlohmann",
    )
