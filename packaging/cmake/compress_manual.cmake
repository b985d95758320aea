# Of cpack: manual pages as Debian has them.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*.1)
list(FILTER pages INCLUDE REGEX "/man1/")
foreach(page IN LISTS pages)
  execute_process(COMMAND gzip -n9 ${page})
endforeach()
