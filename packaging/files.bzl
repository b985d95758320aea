"""What an installation takes out of the build: headers, objects as one library, and link flags."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _whole_library_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    everything = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    own = ctx.label.workspace_name

    # Other repositories are Debian's packages: their libraries are named by flags.
    objects, pic_objects, flags = [], [], []
    for entry in everything.linking_context.linker_inputs.to_list():
        flags += [flag for flag in entry.user_link_flags if flag not in flags]
        if entry.owner.workspace_name == own:
            for library in entry.libraries:
                objects += library.objects or []
                pic_objects += library.pic_objects or []

    _, outputs = cc_common.create_linking_context_from_compilation_outputs(
        name = ctx.label.name,
        actions = ctx.actions,
        cc_toolchain = toolchain,
        compilation_outputs = cc_common.create_compilation_outputs(
            objects = depset(objects),
            pic_objects = depset(pic_objects),
        ),
        disallow_dynamic_library = True,
        feature_configuration = features,
    )
    archives = outputs.library_to_link

    # alwayslink: a shared library that is linked with it holds all of it.
    library = cc_common.create_library_to_link(
        actions = ctx.actions,
        alwayslink = True,
        cc_toolchain = toolchain,
        feature_configuration = features,
        pic_static_library = archives.pic_static_library,
        static_library = archives.static_library,
    )
    linker_input = cc_common.create_linker_input(
        owner = ctx.label,
        libraries = depset([library]),
        user_link_flags = depset(flags),
    )

    link_flags = ctx.actions.declare_file(ctx.label.name + ".link_flags")
    ctx.actions.write(link_flags, " ".join(flags))
    headers = [
        header
        for header in everything.compilation_context.headers.to_list()
        if header.owner.workspace_name == own
    ]

    # Where all code is position-independent, as it is but with -c opt, there is no other archive.
    archive = archives.static_library or archives.pic_static_library
    return [
        CcInfo(linking_context = cc_common.create_linking_context(
            linker_inputs = depset([linker_input]),
        )),
        OutputGroupInfo(
            archive = depset([archive]),
            headers = depset(headers),
            link_flags = depset([link_flags]),
        ),
    ]

whole_library = rule(
    doc = """All of `deps` that is this repository's as one library, with nothing left out.

    Output groups: `archive`, the static library; `headers`, all of them; `link_flags`, a file with
    what a program needs on its command line beside the archive.
    """,
    implementation = _whole_library_impl,
    attrs = {
        "deps": attr.label_list(mandatory = True, providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
