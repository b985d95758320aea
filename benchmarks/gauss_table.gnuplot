# The plot of gauss_table.sh: the time of an exchange by size, of every contender of file `data`, to
# `picture`.
set terminal svg size 800,520 dynamic background rgb "white"
set output picture
set datafile separator ","
set datafile missing "-"
set xlabel "equations"
set ylabel "one exchange, us"
set yrange [0:*]
set autoscale x
set title "Elimination with pivots read one by one, ".place
set key outside right noenhanced
set grid ytics

contenders = int(system("head -n 1 '".data."' | awk -F, '{ print (NF - 1) / 3 }'"))
name(i) = word(system("head -n 1 '".data."' | sed 's/_us//g' | tr , ' '"), 3 * i + 1)
plot for [i = 1:contenders] data using 1:3 * i + 1 skip 1 with linespoints linewidth 2 \
  pointtype i pointsize 0.7 title name(i)
