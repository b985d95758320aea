"""The headers of libraries, without building these."""

def _headers_of_impl(ctx):
    headers = [
        header
        for dep in ctx.attr.deps
        for header in dep[CcInfo].compilation_context.headers.to_list()
        if header.extension == "h" and not header.short_path.startswith("..")
    ]
    return [DefaultInfo(runfiles = ctx.runfiles(files = headers))]

headers_of = rule(
    implementation = _headers_of_impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)
