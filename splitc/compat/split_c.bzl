"""Programs in the original Split-C."""

def split_c_binary(name, srcs, hdrs = [], deps = [], **kwargs):
    """A program whose sources splitc2cc translates; docs/porting.md says what it does.

    Args:
      name: of the program.
      srcs: sources in Split-C or C, .sc or .c.
      hdrs: the headers that they include in quotes, in the folder of the BUILD file.
      deps: libraries.
      **kwargs: as those of a cc_binary.
    """
    translated = []
    for src in srcs:
        output = "%s_%s.cc" % (name, src.rsplit(".", 1)[0])
        native.genrule(
            name = output.replace("/", "_").replace(".", "_"),
            testonly = kwargs.get("testonly", False),
            srcs = [src] + hdrs,
            outs = [output],
            cmd = "$(location {tool}) $(location {src}) > $@".format(
                src = src,
                tool = Label("//splitc/compat:splitc2cc"),
            ),
            tools = [Label("//splitc/compat:splitc2cc")],
            visibility = ["//visibility:private"],
        )
        translated.append(output)
    native.cc_binary(
        name = name,
        srcs = translated,
        # C converts pointers to void, and writes strings to char *, without a cast.
        copts = [
            "-fpermissive",
            "-w",
        ],
        deps = [Label("//splitc/compat:split-c")] + deps,
        **kwargs
    )
