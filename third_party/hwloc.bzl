"""hwloc from Debian's libhwloc-dev. The compiler finds <hwloc.h> in /usr/include by itself."""

_BUILD = """
cc_library(
    name = "hwloc",
    hdrs = glob(["*.h"]),
    linkopts = ["-lhwloc"],
    visibility = ["//visibility:public"],
)
"""

def hwloc():
    native.new_local_repository(
        name = "hwloc",
        build_file_content = _BUILD,
        path = "/usr/include/hwloc",
    )
