#!/bin/sh
# Runs a command without address space randomization where the kernel permits that.
# ThreadSanitizer refuses to start where vm.mmap_rnd_bits is above 28, as newer kernels have it.
if setarch -R true 2>/dev/null; then
  exec setarch -R "$@"
fi
exec "$@"
