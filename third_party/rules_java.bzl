"""rules_java from Debian's bazel-rules-java: Bazel resolves Java toolchains in every build."""

def rules_java():
    native.local_repository(name = "rules_java", path = "/usr/share/bazel/rules/java")
