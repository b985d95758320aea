# Examples and benchmarks: a file or a folder each, linked with the static library, as `./run` has them.
#
# splitphase_program(NAME FOLDER [LIBRARIES...] SOURCES ...): a program in FOLDER of the build.
function(splitphase_program name folder)
  cmake_parse_arguments(PARSE_ARGV 2 program "" "" "SOURCES")
  add_executable(${name} ${program_SOURCES})
  splitphase_rooms(${program_SOURCES})
  target_link_libraries(${name} PRIVATE ${program_UNPARSED_ARGUMENTS} splitphase_flags splitphase_static)
  target_compile_options(${name} PRIVATE ${SPLITPHASE_ALIGNMENT})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${folder}
    UNITY_BUILD ${SPLITPHASE_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()

# splitphase_glob(VARIABLE PATTERN...): files below the root.
macro(splitphase_glob variable)
  file(GLOB ${variable} CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${ARGN})
endmacro()

# --- Examples

add_library(example_parts STATIC examples/application.cc examples/command_line.cc examples/contents.cc
  examples/progress.cc examples/matmul3d/kernel.cc examples/conjugate_gradient/halo.cc
  examples/conjugate_gradient/rows.cc)
splitphase_glob(sources examples/graph/*.cc examples/keys/*.c examples/prk/*.c)
target_sources(example_parts PRIVATE ${sources})
target_link_libraries(example_parts PRIVATE splitphase_flags splitphase_static CLI11::CLI11)
target_compile_options(example_parts PRIVATE ${SPLITPHASE_ALIGNMENT})

find_package(PNG QUIET)
if(PNG_FOUND)
  target_sources(example_parts PRIVATE examples/image_components/png_file.cc)
  target_link_libraries(example_parts PUBLIC PNG::PNG)
else()
  list(APPEND splitphase_costs "no libpng (Debian: libpng-dev): no example image_components")
endif()
find_path(SPLITPHASE_CBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas)
find_library(SPLITPHASE_CBLAS NAMES blas openblas)
mark_as_advanced(SPLITPHASE_CBLAS_INCLUDE SPLITPHASE_CBLAS)
if(NOT SPLITPHASE_CBLAS_INCLUDE OR NOT SPLITPHASE_CBLAS)
  list(APPEND splitphase_costs "no CBLAS (Debian: libblas-dev): no example pair_calculator")
endif()

splitphase_glob(names examples/*.cc examples/*/main.cc examples/containers/*.cc examples/threads/table.cc)
foreach(source IN LISTS names)
  if(source MATCHES "^examples/([^/]+)/main\\.cc$")
    set(name ${CMAKE_MATCH_1})
    splitphase_glob(source examples/${name}/*.cc)
    list(REMOVE_ITEM source examples/image_components/png_file.cc examples/matmul3d/kernel.cc
      examples/conjugate_gradient/halo.cc examples/conjugate_gradient/rows.cc)
  else()
    get_filename_component(name ${source} NAME_WE)
  endif()
  if(name MATCHES "^(application|command_line|contents|progress|beside_mpi)$"
     OR (name STREQUAL "image_components" AND NOT PNG_FOUND)
     OR (name STREQUAL "pair_calculator" AND NOT (SPLITPHASE_CBLAS_INCLUDE AND SPLITPHASE_CBLAS)))
    continue()
  endif()
  splitphase_program(${name} examples example_parts SOURCES ${source})
  list(APPEND splitphase_examples ${name})
endforeach()
if(TARGET pair_calculator)
  target_include_directories(pair_calculator SYSTEM PRIVATE ${SPLITPHASE_CBLAS_INCLUDE})
  target_link_libraries(pair_calculator PRIVATE ${SPLITPHASE_CBLAS})
endif()
# Results are compared bit by bit: no version may fuse a multiplication and an addition.
foreach(name em3d conjugate_gradient gauss lu jacobi3d matmul3d pair_calculator pipeline)
  if(TARGET ${name})
    target_compile_options(${name} PRIVATE -ffp-contract=off)
  endif()
endforeach()
set_source_files_properties(examples/matmul3d/kernel.cc examples/conjugate_gradient/halo.cc
  examples/conjugate_gradient/rows.cc PROPERTIES COMPILE_OPTIONS -ffp-contract=off)

foreach(name heat_rod pass_blocks word_count)
  splitphase_program(${name} examples SOURCES examples/${name}.c)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  list(APPEND splitphase_examples ${name})
endforeach()
set_target_properties(heat_rod pass_blocks word_count example_parts PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF)

# --- Benchmarks

splitphase_glob(sources benchmarks/support/*.cc)
set(network ${sources})
list(FILTER network INCLUDE REGEX "network|raw_fabric|raw_udp")
list(REMOVE_ITEM sources ${network})
add_library(benchmark_support STATIC ${sources})
add_library(benchmark_network STATIC EXCLUDE_FROM_ALL ${network})
foreach(part benchmark_support benchmark_network)
  target_link_libraries(${part}
    PUBLIC splitphase_flags splitphase_static splitphase_dependencies CLI11::CLI11)
  target_compile_options(${part} PRIVATE ${SPLITPHASE_ALIGNMENT})
endforeach()
find_library(SPLITPHASE_FABRIC fabric)
mark_as_advanced(SPLITPHASE_FABRIC)

set(network channel_pingpong channel_poll datagram fabric network split_phase ways zero_copy)

splitphase_glob(sources benchmarks/*.cc)
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  file(STRINGS ${source} main REGEX "^int main\\(" LIMIT_COUNT 1)
  if(NOT main)  # a part of the program by whose name its own begins
    continue()
  endif()
  splitphase_glob(all benchmarks/${name}.cc benchmarks/${name}_*.cc)
  if(NOT name IN_LIST network)
    splitphase_program(${name} benchmarks benchmark_support SOURCES ${all})
  elseif(SPLITPHASE_HAS_LIBFABRIC AND SPLITPHASE_FABRIC)
    splitphase_program(${name} benchmarks benchmark_network benchmark_support ${SPLITPHASE_FABRIC}
      SOURCES ${all})
  else()
    continue()
  endif()
  list(APPEND splitphase_benchmarks ${name})
endforeach()

# For ./run.
list(TRANSFORM splitphase_examples REPLACE "(.+)" "//examples:\\1\n")
list(TRANSFORM splitphase_benchmarks REPLACE "(.+)" "//benchmarks:\\1\n")
list(JOIN splitphase_examples "" names)
list(JOIN splitphase_benchmarks "" more)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/programs ${names} ${more})
