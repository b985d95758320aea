! Heat along a rod in Fortran, by Active Messages in C: each process has a part of the cells, and
! sends the ones at its ends right into its neighbours' arrays. Process 0 compares the end with what
! it computes alone.
!
!   gfortran -O2 splitphase_am2.f90 heat.f90 -o heat $(pkg-config --libs splitphase-am2)
!   splitcrun -n 4 ./heat
module rod
  use splitphase_am2
  implicit none

  integer, parameter :: cells_each = 500, steps = 1000
  integer(c_int64_t), parameter :: hot = 1000000        ! millionths of a degree
  integer(c_int), parameter :: ghost_handler = 1        ! the same in every process

  ! With a ghost cell at either end: this array is the segment that others write, while calls of the
  ! library run.
  integer(c_int64_t), target, asynchronous :: cells(0:cells_each + 1) = 0
  integer :: ghosts = 0                                 ! that have come

contains

  ! A neighbour's cell is in its place. A handler is a bind(C) procedure; what comes by value is said
  ! to do so.
  subroutine on_ghost(token, address, nbytes) bind(C)
    type(c_ptr), value :: token, address
    integer(c_int), value :: nbytes
    if (c_associated(token) .and. c_associated(address) .and. nbytes == 8) ghosts = ghosts + 1
  end subroutine

  ! One step; what is at both ends of the array are ghosts.
  subroutine spread_heat(line)
    integer(c_int64_t), intent(inout) :: line(:)
    integer :: n
    n = size(line)
    line(2:n - 1) = line(2:n - 1) + (line(1:n - 2) - 2 * line(2:n - 1) + line(3:n)) / 4
  end subroutine

  ! Sends the cell `from` to the place of cell `to` of a neighbour.
  subroutine send_cell(endpoint, process, from, to)
    type(c_ptr), intent(in) :: endpoint
    integer(c_int), intent(in) :: process
    integer, intent(in) :: from, to
    integer(c_int32_t) :: none(1)
    none = 0
    call check(AM_RequestXferArgs(endpoint, process, int(8 * to, c_size_t), ghost_handler, &
                                  c_loc(cells(from)), 8_c_size_t, 0_c_int, none))
  end subroutine

  ! Whether a rod is what one process computes.
  logical function is_right(whole)
    integer(c_int64_t), intent(in) :: whole(:)
    integer(c_int64_t) :: line(0:size(whole) + 1)
    integer :: step
    line = 0
    line(1) = hot
    do step = 1, steps
      line(0) = line(1)
      line(size(whole) + 1) = line(size(whole))
      call spread_heat(line)
    end do
    is_right = all(line(1:size(whole)) == whole)
  end function
end module

program heat
  use rod
  implicit none
  type(c_ptr) :: bundle, endpoint
  integer(c_int) :: me, procs
  integer :: step, neighbours
  integer(c_int64_t), allocatable, target :: all_cells(:)

  call check(AMX_SPMDStartup(c_null_ptr, c_null_ptr, 0_c_int, c_null_ptr, bundle, endpoint))
  me = AMX_SPMDMyProc()
  procs = AMX_SPMDNumProcs()
  call check(AM_SetHandler(endpoint, ghost_handler, c_funloc(on_ghost)))
  call check(AM_SetSeg(endpoint, c_loc(cells), 8_c_size_t * size(cells)))
  if (me == 0) cells(1) = hot
  neighbours = count([me > 0, me < procs - 1])
  call check(AMX_SPMDBarrier())                         ! all have their handlers

  do step = 1, steps
    cells(0) = cells(1)                                 ! a rod loses nothing at its ends
    cells(cells_each + 1) = cells(cells_each)
    call check(AMX_SPMDBarrier())                       ! all are as far
    if (me > 0) call send_cell(endpoint, me - 1_c_int, 1, cells_each + 1)
    if (me < procs - 1) call send_cell(endpoint, me + 1_c_int, cells_each, 0)
    do while (ghosts < step * neighbours)
      call check(AM_Poll(bundle))
    end do
    call spread_heat(cells)
  end do

  allocate (all_cells(procs * cells_each))
  call check(AMX_SPMDAllGather(c_loc(cells(1)), c_loc(all_cells), 8_c_size_t * cells_each))
  if (me == 0) then
    if (.not. is_right(all_cells)) then
      print '(a)', 'WRONG'
      call AMX_SPMDExit(1_c_int)
    end if
    print '(i0, a, i0, a)', size(all_cells), ' cells, ', steps, ' steps: as one process computes them'
    flush (unit=6)
  end if
  call check(AMX_SPMDBarrier())
  call AMX_SPMDExit(0_c_int)
end program
