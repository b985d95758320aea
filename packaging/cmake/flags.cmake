# How the project's own files are compiled: as .bazelrc has it, whatever CMAKE_BUILD_TYPE is. Options of a
# target come behind those of the build type.
include(CheckCXXCompilerFlag)

add_library(splitphase_flags INTERFACE)
target_compile_definitions(splitphase_flags INTERFACE SPLITPHASE_CHECKED=$<BOOL:${SPLITPHASE_CHECKED}>)
target_compile_options(splitphase_flags INTERFACE "SHELL:-iquote ${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_features(splitphase_flags INTERFACE cxx_std_20)
target_link_libraries(splitphase_flags INTERFACE -pthread)

if(SPLITPHASE_CHECKED)
  set(flags -O1 -g1 -UNDEBUG -D_GLIBCXX_ASSERTIONS)
else()
  set(flags -O3 -fomit-frame-pointer -DNDEBUG -U_GLIBCXX_ASSERTIONS)
endif()
check_cxx_compiler_flag(-fno-semantic-interposition SPLITPHASE_HAS_NO_INTERPOSITION)
if(SPLITPHASE_HAS_NO_INTERPOSITION)
  list(APPEND flags -fno-semantic-interposition)
endif()
separate_arguments(more UNIX_COMMAND "${SPLITPHASE_CXX_FLAGS}")
set(SPLITPHASE_FLAGS ${flags} ${more})
set(warnings -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees an overlap that is not there when it inlines std::string + (its bug 105651); and anonymous
  # namespaces are in files here that others include.
  list(APPEND warnings -Wno-restrict $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
target_compile_options(splitphase_flags INTERFACE ${SPLITPHASE_FLAGS} ${warnings})

# What programs of others get, too: a short loop across the end of a cache line takes up to twice as long.
set(SPLITPHASE_ALIGNMENT "")
if(SPLITPHASE_ALIGN_LOOPS)
  foreach(flag -falign-functions=64 -falign-loops=64)
    string(MAKE_C_IDENTIFIER "SPLITPHASE_HAS${flag}" has)
    check_cxx_compiler_flag(${flag} ${has})
    if(${has})
      list(APPEND SPLITPHASE_ALIGNMENT ${flag})
    endif()
  endforeach()
endif()
