"""A GoogleTest program of which `./test` runs a part, and `./test --all` the rest, too."""

load("//:unity.bzl", "cc_test")

def parted_test(name, beyond, args = [], data = [], env = {}, size = "medium", tags = [], **attributes):
    """NAME runs all cases but those of `beyond`, NAME_all those.

    Args:
      name: of the test.
      beyond: a filter of GoogleTest, such as "*/3:*/4". The case */N is of the value N, from 0 on, of a
        list that a case goes through.
      args: of both.
      data: of both.
      env: of both.
      size: of both.
      tags: of both.
      **attributes: others of a cc_test; several sources are compiled as one.
    """
    cc_test(
        name = name,
        size = size,
        args = ["--gtest_filter=-" + beyond] + args,
        data = data,
        env = env,
        tags = tags,
        **attributes
    )
    native.sh_test(
        name = name + "_all",
        size = size,
        srcs = [":" + name],
        args = ["--gtest_filter=" + beyond] + args,
        data = data,
        env = env,
        tags = tags + ["all"],
    )
