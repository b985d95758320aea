"""libfabric from Debian's libfabric-dev.

The compiler finds the headers, which programs include as <rdma/...>, in /usr/include by itself.
"""

_BUILD = """
cc_library(
    name = "libfabric",
    hdrs = ["fabric.h"] + glob(["fi_*.h"]),
    linkopts = ["-lfabric"],
    visibility = ["//visibility:public"],
)
"""

def libfabric():
    native.new_local_repository(
        name = "libfabric",
        build_file_content = _BUILD,
        path = "/usr/include/rdma",
    )
