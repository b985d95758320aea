"""Heat in a square plate by Jacobi's method: each process has some rows, and after each step the first
and the last of them go to its neighbours, by put channels or by MPI.

    splitcrun -n 4 python3 examples/from_python/jacobi.py [ROWS [STEPS]]
    mpirun -n 4 python3 examples/from_python/jacobi.py --mpi [ROWS [STEPS]]

Both print the same sum and how long a step took, the exchange included.
"""

import sys
import time

import numpy


class ByChannels:
    """Rows of both neighbours arrive in the plate itself. Grid k % 2 is read in step k, so what a
    neighbour puts there comes two steps later, when it has heard of the step between."""

    def __init__(self, rows, width):
        self.rank, self.size = splitphase.my_proc(), splitphase.procs()
        self.grids = splitphase.buffer((2, rows + 2, width), 'f8')
        above, below = self.rank - 1, self.rank + 1
        self.inboxes = [{proc: splitphase.receive_channel(grid[ghost])
                         for proc, ghost in ((above, 0), (below, -1)) if 0 <= proc < self.size}
                        for grid in self.grids]
        handles = splitphase.all_gather_object(
            [{proc: inbox.handle for proc, inbox in inboxes.items()} for inboxes in self.inboxes])
        self.outboxes = [[splitphase.send_channel(handles[proc][parity][self.rank], grid[edge])
                          for proc, edge in ((above, 1), (below, -2)) if 0 <= proc < self.size]
                         for parity, grid in enumerate(self.grids)]

    def exchange(self, parity):
        for outbox in self.outboxes[parity]:
            outbox.put()
        for inbox in self.inboxes[parity].values():
            inbox.wait()

    def has_read(self, parity):
        for inbox in self.inboxes[parity].values():
            inbox.ready()
        for outbox in self.outboxes[parity]:
            outbox.wait_reusable()

    def sum(self, value):
        return splitphase.all_reduce(value)


class ByMpi:
    def __init__(self, rows, width):
        self.comm = MPI.COMM_WORLD
        self.rank, self.size = self.comm.rank, self.comm.size
        self.grids = numpy.zeros((2, rows + 2, width))
        self.above = self.rank - 1 if self.rank > 0 else MPI.PROC_NULL
        self.below = self.rank + 1 if self.rank + 1 < self.size else MPI.PROC_NULL

    def exchange(self, parity):
        grid = self.grids[parity]
        self.comm.Sendrecv(grid[1], self.above, recvbuf=grid[-1], source=self.below)
        self.comm.Sendrecv(grid[-2], self.below, recvbuf=grid[0], source=self.above)

    def has_read(self, parity):
        pass

    def sum(self, value):
        return self.comm.allreduce(value)


def solve(communication, width, steps):
    rank, size = (splitphase.my_proc(), splitphase.procs()) if communication is ByChannels else (
        MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size)
    rows = width * (rank + 1) // size - width * rank // size
    plate = communication(rows, width)
    if rank == 0:
        plate.grids[:, 0] = 1  # the hot side
    plate.sum(0)  # all are here
    begin = time.perf_counter()
    for step in range(steps):
        old, new = plate.grids[step % 2], plate.grids[(step + 1) % 2]
        plate.exchange(step % 2)
        inside = new[1:-1, 1:-1]
        numpy.add(old[:-2, 1:-1], old[2:, 1:-1], out=inside)
        inside += old[1:-1, :-2]
        inside += old[1:-1, 2:]
        inside *= 0.25
        plate.has_read(step % 2)
    heat = plate.sum(float(plate.grids[steps % 2][1:-1].sum()))
    seconds = time.perf_counter() - begin
    if rank == 0:
        print(f'heat {heat:.6f}, {1e6 * seconds / steps:.1f} us a step')


arguments = [argument for argument in sys.argv[1:] if argument != '--mpi']
WIDTH, STEPS = [int(argument) for argument in arguments] + [400, 500][len(arguments):]
if '--mpi' in sys.argv:
    from mpi4py import MPI
    solve(ByMpi, WIDTH, STEPS)
else:
    import splitphase
    splitphase.run(solve, ByChannels, WIDTH, STEPS)
