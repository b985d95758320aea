# splitcrun, splitc-doctor and splitc-info, which have what they need of the library in them.
function(splitphase_tool name)
  add_executable(${name} ${ARGN})
  splitphase_rooms(${ARGN})
  target_link_libraries(${name} PRIVATE splitphase_flags splitphase_static)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bin
    UNITY_BUILD ${SPLITPHASE_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()

file(GLOB launcher CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} tools/splitcrun/*.cc)
if(NOT SPLITPHASE_HAS_HWLOC)
  list(REMOVE_ITEM launcher tools/splitcrun/topology.cc)
  list(APPEND launcher packaging/without/hwloc.cc)
  set_source_files_properties(tools/splitcrun/placement.cc PROPERTIES
    COMPILE_DEFINITIONS SPLITPHASE_WITHOUT_HWLOC SKIP_UNITY_BUILD_INCLUSION ON)
endif()
splitphase_tool(splitcrun ${launcher} tools/number_ranges.cc)
target_link_libraries(splitcrun PRIVATE CLI11::CLI11)
set(SPLITPHASE_TOOLS splitcrun)

if(SPLITPHASE_HAS_LIBFABRIC)
  file(GLOB_RECURSE doctor CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} tools/doctor/*.cc)
  list(FILTER doctor EXCLUDE REGEX "^tools/doctor/(doctor|in_job|info|tune)\\.cc$")
  splitphase_rooms(${doctor})
  add_library(splitphase_doctor STATIC ${doctor} tools/number_ranges.cc)
  set_target_properties(splitphase_doctor PROPERTIES
    UNITY_BUILD ${SPLITPHASE_UNITY} UNITY_BUILD_MODE GROUP)
  target_link_libraries(splitphase_doctor
    PUBLIC splitphase_flags splitphase_dependencies splitphase_static CLI11::CLI11)
  splitphase_tool(splitc-doctor tools/doctor/doctor.cc tools/doctor/in_job.cc tools/doctor/tune.cc)
  splitphase_tool(splitc-info tools/doctor/info.cc)
  target_link_libraries(splitc-doctor PRIVATE splitphase_doctor)
  target_link_libraries(splitc-info PRIVATE splitphase_doctor)
  list(APPEND SPLITPHASE_TOOLS splitc-doctor splitc-info)
endif()

# All that is installed.
add_custom_target(splitphase DEPENDS splitphase_shared splitphase_static ${SPLITPHASE_TOOLS})
