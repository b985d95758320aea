# The plot of channel_table.sh: every way of file `data` by size, to `picture`.
set terminal svg size 900,640 dynamic background rgb "white"
set output picture
set datafile separator ","
set logscale xy
set xlabel "bytes"
set ylabel "round trip, us"
set title "Bytes there and back ".place
set key outside right noenhanced
set grid xtics ytics
columns = int(system("head -n 1 '".data."' | awk -F, '{ print NF - 2 }'"))
name(i) = system("head -n 1 '".data."' | cut -d, -f".i)
# The library's ways are drawn in full, MPI's with dashes, those by hand in dots.
is(text, i) = strstrt(name(i), text) == 1
dashes(i) = is("raw", i) ? 3 : is("open_mpi", i) || is("mpich", i) ? 2 : 1
width(i) = name(i) eq "channel" ? 3 : 1.5
plot for [i = 2:columns] data using 1:i skip 1 with linespoints \
  linetype i - 1 dashtype dashes(i) linewidth width(i) pointsize 0.5 title name(i)
