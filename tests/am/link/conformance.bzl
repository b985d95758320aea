"""The conformance suite, as one job after the other."""

def conformance_test(name, program, shapes, wait, env = {}, by_default = [], tags = [], data = []):
    """One test per shape: NAME_nN_mM runs splitcrun -n N --nodes M on `program`.

    Args:
      name: of the suite of all.
      program: the suite's program.
      shapes: pairs of processes and pretended nodes; 0 nodes: no pretending.
      by_default: those of `shapes` that not only `./test --all` runs.
      wait: how its processes do (SPLITC_WAIT).
      env: variables set besides, such as {"SPLITC_PROVIDER": "net"}.
      tags: of the tests.
      data: files that these variables name.
    """
    settings = ["SPLITC_WAIT=" + wait] + ["'%s=%s'" % (key, env[key]) for key in sorted(env)]
    tests = []
    for i, (n, m) in enumerate(shapes):
        test = "%s_n%d" % (name, n) + ("_m%d" % m if m else "")
        tests.append(":" + test)
        native.sh_test(
            name = test,
            size = "medium",
            # Sanitizers run one of each link: how its processes sleep is nothing to them.
            tags = tags + (["once"] if i > 0 or wait == "block" else []) +
                   ([] if (n, m) in by_default else ["all"]),
            srcs = ["//tests:job_test.sh"],
            args = ["$(rootpath //tools/splitcrun:splitcrun)"] +
                   ["%d:%d" % (n, m) if m else str(n)] + settings +
                   ["--", "$(rootpath %s)" % program],
            data = [
                program,
                "//tools/splitcrun:splitcrun",
            ] + data,
        )
    native.test_suite(
        name = name,
        tests = tests,
    )
