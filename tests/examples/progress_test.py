#!/usr/bin/env python3
"""A program shows on a terminal how far it is, and leaves nothing of that there; others see nothing.

    progress_test.py [--others] SPLITCRUN PROGRAM ARGUMENTS

The program runs on a pseudo terminal, longer and longer until it has shown something: how fast this
machine is does not matter. {n} in the arguments becomes a number, {cube_root} one that grows as its
cube root does; {graph}, {star} and {image} are files of which the size is proportional to it. With
--others it also runs where nothing is to be shown.
"""

import fcntl
import os
import pty
import random
import re
import struct
import subprocess
import sys
import tempfile
import termios

LONGEST = 1 << 24
BAR = re.compile(r'\[(#*)(\.*)\] +(\d+) %, about \d+:[0-5]\d left *')


def on_terminal(command, columns=80):
    """What the command writes to a terminal of its own, which is its standard error and output."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        os.execvp(command[0], command)
    written = b''
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # EIO: all who had it open have ended
            break
        if not piece:
            break
        written += piece
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 0, f'{command}: exit code {status}: {written.decode()}'
    return written.decode()


def screen(written):
    """The lines that are left on a terminal; a carriage return goes back to the first column."""
    lines = []
    for line in written.replace('\r\n', '\n').split('\n'):
        shown = []
        for part in line.split('\r'):
            shown[:len(part)] = part
        lines.append(''.join(shown).rstrip())
    return [line for line in lines if line]


def kinds(lines):
    """Lines without their numbers, which differ between runs."""
    return [re.sub(r'[0-9][-+.e0-9a-f]*', '0', ' '.join(line.split())) for line in lines]


def make_file(kind, n, program, path):
    if kind == 'image':
        subprocess.run([program, '--make', 'noise', str(int(100 * n ** 0.5)), path], check=True)
        return
    draw = random.Random(1)
    with open(path, 'w', encoding='ascii') as file:
        for i in range(10 * n):
            file.write(f'{draw.randrange(10 * n)} {draw.randrange(10 * n)}\n' if kind == 'graph' else
                       f'centre {i}\n{i} centre\n')


def arguments_for(text, n, program, folder):
    names = {'n': n, 'cube_root': int(10 * n ** (1 / 3)) + 1}
    for kind in ('graph', 'star', 'image'):
        names[kind] = os.path.join(folder, kind)
        if '{' + kind + '}' in text:
            make_file(kind, n, program, names[kind])
    return [word.format(**names) for word in text.split()]


def bars(written):
    """What was drawn, line by line."""
    return [part for part in re.split('[\r\n]', written) if part.startswith('[')]


def check_bars(drawn):
    before = 0
    for bar in drawn:
        parts = BAR.fullmatch(bar)
        assert parts, f'drawn was {bar!r}'
        done, rest, percent = parts.groups()
        assert len(done + rest) == 30 and abs(len(done) - 0.3 * int(percent)) <= 1, bar
        assert before <= int(percent) < 100, f'{before} % and then {bar}'
        before = int(percent)


def check_pipes(command, shown):
    piped = subprocess.run(command, capture_output=True, text=True, check=True)
    assert piped.stderr == '', f'standard error in a pipe: {piped.stderr!r}'
    assert kinds(shown) == kinds(screen(piped.stdout)), f'{shown}\nis not\n{piped.stdout}'


def check_others(command, folder):
    labelled = on_terminal([command[0], '--label', *command[1:]])
    assert all(line.startswith('[0] ') for line in screen(labelled)), f'with --label: {labelled!r}'
    assert '%, about' not in labelled, f'with --label: {labelled!r}'

    path = os.path.join(folder, 'error')
    written = on_terminal(['sh', '-c', 'exec "$@" 2>"$0"', path, *command])
    assert not bars(written), f'standard error in a file: {written!r}'
    assert os.path.getsize(path) == 0, 'something is in the file'

    background = on_terminal(['bash', '-c', 'set -m; "$@" & wait $!', 'bash', *command])
    assert '%, about' not in background, f'in the background: {background!r}'


def main():
    words = sys.argv[1:]
    others = words[0] == '--others'
    splitcrun, program, text = words[1:] if others else words
    with tempfile.TemporaryDirectory() as folder:
        def drawn_in(columns, n):
            """What is drawn, by a run as long as it takes, and of what length that was."""
            while n <= LONGEST:
                written = on_terminal(command_for(n), columns)
                if drawn := bars(written):
                    return drawn, written, n
                n *= 4
            raise AssertionError(f'nothing was ever drawn in {columns} columns')

        def command_for(n):
            return [splitcrun, '-n', '2', '--nodes', '2', program,
                    *arguments_for(text, n, program, folder)]

        drawn, written, n = drawn_in(80, 4)
        command = command_for(n)
        print(f'n {n}: drawn {len(drawn)} times, at last {drawn[-1]}')
        check_bars(drawn)
        shown = screen(written)
        assert not any('%, about' in line for line in shown), f'left behind: {shown}'
        check_pipes(command, shown)
        if others:
            check_others(command_for(2 * n), folder)  # so long that it would be drawn
            narrow, _, _ = drawn_in(20, n)
            assert all(len(bar) <= 19 for bar in narrow), f'too wide for 20 columns: {narrow}'


main()
