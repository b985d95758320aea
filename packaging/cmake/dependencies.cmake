# What the library and its tools need of others. Libraries that a job loads when it needs them are headers
# here: where those are missing, what they are for is left out, and the summary says what that is.
include(FetchContent)
if(POLICY CMP0169)
  cmake_policy(SET CMP0169 OLD)  # FetchContent_Populate, as CMake before 3.28 has no EXCLUDE_FROM_ALL
endif()

set(splitphase_costs "")

# splitphase_headers(NAME HEADER PACKAGE COST [PATHS...]): looks for HEADER unless SPLITPHASE_WITH_NAME is
# OFF; sets SPLITPHASE_HAS_NAME.
function(splitphase_headers name header package cost)
  set(SPLITPHASE_WITH_${name} AUTO CACHE STRING "AUTO: if <${header}> is found; ON; OFF")
  set_property(CACHE SPLITPHASE_WITH_${name} PROPERTY STRINGS AUTO ON OFF)
  set(has OFF)
  if(SPLITPHASE_WITH_${name})
    find_path(SPLITPHASE_${name}_INCLUDE ${header} PATHS ${ARGN})
    mark_as_advanced(SPLITPHASE_${name}_INCLUDE)
    if(SPLITPHASE_${name}_INCLUDE)
      set(has ON)
    elseif(NOT SPLITPHASE_WITH_${name} STREQUAL "AUTO")
      message(FATAL_ERROR "SPLITPHASE_WITH_${name}: there is no <${header}>. Install it (Debian: "
        "${package}), or name its prefix in CMAKE_PREFIX_PATH.")
    endif()
  endif()
  set(SPLITPHASE_HAS_${name} ${has} PARENT_SCOPE)
  if(has)
    target_include_directories(splitphase_dependencies SYSTEM INTERFACE ${SPLITPHASE_${name}_INCLUDE})
  else()
    string(TOLOWER ${name} name)
    set(splitphase_costs ${splitphase_costs} "no ${name} (Debian: ${package}): ${cost}" PARENT_SCOPE)
  endif()
endfunction()

# splitphase_project(NAME TARGET PACKAGE URL TAG): a project with CMake files of its own, from the system,
# from CMAKE_PREFIX_PATH, from the folder FETCHCONTENT_SOURCE_DIR_<NAME>, or downloaded if that is allowed.
function(splitphase_project name target package url tag)
  string(TOUPPER ${name} upper)
  if(NOT TARGET ${target} AND NOT FETCHCONTENT_SOURCE_DIR_${upper})
    find_package(${name} QUIET)
  endif()
  if(TARGET ${target})
    return()
  endif()
  if(NOT FETCHCONTENT_SOURCE_DIR_${upper} AND NOT SPLITPHASE_DOWNLOAD)
    message(FATAL_ERROR "There is no ${name}. Install it (Debian: ${package}); or name the prefix that it "
      "is installed in by -DCMAKE_PREFIX_PATH=FOLDER, or its sources by "
      "-DFETCHCONTENT_SOURCE_DIR_${upper}=FOLDER (${url} has them); or let it be downloaded from there "
      "by -DSPLITPHASE_DOWNLOAD=ON.")
  endif()
  FetchContent_Declare(${name} GIT_REPOSITORY ${url} GIT_TAG ${tag} GIT_SHALLOW ON)
  string(TOLOWER ${name} lower)
  FetchContent_GetProperties(${name})
  if(NOT ${lower}_POPULATED)
    FetchContent_Populate(${name})
    add_subdirectory(${${lower}_SOURCE_DIR} ${${lower}_BINARY_DIR} EXCLUDE_FROM_ALL)
  endif()
endfunction()

add_library(splitphase_dependencies INTERFACE)
splitphase_headers(LIBFABRIC rdma/fabric.h libfabric-dev
  "jobs of one node only, no splitc-doctor and splitc-info, no benchmarks of networks")
splitphase_headers(PMIX pmix.h libpmix-dev
  "srun, prun and Open MPI's mpirun start no jobs (splitcrun and mpiexec.hydra do)"
  /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include)
splitphase_headers(HWLOC hwloc.h libhwloc-dev "splitcrun refuses --bind l3, numa and socket, and takes cores by the system's numbers")
splitphase_project(spdlog spdlog::spdlog libspdlog-dev https://github.com/gabime/spdlog v1.14.1)
splitphase_project(CLI11 CLI11::CLI11 libcli11-dev https://github.com/CLIUtils/CLI11 v2.4.2)
splitphase_project(nlohmann_json nlohmann_json::nlohmann_json nlohmann-json3-dev
  https://github.com/nlohmann/json v3.11.3)

# spdlog as the linker finds it by itself is linked with what uses the library; any other is compiled into
# the library.
find_library(SPLITPHASE_SPDLOG spdlog PATHS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES} NO_DEFAULT_PATH)
find_library(SPLITPHASE_FMT fmt PATHS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES} NO_DEFAULT_PATH)
mark_as_advanced(SPLITPHASE_SPDLOG SPLITPHASE_FMT)
get_target_property(imported spdlog::spdlog IMPORTED)
set(SPLITPHASE_LINK_FLAGS "-pthread -ldl")
if(imported AND SPLITPHASE_SPDLOG AND SPLITPHASE_FMT)
  set(log spdlog::spdlog)
  string(PREPEND SPLITPHASE_LINK_FLAGS "-lspdlog -lfmt ")
else()
  set(log spdlog::spdlog_header_only)
endif()
target_link_libraries(splitphase_dependencies INTERFACE ${log} nlohmann_json::nlohmann_json)

# Files that are left out, as a pattern, and those that stand in for them.
set(SPLITPHASE_WITHOUT "^$")
set(SPLITPHASE_INSTEAD "")
if(NOT SPLITPHASE_HAS_LIBFABRIC)
  string(APPEND SPLITPHASE_WITHOUT
    "|^rdma/|^am/link/(fabric|datagram)/|^am/job/network\\.cc")
  list(APPEND SPLITPHASE_INSTEAD packaging/without/libfabric.cc)
endif()
if(NOT SPLITPHASE_HAS_PMIX)
  string(APPEND SPLITPHASE_WITHOUT "|^am/job/bootstrap/pmix\\.cc")
  list(APPEND SPLITPHASE_INSTEAD packaging/without/pmix.cc)
endif()

function(splitphase_summary)
  set(build release)
  if(SPLITPHASE_CHECKED)
    set(build checked)
  endif()
  list(JOIN SPLITPHASE_FLAGS " " flags)
  message(STATUS "Splitphase ${PROJECT_VERSION}, the ${build} build: ${flags}")
  set(found "")
  foreach(name LIBFABRIC PMIX HWLOC)
    if(SPLITPHASE_HAS_${name})
      string(TOLOWER ${name} name)
      list(APPEND found ${name})
    endif()
  endforeach()
  list(JOIN found ", " found)
  message(STATUS "  found: ${found}")
  if(splitphase_costs)
    message(STATUS "  missing or turned off, and what that costs:")
  endif()
  foreach(cost IN LISTS splitphase_costs)
    message(STATUS "  ${cost}")
  endforeach()
endfunction()
