#!/usr/bin/env python3
"""Doxygen's input filter: prints a header with its plain comments as Doxygen's.

A comment before a declaration documents it, one behind a declaration as well; one that stands by
itself, before an empty line, is about the file, or in a class about the members that follow. Lines
that are indented by two or more blanks, or have as many between words, are printed as they are.
Comments inside functions, and those in a namespace `detail`, stay out.
"""
import re
import sys

SCOPE = re.compile(r'(^|[\s>)])(namespace|class|struct|union|enum|extern "C")(\s|$)')


def escape(text):
    """Plain words, with nothing that Doxygen takes for a command, a tag or a link."""
    text = re.sub(r'[\\@<>&#$%"]', lambda found: '\\' + found[0], text).replace('::', '\\::')
    return re.sub(r'`([^`]*)`', r'<tt>\1</tt>', text)


def block(lines, indent, head=''):
    """A comment, given as the text behind each `//`."""
    out, verbatim = ([f'{indent}/// {head}'] if head else []), False
    for line in lines:
        is_quoted = re.search(r'(^|\S) {2,}\S', line) is not None
        if is_quoted != verbatim and (line.strip() or not is_quoted):
            if is_quoted or line.strip():
                out.append(f'{indent}/// ' + ('@code{.unparsed}' if is_quoted else '@endcode'))
                verbatim = is_quoted
        out.append(f'{indent}/// {line}'.rstrip() if verbatim else
                   f'{indent}/// {escape(line.strip())}'.rstrip())
    if verbatim:
        out.append(f'{indent}/// @endcode')
    return out


class Filter:
    def __init__(self, lines):
        self.lines = lines
        self.scopes = []  # of each open brace: what it belongs to
        self.pending = ''  # the declaration that has begun
        self.group = None  # the class scope whose members are in a group
        self.out = []

    def documents(self):
        return not any(kind in ('body', 'detail') for kind in self.scopes)

    def in_class(self):
        return bool(self.scopes) and self.scopes[-1] == 'class'

    def end_group(self):
        if self.group is not None:
            self.out.append('/// @}')
            self.group = None

    def comment(self, texts, indent, following):
        if not self.documents():
            return
        heading = re.match(r' --- (.*)$', texts[0])
        if self.in_class() and heading:
            self.end_group()
            title = re.match(r'.*?(?=[.:]( |$)|$)', heading[1])[0]
            rest = heading[1][len(title):].lstrip('.: ')
            texts = ([' ' + rest] if rest else []) + texts[1:]
            self.out.append(f'{indent}/// @name {escape(title.replace("`", ""))}')
            self.out += block(texts, indent)
            self.out.append(f'{indent}/// @{{')
            self.group = len(self.scopes)
        elif following.strip() and not following.startswith('#'):
            self.out += block(texts, indent)
        elif not self.in_class():
            self.out += block(texts, indent, '@file') + ['']

    def code(self, line):
        code, note = line, ''
        found = re.match(r'(.*[;,{})\w])\s+// (.*)$', line)
        if found:
            code, note = found[1], found[2]
        documented = self.documents() and re.search(r'[;,}\w)]$', code)
        before = len(self.scopes)
        if self.group == before and re.match(r'\s*(private:|\})', code):
            self.end_group()
        self.braces(code)
        declared = re.match(r'\s*(class|struct) \w+;$', code)  # it is documented elsewhere
        if note and documented and not declared and len(self.scopes) == before:
            code += f'  ///< {escape(note)}'
        self.out.append(code)

    def braces(self, code):
        if not re.match(r'\s*(template <.*>|requires.*[^{]|(public|private|protected):)$', code):
            self.pending += ' ' + code
        for char in re.sub(r"'.'|\"[^\"]*\"", lambda quote: quote[0] if 'C' in quote[0] else '', code):
            if char == '{':
                self.scopes.append(self.kind())
                self.pending = ''
            elif char == '}':
                if self.scopes:
                    self.scopes.pop()
                self.pending = ''
            elif char == ';':
                self.pending = ''
        if self.in_class() and code.endswith(','):  # an enumerator
            self.pending = ''

    def kind(self):
        found = SCOPE.search(self.pending)
        if not found or any(kind == 'body' for kind in self.scopes):
            return 'body'
        if found[2] == 'namespace':
            return 'detail' if re.search(r'detail\b', self.pending) else 'namespace'
        return 'namespace' if found[2].startswith('extern') else 'class'

    def run(self):
        i = 0
        while i < len(self.lines):
            line = self.lines[i]
            found = re.match(r'(\s*)//(.*)$', line)
            if found and not self.pending.strip():
                end = i
                while end < len(self.lines) and re.match(r'\s*//', self.lines[end]):
                    end += 1
                texts = [re.match(r'\s*//(.*)$', text)[1] for text in self.lines[i:end]]
                self.comment(texts, found[1], self.lines[end] if end < len(self.lines) else '')
                i = end
                continue
            if line.startswith('#'):  # a macro is one line
                while line.endswith('\\') and i + 1 < len(self.lines):
                    self.out.append(line)
                    i += 1
                    line = self.lines[i]
                self.out.append(line)
            elif not found:
                self.code(line)
            i += 1
        return self.out


with open(sys.argv[1], encoding='utf-8') as header:
    print('\n'.join(Filter(header.read().split('\n')).run()))
