#!/usr/bin/env python3
"""pages_test.py FIGURES_PY README: that all pages and pictures with figures are those of docs/figures.csv, and
what is made of any other figures.

Regions may be on any page. So the project is looked at itself, where README really lies.
"""

import pathlib
import sys
import unittest

script, readme = sys.argv[1:]
del sys.argv[1:]
ROOT = pathlib.Path(readme).resolve().parent
sys.path.insert(0, str(pathlib.Path(script).parent))
sys.dont_write_bytecode = True
import pages  # noqa: E402
import plot  # noqa: E402
import regions  # noqa: E402
import source  # noqa: E402

HEAD = ('# system: S\n# UCX: 1.2\n'
        'chapter,row,who,version,setting,unit,value,rounds,scatter,against,machine,date,status,note\n')


def source_of(*rows, machine='M,2026-01-02'):
    """Of rows CHAPTER,ROW,WHO,VALUE, of the same rounds."""
    lines = [row.rsplit(',', 2) for row in rows]
    ours = {what: float(value) for what, who, value in lines if who == 'Splitphase'}
    against = {(what, who): f'{float(value) / ours[what]:.3g}' for what, who, value in lines
               if what in ours and who != 'Splitphase'}
    return source.read(HEAD + ''.join(
        f'{what},{who},,default,ns,{value},3,1.10,{against.get((what, who), "")},{machine},ok,\n'
        for what, who, value in lines))


class TheProject(unittest.TestCase):
    def test_every_page_and_picture_is_that_of_the_figures(self):
        stale = [str(path.relative_to(ROOT)) for path in pages.stale(ROOT)]
        self.assertEqual(stale, [], 'these differ from docs/figures.csv: run ./measure --pages')

    def test_the_pages_that_are_of_figures_have_regions(self):
        made = {str(path.relative_to(ROOT)) for path in pages.made(ROOT)}
        self.assertLessEqual({'README.md', 'docs/measured.md', 'docs/costs.md', 'docs/applications.md',
                              'docs/channels-figures.md', 'docs/beside-others.html'}, made)

    def test_the_file_is_as_it_is_written(self):
        text = (ROOT / pages.FIGURES).read_text()
        self.assertEqual(source.read(text).text(), text)


class AnyFigures(unittest.TestCase):
    def test_a_row_of_the_readme_has_ours_the_limit_and_the_best_other(self):
        text = regions.readme(source_of(
            'round_trip_node,8,Splitphase,136.4', 'round_trip_node,8,by hand,90', 'round_trip_node,8,UCX,300',
            'round_trip_node,8,Open MPI,250'))
        self.assertIn('| one node: short request and reply | 136 ns +10 % | 90.0 ns +10 % | 250 ns +10 %, Open MPI |',
                      text)

    def test_others_are_ahead_only_where_they_are(self):
        text = regions.readme(source_of(
            'round_trip_tcp,8,Splitphase,20e3', 'round_trip_tcp,8,MPICH,10e3',
            'round_trip_tcp,4096,Splitphase,10e3', 'round_trip_tcp,4096,MPICH,20e3'))
        self.assertIn('- Round trip over TCP: 8 bytes: 20.0 µs +10 %, MPICH 10.0 µs +10 %.', text)
        self.assertNotIn('4,096 bytes:', text)

    def test_another_way_of_ours_is_not_the_best_other(self):
        some = source_of('channels_node,1000,Splitphase,200', 'channels_node,1000,MPICH,500', 'channels_node,1000,WAY,100')
        text = regions.readme(source.read(some.text().replace('WAY', '"ours, request and reply"')))
        self.assertIn('| 500 ns +10 %, MPICH |', text)
        self.assertNotIn('ours, request and reply', text)

    def test_another_figure_changes_the_page(self):
        page = '<!-- figures: round_trip_node -->\nold\n<!-- end of figures -->\n'
        first, second = (regions.rewritten(page, source_of(f'round_trip_node,8,Splitphase,{ns}')) for ns in (100, 200))
        self.assertIn('100 ns', first)
        self.assertNotEqual(first, second)
        self.assertEqual(regions.rewritten(first, source_of('round_trip_node,8,Splitphase,200')), second)

    def test_what_was_not_measured_is_said_so(self):
        some = source_of('round_trip_node,8,Splitphase,1')
        self.assertIn('not measured on M, 2026-01-02', regions.region(some, 'rate'))

    def test_the_publications_stand_where_they_were_measured_and_nowhere_else(self):
        page = '<!-- figures: papers -->\nold\n<!-- end of figures -->\n'
        some = source_of('round_trip_node,8,Splitphase,1')
        self.assertEqual(regions.rewritten(page, some), page.replace('old\n', ''))
        text = regions.rewritten(page, some, {'papers': source_of('papers_ways,EM3D,Splitphase,200')})
        self.assertIn('**The four ways of Split-C.**', text)
        self.assertIn('| EM3D | 200 ns +10 % |', text)
        self.assertNotIn('PairCalculator', text)

    def test_a_file_of_two_machines_is_refused(self):
        one = source_of('round_trip_node,8,Splitphase,1').text()
        other = source_of('round_trip_node,64,Splitphase,1', machine='N,2026-01-02').text()
        with self.assertRaisesRegex(ValueError, 'several machines'):
            source.read(one + other.splitlines()[-1] + '\n')

    def test_a_region_without_an_end_or_with_an_unknown_name_is_refused(self):
        some = source_of('round_trip_node,8,Splitphase,1')
        with self.assertRaisesRegex(ValueError, 'without its'):
            regions.rewritten('<!-- figures: rate -->\n', some)
        with self.assertRaisesRegex(ValueError, 'no such region'):
            regions.rewritten('<!-- figures: nonsense -->\n<!-- end of figures -->\n', some)

    def test_the_longest_bar_is_of_the_largest_figure(self):
        chart = plot.bars(source_of('round_trip_node,8,Splitphase,100', 'round_trip_node,8,UCX,400'),
                          'round_trip_node', '8', 'title')
        self.assertIn('width="118" height="22" fill="#c00000"', chart)
        self.assertIn('width="470" height="22" fill="#207020"', chart)


if __name__ == '__main__':
    unittest.main(verbosity=2)
