! Active Messages II for Fortran: what the programs here call of am/c/am2.h and am/c/spmd.h, which are
! the manual. Copy this file, and add what else is needed in the same way: a handle is a type(c_ptr),
! a size_t or uintptr_t an integer(c_size_t), and a call with arguments for a handler is the one whose
! name ends in Args, which takes them as an array.
module splitphase_am2
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer(c_int), parameter :: AM_OK = 0

  interface
    ! --- am/c/spmd.h
    integer(c_int) function AMX_SPMDStartup(argc, argv, network_depth, network_id, bundle, &
                                            endpoint) bind(C, name='AMX_SPMDStartup')
      import :: c_int, c_ptr
      type(c_ptr), value :: argc, argv, network_id  ! c_null_ptr: not wanted
      integer(c_int), value :: network_depth
      type(c_ptr), intent(out) :: bundle, endpoint
    end function
    integer(c_int) function AMX_SPMDMyProc() bind(C, name='AMX_SPMDMyProc')
      import :: c_int
    end function
    integer(c_int) function AMX_SPMDNumProcs() bind(C, name='AMX_SPMDNumProcs')
      import :: c_int
    end function
    integer(c_int) function AMX_SPMDBarrier() bind(C, name='AMX_SPMDBarrier')
      import :: c_int
    end function
    integer(c_int) function AMX_SPMDAllGather(source, destination, nbytes) &
        bind(C, name='AMX_SPMDAllGather')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: source, destination
      integer(c_size_t), value :: nbytes
    end function
    subroutine AMX_SPMDExit(code) bind(C, name='AMX_SPMDExit')
      import :: c_int
      integer(c_int), value :: code
    end subroutine

    ! --- am/c/am2.h
    integer(c_int) function AM_SetHandler(endpoint, index, function) bind(C, name='AM_SetHandler')
      import :: c_funptr, c_int, c_ptr
      type(c_ptr), value :: endpoint
      integer(c_int), value :: index
      type(c_funptr), value :: function
    end function
    integer(c_int) function AM_SetSeg(endpoint, address, nbytes) bind(C, name='AM_SetSeg')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: endpoint, address
      integer(c_size_t), value :: nbytes
    end function
    integer(c_int) function AM_Poll(bundle) bind(C, name='AM_Poll')
      import :: c_int, c_ptr
      type(c_ptr), value :: bundle
    end function
    type(c_ptr) function AM_ErrorSentence() bind(C, name='AM_ErrorSentence')
      import :: c_ptr
    end function

    ! --- am/c/messages.h
    integer(c_int) function AM_RequestArgs(endpoint, index, handler, numargs, args) &
        bind(C, name='AM_RequestArgs')
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: endpoint
      integer(c_int), value :: index, handler, numargs
      integer(c_int32_t), intent(in) :: args(*)
    end function
    integer(c_int) function AM_RequestXferArgs(endpoint, index, dest_offset, handler, source, &
                                               nbytes, numargs, args) &
        bind(C, name='AM_RequestXferArgs')
      import :: c_int, c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: endpoint, source
      integer(c_int), value :: index, handler, numargs
      integer(c_size_t), value :: dest_offset, nbytes
      integer(c_int32_t), intent(in) :: args(*)
    end function
    integer(c_int) function AM_ReplyArgs(token, handler, numargs, args) bind(C, name='AM_ReplyArgs')
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: token
      integer(c_int), value :: handler, numargs
      integer(c_int32_t), intent(in) :: args(*)
    end function
  end interface

contains

  ! Ends the job with the library's sentence, unless a call has returned AM_OK.
  subroutine check(code)
    use, intrinsic :: iso_fortran_env, only: error_unit
    integer(c_int), intent(in) :: code
    character(kind=c_char), pointer :: sentence(:)
    integer :: length
    if (code == AM_OK) return
    call c_f_pointer(AM_ErrorSentence(), sentence, [2048])
    length = findloc(sentence, c_null_char, dim=1) - 1
    write (error_unit, '(*(a))') sentence(1:length)
    flush (error_unit)  ! which AMX_SPMDExit() does of C's streams only
    call AMX_SPMDExit(1_c_int)
  end subroutine
end module
