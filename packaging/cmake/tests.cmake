# What ctest runs: the unit tests of each room, and the main job tests in two shapes. Bazel has all tests,
# in more shapes (./test).
if(NOT TARGET GTest::gtest)
  find_package(GTest QUIET)
endif()
if(NOT TARGET GTest::gtest AND NOT FETCHCONTENT_SOURCE_DIR_GOOGLETEST
   AND NOT EXISTS /usr/src/googletest AND NOT SPLITPHASE_DOWNLOAD)
  list(APPEND splitphase_costs "no googletest (Debian: googletest): no tests")
  return()
endif()
if(NOT TARGET GTest::gtest)
  if(NOT FETCHCONTENT_SOURCE_DIR_GOOGLETEST AND EXISTS /usr/src/googletest)
    set(FETCHCONTENT_SOURCE_DIR_GOOGLETEST /usr/src/googletest)
  endif()
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  splitphase_project(googletest gtest googletest https://github.com/google/googletest v1.14.0)
  if(NOT TARGET GTest::gtest)
    add_library(GTest::gtest ALIAS gtest)
  endif()
endif()

# test_part(NAME FILE...): what several test programs share.
function(test_part name)
  list(TRANSFORM ARGN PREPEND tests/)
  add_library(test_${name} STATIC ${ARGN})
  target_link_libraries(test_${name}
    PUBLIC splitphase_flags splitphase_dependencies splitphase_static GTest::gtest)
endfunction()

test_part(support support/seed.cc support/text.cc support/free_port.cc support/side_channel.cc
  support/job_gtest.cc shmem/in_child.cc)
test_part(main support/seeded_main.cc)
test_part(job_main support/job_main.cc)
test_part(splitc_main support/splitc_main.cc)

add_custom_target(splitphase_tests DEPENDS splitcrun)

# test_program(NAME MAIN FOLDER FILE...): FOLDER/FILE.cc and so on as one program. MAIN is a part, or own_main.
function(test_program name main folder)
  list(TRANSFORM ARGN REPLACE "(.+)" "tests/${folder}/\\1.cc" OUTPUT_VARIABLE sources)
  add_executable(${name} ${sources})
  splitphase_rooms(${sources})
  if(NOT main STREQUAL "own_main")
    target_link_libraries(${name} PRIVATE test_${main})
  endif()
  target_link_libraries(${name} PRIVATE test_support)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests
    UNITY_BUILD ${SPLITPHASE_UNITY} UNITY_BUILD_MODE GROUP)
  add_dependencies(splitphase_tests ${name})
endfunction()

function(unit_test name)
  test_program(${name} main ${ARGN})
  add_test(NAME ${name} COMMAND ${name})
endfunction()

function(job_test name)
  test_program(${name} ${ARGN})
  add_test(NAME ${name}_n3 COMMAND splitcrun -n 3 --label $<TARGET_FILE:${name}>)
  set(names ${name}_n3)
  if(SPLITPHASE_HAS_LIBFABRIC)
    add_test(NAME ${name}_n4_m2 COMMAND splitcrun -n 4 --nodes 2 --label $<TARGET_FILE:${name}>)
    list(APPEND names ${name}_n4_m2)
  endif()
  set_tests_properties(${names} PROPERTIES PROCESSORS 2 TIMEOUT 600)
endfunction()

unit_test(shmem_memory_test shmem attention_test cross_memory_test node_test owned_test region_test)
unit_test(shmem_flags_test shmem arrivals_test doorbell_test flag_test ring_test)
unit_test(shmem_mailbox_test shmem
  mailbox_close_test mailbox_dead_test mailbox_rules_test mailbox_test)
unit_test(am_test am backoff_test call_sites_test object_pool_test packet_sinks_test
  published_admission_test staging_test tag_epochs_test ticks_test)
unit_test(am_collective_test am/collective schedule_test)
unit_test(am_far_test am/far arrival_words_test small_accesses_test small_stores_test transfers_test)
unit_test(am_table_test am/table compact_rows_test node_rows_test sparse_table_test)
unit_test(am_trace_test am/trace clock_line_test flow_test json_test record_test)
unit_test(am_job_test am/job code_test summary_test)
unit_test(splitc_test splitc heap_side_test layout_test store_lines_test)
if(SPLITPHASE_HAS_LIBFABRIC)
  unit_test(rdma_test rdma choose_test common_way_test connections_test datagram_test error_test
    interface_test memory_test open_fabric_test receive_window_test registration_cache_test sends_test)
  unit_test(tools_doctor_test tools/doctor
    cores_checks_test memory_checks_test network_checks_test report_test)
  target_link_libraries(tools_doctor_test PRIVATE splitphase_doctor)
endif()

job_test(messages_test job_main am credits_test gone_test matrix_test returned_test)
job_test(endpoints_test job_main am admission_test get_test in_handler_test rejected_reply_test
  retag_test rules_test segment_test stats_test untyped_test)
job_test(event_loop_test job_main am event_loop_test)
job_test(prepared_test job_main am prepared_test)
job_test(splitc_memory_test splitc_main splitc access_test array_test atomic_test heap_test
  pointer_test store_test sync_test word_atomic_test)
job_test(splitc_collectives_test splitc_main splitc collective_test mismatch_test random_calls_test reduce_test started_test)
job_test(splitc_statics_test own_main splitc statics_test)
job_test(splitc_threads_test own_main splitc thread_channels_test threads_test)
job_test(splitc_team_test splitc_main splitc team_ahead team_refused team_test)
