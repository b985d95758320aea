"""GoogleTest and GoogleMock, built from the sources of Debian's googletest."""

_BUILD = """
_FOLDERS = ["googletest", "googlemock"]

_HEADERS = glob([folder + "/include/**/*.h" for folder in _FOLDERS])

# -w: the warnings and -Werror of .bazelrc are for our own code.
cc_library(
    name = "gtest",
    srcs = [
        "googlemock/src/gmock-all.cc",
        "googletest/src/gtest-all.cc",
    ],
    hdrs = _HEADERS,
    copts = ["-w"],
    includes = _FOLDERS + [folder + "/include" for folder in _FOLDERS],
    linkopts = ["-pthread"],
    textual_hdrs = glob([folder + "/src/*" for folder in _FOLDERS]),
    visibility = ["//visibility:public"],
)

# Has the headers too, so that a test names this one target and passes layering_check.
cc_library(
    name = "gtest_main",
    srcs = ["googlemock/src/gmock_main.cc"],
    hdrs = _HEADERS,
    copts = ["-w"],
    visibility = ["//visibility:public"],
    deps = [":gtest"],
)
"""

def googletest():
    native.new_local_repository(
        name = "googletest",
        build_file_content = _BUILD,
        path = "/usr/src/googletest",
    )
