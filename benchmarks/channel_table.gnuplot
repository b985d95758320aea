# The plot of channel_table.sh: every way of file `data` by size, to `picture`.
set terminal svg size 960,640 dynamic background rgb "white"
set output picture
set datafile separator ","
set logscale xy
set xrange [80:600000]
set xlabel "bytes"
set ylabel "round trip, us"
set title "Bytes there and back ".place
set key outside right noenhanced
set grid xtics ytics

columns = int(system("head -n 1 '".data."' | awk -F, '{ print NF - 2 }'"))
name(i) = word(system("head -n 1 '".data."' | tr , ' '"), i)
is(text, i) = strstrt(name(i), text) == 1

# By hand in dots, the library's ways in full lines, MPI's in dashes, each library in shades.
mpi(i) = is("open_mpi", i) || is("mpich", i)
dashes(i) = is("raw", i) ? 3 : mpi(i) ? 2 : 1
width(i) = is("channel", i) ? 3 : is("raw", i) ? 2 : 1.2
shade(i) = 40 * (i % 5)
color(i) = is("channel", i) ? 0xcc0000 : is("raw", i) ? 0x000000 : \
           is("message", i) ? 0x008800 : is("bulk_store", i) ? 0x00bb66 : \
           is("open_mpi", i) ? 0x0000ff + 0x010100 * shade(i) : \
           is("mpich", i) ? 0x884400 + 0x000101 * shade(i) : 0xff00ff + 0x000100 * shade(i)
plot for [i = 2:columns] data using 1:i skip 1 with linespoints linecolor rgb color(i) \
  dashtype dashes(i) linewidth width(i) pointtype i pointsize 0.5 title name(i)
