"""Tests that run as several processes of a job."""

load("//:unity.bzl", "cc_binary")

# What most tests run as on one node.
PROCS = [1, 2, 5, 8]

# What most tests run as beside one node: every process alone, and nodes of several.
NODES = [
    (3, 2),
    (5, 5),
    (8, 3),
]

# Of all these, those that every run of the tests has: alone, a pair, more processes than cores, and a node of
# several beside one of one. The others show the same with more processes or nodes; they get the tag "all"
# (docs/contributing.md).
_BY_DEFAULT = [
    "1",
    "2",
    "5",
    "3:2",
]

# Of what goes through all nodes by a tree.
MANY_NODES_TOO = _BY_DEFAULT + ["5:5"]

# The sanitizers' build runs each program in a few: that makes most of its time.
_SANITIZED = [
    "2",
    "4",
    "3:2",
]

def _usual(shapes):
    """Of shapes of one kind, near or of nodes: those above, or else the first."""
    return [shape for shape in shapes if shape in _BY_DEFAULT] or shapes[:1]

def job_test(
        name,
        srcs = [],
        deps = [],
        program = None,
        procs = PROCS,
        nodes = [],
        by_default = None,
        alone = False,
        tags = [],
        args = [],
        env = {},
        data = [],
        size = "medium"):
    """One test per number of processes: NAME_nN runs splitcrun -n N on a GoogleTest program.

    And one per pair in `nodes`: NAME_nN_mM runs splitcrun -n N --nodes M. NAME_alone runs the
    program as it is.

    Every process runs the same cases in the same order; one that fails ends the job. `deps` must
    bring a main() that knows of jobs, such as //tests/support:job_main. NAME is the suite of all.

    Args:
      name: of the suite; the program itself is NAME_program, unless `program` names another.
      srcs: of the program; several are compiled as one (unity.bzl).
      deps: of the program.
      program: one of this package that is to be run instead of one of `srcs` and `deps`.
      procs: the numbers of processes, on one node.
      nodes: pairs of processes and pretended nodes, such as [(3, 2), (5, 5)].
      by_default: of these, those that not only `./test --all` runs, such as ["2", "3:2"]; if not given,
        those in _BY_DEFAULT, and one of `procs` and of `nodes` at least.
      alone: also as a job of one process that no launcher has started.
      tags: of the tests; "all" for those that only `./test --all` runs. Those that the sanitizers'
        build can do without get "once", too.
      args: of the program.
      env: variables set for the job, such as {"SPLITC_WAIT": "block"}.
      data: files that the program needs.
      size: of the tests.
    """
    if not program:
        program = name + "_program"
        cc_binary(
            name = program,
            testonly = True,
            srcs = srcs,
            deps = deps,
        )
    settings = ["%s=%s" % (key, env[key]) for key in sorted(env)]
    near = {"%s_n%d" % (name, count): str(count) for count in procs}
    far = {"%s_n%d_m%d" % (name, n, m): "%d:%d" % (n, m) for n, m in nodes}
    if by_default == None:
        by_default = _usual(near.values()) + _usual(far.values())
    shapes = dict(near.items() + far.items())
    for test, shape in shapes.items():
        native.sh_test(
            name = test,
            size = size,
            srcs = ["//tests:job_test.sh"],
            args = ["$(rootpath //tools/splitcrun:splitcrun)", shape] + settings +
                   ["--", "$(rootpath :%s)" % program] + args,
            data = [
                ":" + program,
                "//tools/splitcrun:splitcrun",
            ] + data,
            tags = tags + ([] if shape in by_default else ["all"]) +
                   ([] if shape in _SANITIZED else ["once"]),
        )
    if alone:
        native.sh_test(
            name = name + "_alone",
            size = size,
            srcs = [":" + program],
            args = args,
            data = data,
            env = env,
            tags = tags + [
                "alone",
                "once",
            ],
        )
    native.test_suite(
        name = name,
        tests = [":" + test for test in shapes] + ([":" + name + "_alone"] if alone else []),
    )
