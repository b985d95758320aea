"""rules_cc 0.0.4 from Debian's bazel-rules-cc, which Bazel itself loads.

Two of its files load `use_cpp_toolchain`, which Debian's Bazel 4.2.3 does not have. The copy made
here names the toolchain type instead.
"""

_DEBIAN_COPY = "/usr/share/bazel/rules/cc"

def _rules_cc_impl(ctx):
    copied = ctx.execute(["cp", "-r", _DEBIAN_COPY + "/.", "."])
    if copied.return_code != 0:
        fail("rules_cc: %s; install bazel-rules-cc" % copied.stderr)
    for name in ["compiler_flag", "cc_flags_supplier"]:
        path = "cc/private/rules_impl/%s.bzl" % name
        text = ctx.read(path).replace(', "use_cpp_toolchain"', "")
        text = text.replace("use_cpp_toolchain()", '["@bazel_tools//tools/cpp:toolchain_type"]')
        ctx.file(path, text)

_rules_cc = repository_rule(implementation = _rules_cc_impl, local = True)

def rules_cc():
    _rules_cc(name = "rules_cc")
