"""What an installation takes out of the build: objects as one archive, link flags, and headers."""

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
    objects, flags = [], []
    for entry in everything.linking_context.linker_inputs.to_list():
        flags += [flag for flag in entry.user_link_flags if flag not in flags]
        if entry.owner.workspace_name == own:
            for library in entry.libraries:
                objects += library.pic_objects or []

    _, outputs = cc_common.create_linking_context_from_compilation_outputs(
        name = ctx.label.name,
        actions = ctx.actions,
        cc_toolchain = toolchain,
        compilation_outputs = cc_common.create_compilation_outputs(pic_objects = depset(objects)),
        disallow_dynamic_library = True,
        feature_configuration = features,
    )
    link_flags = ctx.actions.declare_file(ctx.label.name + ".link_flags")
    ctx.actions.write(link_flags, " ".join(flags))
    headers = [
        header
        for header in everything.compilation_context.headers.to_list()
        if header.owner.workspace_name == own
    ]
    return [OutputGroupInfo(
        archive = depset([outputs.library_to_link.pic_static_library]),
        headers = depset(headers),
        link_flags = depset([link_flags]),
    )]

whole_library = rule(
    doc = """All of `deps` that is this repository's as one library, with nothing left out.

    Output groups: `archive`, the static library, position-independent; `headers`, all of them;
    `link_flags`, a file with what a program needs on its command line beside the archive.
    """,
    implementation = _whole_library_impl,
    attrs = {
        "deps": attr.label_list(mandatory = True, providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
