"""Bazel resolves this repository for every test, used or not. Ours holds one empty target."""

def remote_coverage_tools():
    native.local_repository(
        name = "remote_coverage_tools",
        path = "third_party/remote_coverage_tools",
    )
