# What Bazel has compiled, in the folder SPLITPHASE_PREBUILT: the whole library as one archive, what a
# program needs on its command line beside it, and the tools. Only the shared library is linked here.
get_filename_component(prebuilt ${SPLITPHASE_PREBUILT} ABSOLUTE BASE_DIR ${CMAKE_BINARY_DIR})
file(READ ${prebuilt}/link_flags SPLITPHASE_LINK_FLAGS)
get_filename_component(archive ${prebuilt}/libsplitphase.a REALPATH)

# The library has one of the two symbols of am/types/types.h.
execute_process(COMMAND grep -q splitphase_a_checked_program ${archive} RESULT_VARIABLE absent)
set(SPLITPHASE_CHECKED ON)
if(absent)
  set(SPLITPHASE_CHECKED OFF)
endif()

add_library(splitphase_static STATIC IMPORTED GLOBAL)
separate_arguments(flags UNIX_COMMAND "${SPLITPHASE_LINK_FLAGS}")
set_target_properties(splitphase_static PROPERTIES
  IMPORTED_LOCATION ${archive} IMPORTED_LINK_INTERFACE_LANGUAGES CXX
  INTERFACE_LINK_LIBRARIES "${flags}")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/none.c "")
add_library(splitphase_shared SHARED ${CMAKE_CURRENT_BINARY_DIR}/none.c)
target_link_libraries(splitphase_shared PRIVATE
  -Wl,--whole-archive ${archive} -Wl,--no-whole-archive ${flags})
set_property(TARGET splitphase_shared APPEND PROPERTY LINK_DEPENDS ${archive})
set(SPLITPHASE_TOOLS splitcrun splitc-doctor splitc-info)
add_custom_target(splitphase DEPENDS splitphase_shared)
