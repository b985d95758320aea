"""nlohmann_json from Debian's nlohmann-json3-dev: headers only.

The compiler finds them in /usr/include by itself.
"""

_BUILD = """
cc_library(
    name = "nlohmann_json",
    hdrs = glob(["**/*.hpp"]),
    visibility = ["//visibility:public"],
)
"""

def nlohmann_json():
    native.new_local_repository(
        name = "nlohmann_json",
        build_file_content = _BUILD,
        path = "/usr/include/nlohmann",
    )
