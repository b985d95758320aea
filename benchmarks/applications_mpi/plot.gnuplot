# The plot of applications_mpi.sh: of each program, a line of file `titles`, by how much ours is
# faster than the faster MPI, for each placement, a line of file `places`, from the lines
# PROGRAM,RATIO,MPI,PLACEMENT of file `speeds`; to `picture`.
set terminal svg size 900,480 dynamic background rgb "white"
set output picture
set datafile separator ","
set logscale y 2
set ylabel "ours / best MPI; above 1 ours is faster"
set title "Applications beside MPI"
set key outside bottom center horizontal noenhanced
set grid ytics

programs = int(system("wc -l <'".titles."'"))
placements = int(system("wc -l <'".places."'"))
line(file, i) = system(sprintf("sed -n %dp '%s'", i, file))
set xrange [0.5:programs + 0.5]
set xtics ("" 0) nomirror
set for [i = 1:programs] xtics add (line(titles, i) i)
number(text) = int(system(sprintf("grep -nxF '%s' '%s' | cut -d : -f 1", text, titles)))
place(text, j) = text eq line(places, j)
shift(j) = 0.12 * (j - (placements + 1) / 2.0)

plot 1 linecolor rgb "black" notitle, for [j = 1:placements] \
  speeds using (number(strcol(1)) + shift(j)):(place(strcol(4), j) ? column(2) : NaN) \
  with points pointtype 5 pointsize 1.2 linecolor j title line(places, j)
