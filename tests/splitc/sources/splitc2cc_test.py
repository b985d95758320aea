#!/usr/bin/env python3
"""splitc2cc: what becomes of each construct, and what does not change."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

SPLITC2CC = os.path.abspath(sys.argv.pop(1))
START = re.compile(r'#include <split-c/split-c\.h>\n#line 1 "[^"]*"\n')


class Splitc2cc(unittest.TestCase):
    def run_on(self, source, headers=(), options=()):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in [*headers, ('a.sc', source)]:
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                with open(os.path.join(folder, name), 'w', encoding='latin-1') as file:
                    file.write(text)
            return subprocess.run([SPLITC2CC, *options, 'a.sc'], cwd=folder, capture_output=True,
                                  encoding='latin-1', check=False)

    def translate(self, source, **more):
        """Without the marks of variables outside functions, which test_variables_are_marked is about."""
        return self.translate_marked(source, **more).replace('SPLITC_GLOBAL ', '')

    def translate_marked(self, source, **more):
        done = self.run_on(source, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertRegex(done.stdout, START)
        return START.sub('', done.stdout, count=1)

    def expect(self, source, expected):
        """Equal but for blanks in a line, and with names of splitc::compat written without it."""
        made = self.translate(source).replace('splitc::compat::', '')

        def squeeze(text):
            return re.sub(r'(?<=\W) | (?=\W)', '', re.sub(r'[ \t]+', ' ', text)).strip()

        self.assertEqual(squeeze(made), squeeze(expected))
        self.assertEqual(made.count('\n'), source.count('\n'))

    def expect_same(self, source):
        self.assertEqual(self.translate(source), source)

    def expect_refused(self, source, where, words):
        done = self.run_on(source)
        self.assertEqual((done.returncode, done.stdout), (1, ''))
        self.assertRegex(done.stderr, rf'^a\.sc:{where}: [^\n]*{re.escape(words)}[^\n]*$')

    def test_plain_c_stays_as_it_is(self):
        self.expect_same('''#include <stdio.h>
static unsigned long a[3][4] = {{1}, {2, 3}}, *b, (*f)(int, char *);
struct s { int x : 3, y; struct s *next; };
void g(struct s *p, int n, char *v[]) { p->x = p->next->y ? n : -n; a[n * 2][1] *= 2; }
#define MAX(a, b) ((a) > (b) ? \\
  (a) : (b))
#if defined(X) && !defined(Y)
label: switch (c) { case 'a': default: ; }
#endif
''')

    def test_strings_and_comments_are_left_alone(self):
        self.expect_same('''/* int *global p; x := *p; A[n]:: */ char *s = "x := *p :- A[3]::[2] \\" *spread";
// T *global q :- new
int c = ':', d = '"', e = '\\''; /* free(
malloc( */
''')

    def test_global_and_spread_pointers(self):
        self.expect('int *global p;', 'global<int> p;')
        self.expect('static struct node *spread *q = NULL;', 'static spread<struct node> *q = NULL;')
        self.expect('int *global *spread *global p;', 'global<spread<global<int>>> p;')
        self.expect('int **global p;', 'global<int *> p;')
        self.expect('const unsigned char *global p;', 'global<const unsigned char> p;')
        self.expect('int *const *global p;', 'global<int * const> p;')
        self.expect('int *global table[4][2];', 'global<int> table[4][2];')
        self.expect('unsigned int\n  *global /* far */ p;', 'global<unsigned int> /* far */ p\n;')

    def test_variables_are_marked(self):
        """Those outside functions that a program changes: others reach them by global pointers."""
        for source in ('int x;', 'static double a[10], b = 3.5;', '/* x */ char *s = "a;b";', 'node_t *head = 0;',
                       'struct node one = { 1, 2 };', 'int t[2][2] = {{1, 2}, {3, 4}};', 'volatile int flag;',
                       'unsigned long n = (1 << 3);', 'const char *text = "abc";', 'enum color hue = red;'):
            self.assertEqual(self.translate_marked(source), re.sub(r'(/\* x \*/ |^)', r'\1SPLITC_GLOBAL ', source, count=1))
        self.assertEqual(self.translate_marked('int f(void) { return 1; } int x;').count('SPLITC_GLOBAL int x'), 1)
        self.assertEqual(self.translate_marked('int *global p, x = 3;'),
                         'SPLITC_GLOBAL global<int> p; SPLITC_GLOBAL int x = 3;')
        for source in ('int f(int);', 'int *f(void);', 'int (*f)(int);', 'extern int x;', 'typedef int number;',
                       'const int n = 5;', 'const char s[] = "a";', 'char *const s = 0;', 'struct node;',
                       'struct pair { int a; } both;', 'enum color { red, green };', 'int A[n]::;', 'extern int *global p, q;',
                       'int f(int x) { static int y; int z = x; return z; }'):
            self.assertNotIn('SPLITC_GLOBAL', self.translate_marked(source), source)

    def test_declarators_of_one_line_are_declared_apart(self):
        self.expect('int *global p, *q, r = 3, *global *s[2];',
                    'global<int> p; int *q; int r = 3; global<int> *s[2];')
        self.expect('extern int a, *spread b;', 'extern int a; extern spread<int> b;')
        self.expect('int *global p = f(1, 2), b[2] = {1, 2};', 'global<int> p = f(1, 2); int b[2] = {1, 2};')

    def test_functions(self):
        self.expect('int *global find(int *global from, int k, T *spread *to);',
                    'global<int> find(global<int> from, int k, spread<T> *to);')
        self.expect('void f(int *global, void (*g)(int *spread), int (*h)[4]) { }',
                    'void f(global<int>, void (*g)(spread<int>), rows<int> h) { h.set_dims(4); }')
        self.expect('typedef int *global (*walk)(int *global);', 'typedef global<int> (*walk)(global<int>);')

    def test_structs_and_typedefs(self):
        self.expect('typedef struct n { int *global p, k; struct n *global next; } n_t;',
                    'typedef struct n { global<int> p; int k; global<struct n> next; } n_t;')
        self.expect('typedef n_t *global far, *near;', 'typedef global<n_t> far; typedef n_t *near;')
        self.expect('struct n { int v; } *global head, *tail;',
                    'struct n { int v; };global<struct n> head; struct n *tail;')
        self.expect('typedef struct n { int v; } *global far;', 'typedef struct n { int v; };typedef global<struct n> far;')

    def test_casts(self):
        self.expect('x = *((int *global)(A + i) + k) + ((int *)(A + MYPROC))[k];',
                    'x = *((global<int>)(A + i) + k) + ((int *)(A + MYPROC))[k];')
        self.expect('n = sizeof(int *global) * sizeof (T *spread *);', 'n = sizeof(global<int>) * sizeof (spread<T> *);')
        self.expect('for (p = (int *global) A, i = 0; i < n; i++) f((void *global)p);',
                    'for (p = (global<int>) A, i = 0; i < n; i++) f((global<void>)p);')

    def test_spread_arrays(self):
        self.expect('int A[n + k[1]]::;', 'spread_blocks<int, 1, 0> A([] { return dims(n + k[1]); });')
        self.expect('static T A[PROCS]::[b], *c;', 'static spread_blocks<T, 1, 1> A([] { return dims(PROCS, b); }); static T *c;')
        self.expect('{ double X[v][w] :: [q][r + 1]; }',
                    '{ spread_blocks<double, 2, 2> X([&] { return dims(v, w, q, r + 1); }); }')
        self.expect('extern int A[n]::[b];', 'extern spread_blocks<int, 1, 1> A;')
        self.expect('int *A[n]::;', 'spread_blocks<int *, 1, 0> A([] { return dims(n); });')
        self.expect('int *global A[n]::;', 'spread_blocks<global<int>, 1, 0> A([] { return dims(n); });')

    def test_spread_arrays_as_parameters(self):
        self.expect('int f(int A[]::, int n, T X[v][w]::[q][n]) { return n; }',
                    'int f(blocks<int, 1, 0> A, int n, blocks<T, 2, 2> X) '
                    '{ A.set_dims(dims(0)); X.set_dims(dims(v, w, q, n)); return n; return 0; }')
        self.expect('void f(int A[n]::[b]);', 'void f(blocks<int, 1, 1> A);')

    def test_pointers_to_rows(self):
        self.expect('{ int (*p)[r], i, (*q)[s] = x; }', '{ rows<int> p = rows<int>(r); int i; rows<int> q = rows<int>(s) = x; }')
        self.expect('{ int (*spread X)[q][r]; }', '{ blocks<int, 1, 2> X = blocks<int, 1, 2>(dims(0, q, r)); }')
        self.expect('void f(int n, T a[n], T b[n][n + 1]) { }', 'void f(int n, T *a, rows<T> b) { b.set_dims(n + 1); }')
        self.expect('a = (*p)[3] + f(n * b[2], (int (*)[r])c);', 'a = (*p)[3] + f(n * b[2], (rows<int>)c);')

    def test_split_phase_assignments(self):
        self.expect('x := *p; *p := x; *p :- x;', 'x %= split_phase %= *p; *p %= split_phase %= x; *p %= one_way %= x;')
        self.expect('lab: x := *p;', 'lab: x %= split_phase %= *p;')
        self.expect('case 3: *p :- x; default: x := *p;', 'case 3: *p %= one_way %= x; default: x %= split_phase %= *p;')
        self.expect('c ? (x := *p) : (y := *q);', 'c ? (x %= split_phase %= *p) : (y %= split_phase %= *q);')
        self.expect('#define GET(x, p) do { x := *(p); } while (0)\n', '#define GET(x, p) do { x %= split_phase %= *(p); } while (0)\n')

    def test_minus_behind_a_colon_is_no_store(self):
        self.expect('x = c ? a :-b; case N:-x; default:-y;', 'x = c ? a : -b; case N: -x; default: -y;')
        self.expect('*p :- c ? a :-b;', '*p %= one_way %= c ? a : -b;')
        self.expect('f(c ? 1 : 2), *p :- 3;', 'f(c ? 1 : 2), *p %= one_way %= 3;')

    def test_fields_of_global_names(self):
        start = 'struct s *global g, *global *v; struct s L[n]::; struct s *l; '
        there = 'global<struct s> g; global<struct s> *v; spread_blocks<struct s, 1, 0> L([] { return dims(n); }); struct s *l; '
        self.expect(start + 'g->a = l->a + l->b.c;', there + 'SPLITC_FIELD(g, a) = l->a + l->b.c;')
        self.expect(start + 'x = g->next->a[i].b;', there + 'x = SPLITC_MEMBER(SPLITC_FIELD(SPLITC_FIELD(g, next), a)[i], b);')
        self.expect(start + '(*g).a := L[i + 1].b;', there + 'SPLITC_MEMBER((*g), a) %= split_phase %= SPLITC_MEMBER(L[i + 1], b);')
        self.expect(start + '((T *global)(L + 1))->a = (L + n)->b; (l + n)->a = 1;',
                    there + 'SPLITC_FIELD(((global<T>)(L + 1)), a) = SPLITC_FIELD((L + n), b); (l + n)->a = 1;')
        self.expect(start + 'l->v[k]->a++;', there + 'SPLITC_FIELD(l->v[k], a)++;')
        self.expect(start + 'struct t { int g; }; ll.x = 1.5;', there + 'struct t { int g; }; ll.x = 1.5;')
        self.expect('typedef struct s *global far; far f(int i) { return 0; } int k = f(3)->x;',
                    'typedef global<struct s> far; far f(int i) { return 0; } int k = SPLITC_FIELD(f(3), x);')

    def test_fields_of_what_a_macro_is_given(self):
        self.expect('#define LINK(p, q) (p)->next = (q)->of.f, r->x\n#define GET(s, f) s.f\n',
                    '#define LINK(p, q) SPLITC_FIELD((p), next) = SPLITC_MEMBER(SPLITC_FIELD((q), of), f), r->x\n'
                    '#define GET(s, f) SPLITC_MEMBER(s, f)\n')

    def test_all_names_of_a_declaration_are_known(self):
        start, there = 'typedef T *global far; far p = f(1, 2), q[2], *r;', 'typedef global<T> far; far p = f(1, 2), q[2], *r;'
        self.expect(start + ' p->a = q[1]->b; r[0]->c = 1;',
                    there + ' SPLITC_FIELD(p, a) = SPLITC_FIELD(q[1], b); SPLITC_FIELD(r[0], c) = 1;')

    def test_names_of_headers_are_known(self):
        made = self.translate('#include "b.h"\n#include "none.h"\nint x = g->a;\n', headers=[('b.h', 'extern T *global g;\n')])
        self.assertEqual(made, '''#line 1 "b.h"
extern global<T> g;

#line 2 "a.sc"
#include "none.h"
int x = SPLITC_FIELD(g, a);
''')

    def test_headers_of_other_folders(self):
        headers = [('inc/b.h', '#include "sub/c.h"\n'), ('inc/sub/c.h', 'int *global q;\n')]
        made = self.translate('#include "b.h"\n', headers=headers, options=['-Iinc'])
        self.assertIn('#line 1 "inc/sub/c.h"\nglobal<int> q;\n', made)
        self.assertTrue(made.endswith('#line 2 "a.sc"\n'))

    def test_sizeof(self):
        start = 'struct s *global g; int A[n]::[b]; '
        there = 'global<struct s> g; spread_blocks<int, 1, 1> A([] { return dims(n, b); }); '
        self.expect(start + 'x = sizeof(*g) * n; x = sizeof *g + 1; x = sizeof g->next->v / sizeof(A[0]);',
                    there + 'x = SPLITC_SIZE_OF(*g) * n; x = SPLITC_SIZE_OF(*g) + 1; '
                    'x = SPLITC_SIZE_OF(SPLITC_FIELD(SPLITC_FIELD(g, next), v)) / SPLITC_SIZE_OF(A[0]);')
        self.expect('x = sizeof(*(int *global)q) + sizeof *(T *global)q;',
                    'x = SPLITC_SIZE_OF(*(global<int>)q) + SPLITC_SIZE_OF(*(global<T>)q);')
        self.expect('T *global s; x = sizeof(struct s) + sizeof(s *) + sizeof(T *global);',
                    'global<T> s; x = sizeof(struct s) + sizeof(s *) + sizeof(global<T>);')
        self.expect('typedef T *global far; int f(far q, t_t *r) { return sizeof(t_t); }',
                    'typedef global<T> far; int f(far q, t_t *r) { return sizeof(t_t); return 0; }')
        self.expect_same('x = sizeof(int) * n + sizeof a[0] / sizeof(*q->p) + sizeof(T) + sizeof "s" + sizeof(((T *)p)->v);\n')

    def test_sizeof_in_macros(self):
        self.expect('int *global g;\n#define N sizeof(*g)\n#define NEW(T) malloc(sizeof(T))\n#define AT(p) sizeof *(p)\n',
                    'global<int> g;\n#define N SPLITC_SIZE_OF(*g)\n#define NEW(T) c_malloc(SPLITC_SIZE_OF_ANY(T))\n'
                    '#define AT(p) SPLITC_SIZE_OF_ANY(*(p))\n')
        self.expect_same('#define N (sizeof(struct node) / sizeof(int))\n')

    def test_sizeof_a_row(self):
        start, there = '{ int (*p)[n], *global *p2; ', '{ rows<int> p = rows<int>(n); global<int> *p2; '
        self.expect(start + 'x = sizeof(*p) + sizeof p[i] + sizeof(p[i][j]) + sizeof((*p)[1]) + sizeof(**p) + sizeof(p); }',
                    there + 'x = SPLITC_SIZE_OF_ROW(p) + SPLITC_SIZE_OF_ROW(p) + sizeof(p[i][j]) + sizeof((*p)[1]) + '
                    'sizeof(**p) + sizeof(p); }')

    def test_splitc_main(self):
        self.expect('splitc_main(int argc, char **argv)\n{ }', 'int splitc_main(int argc, char **argv)\n{ return 0; }')
        self.expect('void splitc_main()\n{ }', 'void splitc_main()\n{ }')

    def test_functions_may_end_without_a_value(self):
        self.expect('static int f() { if (a) { return 1; } }', 'static int f() { if (a) { return 1; } return 0; }')
        self.expect('f(void) { } char *g() { }', 'f(void) { return 0; } char *g() { return 0; }')
        self.expect_same('void f() { } struct s g() { return x; } int a[] = {f(1)};\nint (*t[])(int) = {f};\n')

    def test_inline_functions_are_there_for_other_files(self):
        self.expect('inline void f() { } static inline g() { }', 'void f() { } static g() { return 0; }')
        self.expect_same('extern inline void f() { }\n')

    def test_words_of_cxx(self):
        self.expect('int new, class = p->this; f(delete);', 'int new_, class_ = p->this_; f(delete_);')
        self.expect('#define true 1\n#define T template\n', '#define true_ 1\n#define T template_\n')
        self.expect('register int *global a, b; register c;', 'register global<int> a; register int b; register c;')

    def test_memory_and_atomics(self):
        self.expect('p = malloc(n); free (p); q->free(p); q.free = f;', 'p = c_malloc(n); c_free (p); q->free(p); q.free = f;')
        self.expect('n = atomic(push, q, 3); atomic(&pop, q);', 'n = atomic<&push>(q, 3); atomic<&pop>(q);')

    def test_functions_of_memory_as_values(self):
        self.expect('f(p, free); void (*g)(void *) = &free; x = c ? malloc : calloc;',
                    'f(p, c_free); void (*g)(void *) = &c_free; x = c ? c_malloc : c_calloc;')
        self.expect('struct ops o = {malloc, free}; f(void) { return free; }\n#define done free\n',
                    'struct ops o = {c_malloc, c_free}; f(void) { return c_free; return 0; }\n#define done c_free\n')
        for variable in ['int free;', 'int used, free;', 'int *free = x;', 'void f(int free, int n);',
                         'void f(void (*free)(void *));', 'struct s { int n; int free; };']:
            self.expect(variable + ' g(free, n); n = free; free(p);', variable + ' g(free, n); n = free; c_free(p);')
        self.expect('goto free; free: x = 1;', 'goto free; free: x = 1;')

    def test_strings_may_go_over_lines(self):
        self.expect('f("a\nb", "c\\\nd");\n', 'f("a\\n"\n"b", "c\\\nd");\n')

    def test_a_source_that_is_missing(self):
        done = subprocess.run([SPLITC2CC, 'none.sc'], capture_output=True, encoding='latin-1', check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ''))
        self.assertRegex(done.stderr, r'^splitc2cc: there is no source none\.sc; [^\n]*\n$')

    def test_what_it_cannot_translate_is_refused(self):
        self.expect_refused('int x;\nf(a, b)\n  int a;\n  char *b;\n{ }\n', 2, 'write the types of parameters inside')
        self.expect_refused('\n/* a\n */ struct { int v; } *global p;\n', 3, 'give the struct a name')
        self.expect_refused('{ int (*p)[n]; x = sizeof(*(p + 1)); }', 1, 'not known what this sizeof is of')
        self.expect_refused('int A[n]::;\nx = sizeof(tolocal(A[0])[0]);', 2, 'not known what this sizeof is of')
        self.expect_refused('\n#define ROW(p) sizeof(*tolocal(p))', 2, 'not known what this sizeof is of')
        self.expect_refused('x = y;\nint (*global p)[3];\n', 2, 'no type is in front')


if __name__ == '__main__':
    unittest.main()
