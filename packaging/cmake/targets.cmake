# What projects link with, by the names that find_package gives: an interface, as the library is compiled
# in another way than what includes its headers.
set_target_properties(splitphase_shared PROPERTIES
  OUTPUT_NAME splitphase VERSION ${PROJECT_VERSION} SOVERSION 0 LINKER_LANGUAGE CXX
  LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/packaging/symbols.map)
target_link_options(splitphase_shared PRIVATE -Wl,-z,defs -Wl,-z,nodelete
  LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/packaging/symbols.map)
if(NOT SPLITPHASE_PREBUILT)
  set_target_properties(splitphase_static PROPERTIES OUTPUT_NAME splitphase)
endif()

add_library(splitphase_library INTERFACE)
target_compile_definitions(splitphase_library INTERFACE
  SPLITPHASE_CHECKED=$<BOOL:${SPLITPHASE_CHECKED}>)
target_compile_options(splitphase_library INTERFACE ${SPLITPHASE_ALIGNMENT})
# The rooms alone, as where the library is installed: other files of the clone have names of anybody's.
set(include ${CMAKE_CURRENT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${include})
# Bazel does not look for packages in a folder with such a file, wherever in the clone this is.
file(WRITE ${include}/DONT_FOLLOW_SYMLINKS_WHEN_TRAVERSING_THIS_DIRECTORY_VIA_A_RECURSIVE_TARGET_PATTERN "")
foreach(room am shmem splitc splitc/compat/split-c)
  get_filename_component(name ${room} NAME)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${room} ${include}/${name} SYMBOLIC)
endforeach()
target_include_directories(splitphase_library INTERFACE ${include})
if(Splitphase_USE_STATIC_LIBS)
  target_link_libraries(splitphase_library INTERFACE splitphase_static)
else()
  target_link_libraries(splitphase_library INTERFACE splitphase_shared)
endif()
add_library(splitphase_cxx INTERFACE)
target_compile_features(splitphase_cxx INTERFACE cxx_std_20)
target_link_libraries(splitphase_cxx INTERFACE splitphase_library)
add_library(Splitphase::am ALIAS splitphase_cxx)
add_library(Splitphase::splitc ALIAS splitphase_cxx)
add_library(Splitphase::am2 ALIAS splitphase_library)

# The launcher, for add_test.
set(splitcrun ${CMAKE_CURRENT_BINARY_DIR}/bin/splitcrun)
if(SPLITPHASE_PREBUILT)
  set(splitcrun ${prebuilt}/splitcrun)
endif()
set(Splitphase_SPLITCRUN ${splitcrun} CACHE INTERNAL "The launcher")
