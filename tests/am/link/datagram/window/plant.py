#!/usr/bin/env python3
"""Copies a source of the window to the standard output, with the errors of planted.h in it.

Fails when a place where one belongs is not there exactly once: the window has changed, and the error
has to be planted anew.
"""

import os
import sys

PLANTED = {
    'peer.cc': [
        ('header.incarnation != their_incarnation_',
         'header.incarnation != their_incarnation_ && !planted(Bug::kOldIncarnation)'),
        ('  return awaits() ? question_ns_',
         '  if (planted(Bug::kTimeoutNotRestarted) && backoff_ != 0) return kNever;\n'
         '  return awaits() ? question_ns_'),
        ('++questions_ > options_.most_questions',
         '++questions_ > options_.most_questions && !planted(Bug::kNeverDead)'),
        ('sender_.next() < allowed_ && has_room_for(sender_.next_new())',
         '(planted(Bug::kWindowIgnored) ||\n'
         '          (sender_.next() < allowed_ && has_room_for(sender_.next_new())))'),
    ],
    'halves.cc': [
        ('is_early(number)) return Arrival::kDuplicate;',
         'is_early(number)) {\n'
         '    return planted(Bug::kDuplicateDelivered) && may_deliver ? Arrival::kNext\n'
         '                                                            : Arrival::kDuplicate;\n'
         '  }'),
        ('!keep(number, datagram.payload)',
         '!planted(Bug::kEarlyForgotten) && !keep(number, datagram.payload)'),
        ('one.lost && !one.in_network',
         'one.lost && (!one.in_network || planted(Bug::kRepeatedInNetwork))'),
        ('for (std::uint64_t number = first_; number < ack; ++number)',
         'const std::uint64_t arrived =\n'
         '      planted(Bug::kAckOneTooMany) ? std::min(ack + 1, next_) : ack;\n'
         '  for (std::uint64_t number = first_; number < arrived; ++number)'),
        ('          ack + 1 + 64 * word + static_cast<unsigned>(__builtin_ctzll(bits));',
         '          ack + 1 + 64 * word + static_cast<unsigned>(__builtin_ctzll(bits)) +\n'
         '          (planted(Bug::kSelectiveShifted) ? 1 : 0);'),
    ],
}


def main():
    (source,) = sys.argv[1:]
    with open(source, encoding='utf-8') as file:
        text = file.read()
    for right, wrong in PLANTED[os.path.basename(source)]:
        if text.count(right) != 1:
            sys.exit(f'{source}: {text.count(right)} times instead of once: {right}')
        text = text.replace(right, wrong)
    print('#include "tests/am/link/datagram/window/planted.h"', text, sep='\n', end='')


main()
