"""Several sources compiled as one: reading the headers is most of what compiling a test takes."""

# clang has no such warning. Here anonymous namespaces are in files that are included, and harmless.
_HEAD = "#ifndef __clang__\\n#pragma GCC diagnostic ignored \\\"-Wsubobject-linkage\\\"\\n#endif\\n"

def _one_source(name, srcs, deps):
    """A source that includes all of `srcs`, and a library that brings these and what they need.

    What `srcs` define in anonymous namespaces must not have the same names.

    Args:
      name: of the source, as a target.
      srcs: what it includes, in this order, and headers.
      deps: of `srcs`.

    Returns:
      `srcs` and `deps` for a program.
    """
    sources = [file for file in srcs if file.endswith(".cc")]
    if len(sources) < 2:
        return srcs, deps
    native.genrule(
        name = name,
        testonly = True,
        srcs = sources,
        outs = [name + ".cc"],
        cmd = "(printf \"%s\"; printf '#include \"%%s\"\\n' $(SRCS)) >$@" % _HEAD,
    )
    native.cc_library(
        name = name + "_parts",
        testonly = True,
        textual_hdrs = srcs,
        deps = deps,
    )
    return [":" + name], [":" + name + "_parts"]

def _joint(rule, name, srcs, deps, **attributes):
    sources, needed = _one_source(name + "_source", srcs, deps)
    rule(
        name = name,
        srcs = sources,
        deps = needed,
        **attributes
    )

def joint_binary(**attributes):
    """A cc_binary whose sources are compiled as one."""
    _joint(native.cc_binary, testonly = True, **attributes)

def joint_test(**attributes):
    """A cc_test whose sources are compiled as one."""
    _joint(native.cc_test, **attributes)
