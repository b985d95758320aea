# The library: the .cc files of all its rooms, once, for the shared and the static one.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
  am/*.cc rdma/*.cc shmem/*.cc splitc/*.cc)
list(FILTER sources EXCLUDE REGEX "${SPLITPHASE_WITHOUT}")
list(APPEND sources ${SPLITPHASE_INSTEAD})

# Each room is compiled as one file. By themselves: what splitcrun shares with the library, or it would
# have all of it.
function(splitphase_rooms)
  foreach(source IN LISTS ARGN)
    get_filename_component(room ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${room}" room)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room})
  endforeach()
endfunction()
splitphase_rooms(${sources})
set_source_files_properties(
  am/job/config/control.cc am/job/config/lost_output.cc am/job/descriptors.cc
  am/observe/activity.cc am/route/process_stat.cc
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
set_source_files_properties(am/job/stall/process_text.cc am/job/stall/watch.cc
  PROPERTIES UNITY_GROUP am_job_stall_watch)

add_library(splitphase_objects OBJECT ${sources})
target_link_libraries(splitphase_objects PRIVATE splitphase_flags splitphase_dependencies)
set_target_properties(splitphase_objects PROPERTIES
  UNITY_BUILD ${SPLITPHASE_UNITY} UNITY_BUILD_MODE GROUP)

add_library(splitphase_static STATIC $<TARGET_OBJECTS:splitphase_objects>)
separate_arguments(flags UNIX_COMMAND "${SPLITPHASE_LINK_FLAGS}")
target_link_libraries(splitphase_static INTERFACE ${flags})
add_library(splitphase_shared SHARED $<TARGET_OBJECTS:splitphase_objects>)
target_link_libraries(splitphase_shared PRIVATE ${flags})
