"""Tests that run as several processes of a job."""

def job_test(
        name,
        srcs,
        deps,
        procs = [1, 2, 3, 5, 8],
        tags = [],
        args = [],
        env = {},
        data = [],
        size = "medium"):
    """One test per number of processes: NAME_nN runs splitcrun -n N on a GoogleTest program.

    Every process runs the same cases in the same order; one that fails ends the job. `deps` must
    bring a main() that knows of jobs, such as //tests/support:job_main. NAME is the suite of all.

    Args:
      name: of the suite; the program itself is NAME_program.
      srcs: of the program.
      deps: of the program.
      procs: the numbers of processes.
      tags: of the tests.
      args: of the program.
      env: variables set for the job, such as {"SPLITC_WAIT": "block"}.
      data: files that the program needs.
      size: of the tests.
    """
    program = name + "_program"
    native.cc_binary(
        name = program,
        testonly = True,
        srcs = srcs,
        deps = deps,
    )
    settings = ["%s=%s" % (key, env[key]) for key in sorted(env)]
    for count in procs:
        native.sh_test(
            name = "%s_n%d" % (name, count),
            size = size,
            srcs = ["//tests:job_test.sh"],
            args = ["$(rootpath //am/job/launcher:splitcrun)", str(count)] + settings +
                   ["--", "$(rootpath :%s)" % program] + args,
            data = [
                ":" + program,
                "//am/job/launcher:splitcrun",
            ] + data,
            tags = tags,
        )
    native.test_suite(
        name = name,
        tests = [":%s_n%d" % (name, count) for count in procs],
    )
