#!/bin/sh
# Runs a command that sees nothing in /proc/kallsyms, where the kernel permits that: see .bazelrc. In a
# sandbox it is hidden already, and nothing more may be.
if unshare --mount mount --bind /dev/null /proc/kallsyms 2>/dev/null; then
  exec unshare --mount sh -c 'mount --bind /dev/null /proc/kallsyms && exec "$@"' sh "$@"
fi
exec "$@"
