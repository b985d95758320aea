"""Bazel's C++ rules, with the `.cc` files of a target compiled as one translation unit.

Parsing headers takes most of the time of a compilation, so a target of ten files takes a quarter of it
this way. `--//:unity=no` compiles each file by itself.
"""

# For code that runs once, such as CLI11's: half the time of its compilation. (-U: what this macro checks
# needs an optimizer.)
RUNS_ONCE = [
    "-O0",
    "-U_FORTIFY_SOURCE",
]

def _flag_impl(_):
    return []

unity_flag = rule(
    implementation = _flag_impl,
    build_setting = config.bool(flag = True),
)

# Anonymous namespaces are in included files here, which g++ takes for a mistake; clang has no such warning.
_HEAD = """#ifndef __clang__
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif
"""

def _unity_source_impl(ctx):
    source = ctx.actions.declare_file(ctx.label.name + ".cc")
    includes = ['#include "%s"\n' % file for file in ctx.attr.files]
    ctx.actions.write(source, _HEAD + "".join(includes))
    return [DefaultInfo(files = depset([source]))]

_unity_source = rule(
    implementation = _unity_source_impl,
    attrs = {"files": attr.string_list(mandatory = True)},  # their places below the root, in this order
)

def _unity(name, srcs, testonly):
    """What a target compiles.

    Args:
      name: of the target.
      srcs: its sources and private headers. What the `.cc` files of this package define in anonymous
        namespaces must not have the same names.
      testonly: as of the target.

    Returns:
      `srcs` for the compiler, and those of them that it includes: two selections.
    """
    parts = [file for file in srcs if file.endswith(".cc") and ":" not in file]
    if len(parts) < 2:
        return srcs, []
    _unity_source(
        name = name + "_unity",
        testonly = testonly,
        files = ["%s/%s" % (native.package_name(), file) for file in parts],
        visibility = ["//visibility:private"],
    )
    others = [file for file in srcs if file not in parts]
    return (
        select({"//:separate": srcs, "//conditions:default": others + [":%s_unity" % name]}),
        select({"//:separate": [], "//conditions:default": parts}),
    )

def cc_library(name, srcs = [], textual_hdrs = [], testonly = False, **attributes):
    """native.cc_library, compiled as one."""
    sources, parts = _unity(name, srcs, testonly)
    native.cc_library(
        name = name,
        srcs = sources,
        testonly = testonly,
        textual_hdrs = textual_hdrs + parts,
        **attributes
    )

def _program(rule, name, srcs, deps, testonly, **attributes):
    sources, parts = _unity(name, srcs, testonly)
    if parts:  # A program has no attribute for files that are only included.
        native.cc_library(
            name = name + "_unity_parts",
            testonly = testonly,
            textual_hdrs = parts + [file for file in srcs if file.endswith(".h")],
            visibility = ["//visibility:private"],
            deps = deps,
        )
        deps = deps + [":%s_unity_parts" % name]
    rule(name = name, srcs = sources, deps = deps, testonly = testonly, **attributes)

def cc_binary(name, srcs = [], deps = [], testonly = False, **attributes):
    """native.cc_binary, compiled as one."""
    _program(native.cc_binary, name, srcs, deps, testonly, **attributes)

def cc_test(name, srcs = [], deps = [], **attributes):
    """native.cc_test, compiled as one."""
    _program(native.cc_test, name, srcs, deps, True, **attributes)
