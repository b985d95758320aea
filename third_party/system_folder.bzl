"""A folder of this machine as a repository: new_local_repository, which extensions of modules in newer
versions of Bazel cannot call, with a sentence for when the folder is missing.
"""

def _system_folder_impl(ctx):
    folder = ctx.path(ctx.attr.path)
    if not folder.exists:
        fail("no %s; install Debian's %s (third_party/install.sh)" %
             (ctx.attr.path, ctx.attr.package))
    for entry in folder.readdir():
        ctx.symlink(entry, entry.basename)
    ctx.file("BUILD", ctx.attr.build_file_content)

system_folder = repository_rule(
    implementation = _system_folder_impl,
    attrs = {
        "build_file_content": attr.string(mandatory = True),
        "package": attr.string(mandatory = True),  # Debian's
        "path": attr.string(mandatory = True),
    },
    local = True,
)
