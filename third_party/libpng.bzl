"""libpng from Debian's libpng-dev, for the example that reads images.

The compiler finds the header in /usr/include by itself.
"""

load(":system_folder.bzl", "system_folder")

_BUILD = """
cc_library(
    name = "libpng",
    hdrs = glob(["*.h"]),
    linkopts = ["-lpng16"],
    visibility = ["//visibility:public"],
)
"""

def libpng():
    system_folder(
        name = "libpng",
        build_file_content = _BUILD,
        package = "libpng-dev",
        path = "/usr/include/libpng16",
    )
