# What is installed: nothing in it says where it lies, so that the folder may be moved. The components are
# those of the packages.
set(templates packaging/templates)
set(filled ${CMAKE_CURRENT_BINARY_DIR}/filled)

# splitphase_fill(TEMPLATE...): the templates with their @WORDS@ filled in, below `filled`.
set(VERSION ${PROJECT_VERSION})
set(CHECKED 0)
set(BUILD release)
if(SPLITPHASE_CHECKED)
  set(CHECKED 1)
  set(BUILD checked)
endif()
set(LINK_FLAGS ${SPLITPHASE_LINK_FLAGS})
string(REPLACE " " ";" LINK_FLAGS_LIST "${SPLITPHASE_LINK_FLAGS}")
file(GLOB all CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/${templates} ${templates}/*)
foreach(template IN LISTS all)
  configure_file(${templates}/${template} ${filled}/${template} @ONLY)
endforeach()

# What programs include: the headers at the top of am, am/c and splitc, and those of the original Split-C;
# and what they include of the library.
set(original splitc/compat/split-c)
file(GLOB queue CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
  am/*.h am/c/*.h splitc/*.h ${original}/*.h)
set(headers "")
while(queue)
  list(POP_FRONT queue header)
  if(header IN_LIST headers)
    continue()
  endif()
  list(APPEND headers ${header})
  file(STRINGS ${header} lines REGEX "^ *# *include \"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*\"(.*)\".*" "\\1" line "${line}")
    list(APPEND queue ${line})
  endforeach()
endwhile()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})

# An older version may have had other headers.
install(CODE "file(REMOVE_RECURSE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/include/splitphase\")"
  COMPONENT libsplitphase-dev)
foreach(header IN LISTS headers)
  get_filename_component(folder ${header} DIRECTORY)
  if(folder STREQUAL original)
    set(folder split-c)
  endif()
  install(FILES ${header} DESTINATION include/splitphase/${folder} COMPONENT libsplitphase-dev)
endforeach()
# Newer than what was compiled with an older version, so that make notices.
install(CODE "file(GLOB_RECURSE headers \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/include/splitphase/*\")
  file(TOUCH \${headers})" COMPONENT libsplitphase-dev)

install(TARGETS splitphase_shared LIBRARY DESTINATION lib
  COMPONENT libsplitphase0 NAMELINK_COMPONENT libsplitphase-dev)
install(FILES $<TARGET_FILE:splitphase_static> DESTINATION lib RENAME libsplitphase.a
  COMPONENT libsplitphase-dev)
install(FILES ${filled}/splitphase-am.pc ${filled}/splitphase-am2.pc ${filled}/splitphase-splitc.pc
  DESTINATION lib/pkgconfig COMPONENT libsplitphase-dev)
install(FILES ${filled}/SplitphaseConfig.cmake ${filled}/SplitphaseConfigVersion.cmake
  DESTINATION lib/cmake/Splitphase COMPONENT libsplitphase-dev)
install(PROGRAMS ${filled}/splitc++ ${filled}/splitcc splitc/compat/splitc2cc
  DESTINATION bin COMPONENT libsplitphase-dev)
install(PROGRAMS splitc/compat/splitcc-errors
  DESTINATION share/splitphase COMPONENT libsplitphase-dev)
install(FILES packaging/gdb.py
  DESTINATION share/splitphase COMPONENT libsplitphase-dev)
install(FILES ${filled}/splitcc.1 ${filled}/splitc2cc.1
  DESTINATION share/man/man1 COMPONENT libsplitphase-dev)

# The pages and examples, which refer to each other as in the sources.
set(documentation share/doc/splitphase)
install(FILES README.md DESTINATION ${documentation} COMPONENT libsplitphase-dev)
install(DIRECTORY docs DESTINATION ${documentation} COMPONENT libsplitphase-dev
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN "*.csv" PATTERN "*.html"
  PATTERN "docs/clusters/*")
install(DIRECTORY examples DESTINATION ${documentation} COMPONENT libsplitphase-dev
  FILES_MATCHING PATTERN "*.cc" PATTERN "*.c" PATTERN "*.f90" PATTERN "*.h" PATTERN "*.py" PATTERN "examples/data" EXCLUDE)

# The Python package, as sources: it is built for one version of Python, with what is installed here.
install(DIRECTORY packaging/python DESTINATION share/splitphase COMPONENT libsplitphase-dev
  FILES_MATCHING PATTERN "*.cc" PATTERN "*.h" PATTERN "*.py" PATTERN "CMakeLists.txt")

foreach(tool IN LISTS SPLITPHASE_TOOLS)
  if(SPLITPHASE_PREBUILT)
    get_filename_component(file ${prebuilt}/${tool} REALPATH)  # a link would be installed as one
    install(PROGRAMS ${file} DESTINATION bin RENAME ${tool} COMPONENT splitphase-tools)
  else()
    install(TARGETS ${tool} RUNTIME DESTINATION bin COMPONENT splitphase-tools)
  endif()
endforeach()
# What draws traces and traffic; python3 runs it.
foreach(drawing timeline traffic)
  install(PROGRAMS benchmarks/${drawing}.py DESTINATION bin RENAME splitc-${drawing}
    COMPONENT splitphase-tools)
endforeach()
install(FILES ${filled}/splitcrun.1 DESTINATION share/man/man1 COMPONENT splitphase-tools)
install(FILES ${filled}/splitcrun.bash DESTINATION share/bash-completion/completions RENAME splitcrun
  COMPONENT splitphase-tools)

# Of which sources it was built; splitc-info says it.
set(SPLITPHASE_COMMIT "" CACHE STRING "What splitc-info calls the sources; otherwise git says it")
install(CODE "
  set(commit \"${SPLITPHASE_COMMIT}\")
  if(NOT commit)
    execute_process(COMMAND git -C \"${CMAKE_CURRENT_SOURCE_DIR}\"
      describe --always --dirty --abbrev=12 --exclude=*
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(NOT commit)
    set(commit unknown)
  endif()
  file(WRITE \"${CMAKE_CURRENT_BINARY_DIR}/commit\" \"\${commit}\\n\")"
  COMPONENT splitphase-tools)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/commit DESTINATION share/splitphase
  COMPONENT splitphase-tools)
