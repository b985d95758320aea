# Debian packages by cpack: each component is one.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL libsplitphase0 libsplitphase-dev splitphase-tools)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # by dpkg-shlibdeps, of dpkg-dev
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_CURRENT_BINARY_DIR})
set(CPACK_STRIP_FILES OFF)
set(CPACK_PACKAGE_CONTACT "Splitphase <root@localhost>")
if(DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(text "Splitphase brings together a Split-C global address space and Active
 Messages II, over shared memory and libfabric. This is the ${BUILD} build.")

# splitphase_package(COMPONENT SECTION SUMMARY DEPENDS RECOMMENDS): Recommended is what is loaded when a job
# needs it.
macro(splitphase_package component section summary depends recommends)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${recommends}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION
    "global address space and Active Messages: ${summary}\n${text}")
endmacro()
splitphase_package(libsplitphase0 libs "shared library" "" "libfabric1, libpmix2, libsodium23")
splitphase_package(libsplitphase-dev libdevel "development files"
  "libsplitphase0 (= ${PROJECT_VERSION}), g++, libfmt-dev, libspdlog-dev, python3" "")
splitphase_package(splitphase-tools utils "launcher and tools" "" "libfabric1, libhwloc15, python3")
set(CPACK_DEBIAN_LIBSPLITPHASE-DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/packaging/cmake/compress_manual.cmake)
include(CPack)
