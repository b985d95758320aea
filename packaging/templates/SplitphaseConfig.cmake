# find_package(Splitphase): the targets Splitphase::am and Splitphase::splitc for C++, Splitphase::am2
# for C, and the launcher's path in Splitphase_SPLITCRUN. Set Splitphase_USE_STATIC_LIBS before to link libsplitphase.a.

# REALPATH: /lib/cmake is /usr/lib/cmake by another name.
get_filename_component(_splitphase_prefix "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(_splitphase_prefix "${_splitphase_prefix}/../../.." ABSOLUTE)

set(Splitphase_SPLITCRUN "${_splitphase_prefix}/bin/splitcrun")
set(Splitphase_am_FOUND TRUE)
set(Splitphase_am2_FOUND TRUE)
set(Splitphase_splitc_FOUND TRUE)
foreach(_splitphase_component IN LISTS Splitphase_FIND_COMPONENTS)
  if(Splitphase_FIND_REQUIRED_${_splitphase_component}
     AND NOT Splitphase_${_splitphase_component}_FOUND)
    set(Splitphase_FOUND FALSE)
    set(Splitphase_NOT_FOUND_MESSAGE
        "Splitphase has no component ${_splitphase_component}; there are am, am2 and splitc.")
  endif()
endforeach()

# A short loop across the end of a cache line takes up to twice as long. SPLITPHASE_ALIGN_LOOPS=OFF leaves it.
set(_splitphase_align "")
if(NOT DEFINED SPLITPHASE_ALIGN_LOOPS OR SPLITPHASE_ALIGN_LOOPS)
  foreach(_splitphase_language C CXX)
    if(CMAKE_${_splitphase_language}_COMPILER_ID MATCHES "GNU"
       OR (CMAKE_${_splitphase_language}_COMPILER_ID MATCHES "Clang"
           AND CMAKE_${_splitphase_language}_COMPILER_VERSION VERSION_GREATER_EQUAL 13))
      list(APPEND _splitphase_align
        $<$<COMPILE_LANGUAGE:${_splitphase_language}>:-falign-functions=64>
        $<$<COMPILE_LANGUAGE:${_splitphase_language}>:-falign-loops=64>)
    endif()
  endforeach()
endif()

if(NOT TARGET Splitphase::library)
  if(Splitphase_USE_STATIC_LIBS)
    add_library(Splitphase::library STATIC IMPORTED)
    set_target_properties(Splitphase::library PROPERTIES
      IMPORTED_LOCATION "${_splitphase_prefix}/lib/libsplitphase.a"
      INTERFACE_LINK_LIBRARIES "@LINK_FLAGS_LIST@")
  else()
    add_library(Splitphase::library SHARED IMPORTED)
    set_target_properties(Splitphase::library PROPERTIES
      IMPORTED_LOCATION "${_splitphase_prefix}/lib/libsplitphase.so.0"
      IMPORTED_SONAME "libsplitphase.so.0")
  endif()
  set_target_properties(Splitphase::library PROPERTIES
    INTERFACE_COMPILE_DEFINITIONS "SPLITPHASE_CHECKED=@CHECKED@"
    INTERFACE_COMPILE_OPTIONS "${_splitphase_align}"
    INTERFACE_INCLUDE_DIRECTORIES "${_splitphase_prefix}/include/splitphase")

  add_library(Splitphase::am INTERFACE IMPORTED)
  set_target_properties(Splitphase::am PROPERTIES
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES Splitphase::library)
  # C programs may be linked by a C compiler, which does not bring the C++ library for the archive.
  add_library(Splitphase::am2 INTERFACE IMPORTED)
  set_target_properties(Splitphase::am2 PROPERTIES
    INTERFACE_LINK_LIBRARIES "Splitphase::library;$<$<BOOL:${Splitphase_USE_STATIC_LIBS}>:stdc++>")
  add_library(Splitphase::splitc INTERFACE IMPORTED)
  set_target_properties(Splitphase::splitc PROPERTIES INTERFACE_LINK_LIBRARIES Splitphase::am)
endif()
