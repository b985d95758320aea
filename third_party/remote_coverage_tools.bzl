"""Bazel resolves this repository for every test, used or not. Ours holds one empty target."""

_BUILD = """
filegroup(
    name = "coverage_report_generator",
    visibility = ["//visibility:public"],
)
"""

def _remote_coverage_tools_impl(ctx):
    ctx.file("BUILD", _BUILD)

_remote_coverage_tools = repository_rule(
    implementation = _remote_coverage_tools_impl,
    local = True,
)

def remote_coverage_tools():
    _remote_coverage_tools(name = "remote_coverage_tools")
