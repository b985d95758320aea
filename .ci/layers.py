#!/usr/bin/env python3
"""Whether each target names, in its `deps`, the targets of the headers that its sources include.

Prints those that do not, and how many targets it looked at. clang finds the same while it compiles
(layering_check, .bazelrc); this takes seconds, for all targets.
"""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
SOURCES = ('srcs', 'hdrs', 'textual_hdrs')


def path(label):
    """Where the file of a label of this repository is; a generated one has no text here."""
    return label.removeprefix('//').replace(':', '/').lstrip('/')


def labels(rule, names):
    return [label.get('value') for name in names
            for items in rule.iterfind(f"list[@name='{name}']") for label in items.iterfind('label')]


def included_by(source):
    try:
        with open(source, encoding='utf-8') as file:
            return INCLUDE.findall(file.read())
    except FileNotFoundError:
        return []


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    query = subprocess.run(['bazel', 'query', '--output=xml', 'kind("cc_.* rule", //...)'],
                           stdout=subprocess.PIPE, check=True)
    rules = {rule.get('name'): rule
             for rule in xml.etree.ElementTree.fromstring(query.stdout).iterfind('rule')}
    exported = {name: {path(label) for label in labels(rule, ('hdrs', 'textual_hdrs'))}
                for name, rule in rules.items()}
    owner = {path(label): name for name, rule in rules.items() for label in labels(rule, SOURCES)}

    wrong = set()
    for name, rule in rules.items():
        sources = {path(label) for label in labels(rule, SOURCES)}
        reachable = set(sources)
        for dependency in labels(rule, ('deps',)):
            reachable |= exported.get(dependency, set())
        for source in sources:
            for header in included_by(source):
                if header in owner and header not in reachable:
                    wrong.add(f'{source}: {name} includes {header}, of {owner[header]}, without a'
                              ' dependency that exports it')
    print(*sorted(wrong), sep='\n', end='\n' if wrong else '')
    print(f'{len(rules)} targets, {len(wrong)} includes without a dependency')
    return 1 if wrong or not rules else 0


sys.exit(main())
