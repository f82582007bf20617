# The programs that labs/lab builds for a lab: its check, and its bug hunt.

# mini_bug_hunt(lab07_bug_hunt ...), called by mini_program: declares the program
# lab07_bug_hunt_mine from the learner's copy of the source and libmini's own code, and
# one program for each version of the source that labs/lab dev check writes, such as
# lab07_bug_hunt_repaired with all repairs. They are built only if requested by name.
function(mini_bug_hunt name)
    cmake_parse_arguments(program "" "" "SOURCES;NEEDS" ${ARGN})
    add_executable(${name}_mine EXCLUDE_FROM_ALL)
    mini_precompiled(${name}_mine mini_headers)
    mini_overlaid(${name}_mine ${MINI_WORK} ${program_SOURCES})
    target_link_libraries(${name}_mine PRIVATE mini_flags ${program_NEEDS} mini_half_written)
    string(SUBSTRING ${name} 3 2 number)
    set(variants ${PROJECT_SOURCE_DIR}/build/hunts/${number}/*)
    file(GLOB variants CONFIGURE_DEPENDS ${variants}.cpp ${variants}.cu)
    foreach(variant ${variants})
        cmake_path(GET variant STEM suffix)
        add_executable(${name}_${suffix} EXCLUDE_FROM_ALL)
        mini_precompiled(${name}_${suffix} mini_headers)
        mini_add_sources(${name}_${suffix} ${variant})
        target_link_libraries(${name}_${suffix} PRIVATE mini_flags ${program_NEEDS})
    endforeach()
endfunction()

# mini_bug_hunt_symptom(07 "<regular expression>"): adds a test that lab 07's bug hunt
# prints its symptom, that is, that the bugs are still in the program.
function(mini_bug_hunt_symptom number symptom)
    if(NOT MINI_TESTS)
        return()
    endif()
    set(test "lab${number}: the bug hunt has its symptom")
    add_test(NAME ${test} COMMAND lab${number}_bug_hunt)
    set_tests_properties(${test} PROPERTIES
        TIMEOUT 60 LABELS e2e PASS_REGULAR_EXPRESSION "${symptom}")
endfunction()

# mini_every_check(): declares the objects that every lab's check has, with the flags of the
# labs' tests.
function(mini_every_check)
    set(check ${PROJECT_SOURCE_DIR}/labs/check)
    add_library(mini_every_check OBJECT EXCLUDE_FROM_ALL ${check}/schemata.cpp ${check}/watch.cpp)
    set_target_properties(mini_every_check PROPERTIES MINI_TEST YES)
    target_link_libraries(mini_every_check PRIVATE mini_checked mini_test_main mini_flags)
    if(TARGET mini_checked_headers)
        target_link_libraries(mini_every_check PRIVATE fmt::fmt)
        target_precompile_headers(mini_every_check PRIVATE
            ${PROJECT_SOURCE_DIR}/tests/support/catch.hpp ${MINI_PRECOMPILED_HEADERS})
        # It includes Catch2 with other macros.
        set_source_files_properties(${check}/watch.cpp TARGET_DIRECTORY mini_every_check
            PROPERTIES SKIP_PRECOMPILE_HEADERS YES)
    endif()
endfunction()

# mini_checked_threads(11 test_locks.cpp LEARNERS simple_group.cpp NEEDS mini_collectives):
# declares the program lab11_check_threads, of a test and of the learner's files, with the
# thread sanitizer, which cannot be in one program with the address sanitizer. A case of
# lab11_check runs it. NEEDS must not have the files' own component: functions that the files do
# not define are stubs (mini_not_written). Likewise lab11_schemata_threads.
function(mini_checked_threads number test)
    if(NOT MINI_TESTS OR MINI_SANITIZE)
        return()
    endif()
    cmake_parse_arguments(threads "" "" "LEARNERS;NEEDS" ${ARGN})
    file(RELATIVE_PATH here ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    set(folder_of_check ${PROJECT_SOURCE_DIR}/build/mine/${number})
    set(folder_of_schemata ${PROJECT_SOURCE_DIR}/build/schemata)
    foreach(kind check schemata)
        set(program lab${number}_${kind}_threads)
        add_executable(${program} EXCLUDE_FROM_ALL ${test})
        mini_overlaid(${program} ${folder_of_${kind}} ${threads_LEARNERS})
        target_compile_options(${program} PRIVATE -g -O1 -fsanitize=thread)
        target_link_options(${program} PRIVATE -fsanitize=thread)
        target_link_libraries(${program} PRIVATE mini_flags)
        if(kind STREQUAL "schemata")
            target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/labs/check/schemata.cpp)
        endif()
        foreach(file ${threads_LEARNERS})
            mini_component_of(component ${here}/${file})
            set(stubs mini_check${number}_${component}_not_written)
            if(component AND kind STREQUAL "check")
                target_link_libraries(${program} PRIVATE $<TARGET_NAME_IF_EXISTS:${stubs}>)
            endif()
        endforeach()
        target_link_libraries(${program} PRIVATE ${threads_NEEDS} mini_half_written)
        add_dependencies(lab${number}_${kind} ${program})
    endforeach()
endfunction()

# mini_lab_check(07 test.cpp [more.cpp] NEEDS mini_data): declares the two programs of a
# lab's tests: lab07_check with the learner's code, which `labs/lab check 7` runs, and
# lab07_schemata with all mutants. Both are built only if requested by name, and share the
# tests' object files. NEEDS lists only the components that the tests use.
function(mini_lab_check number)
    if(NOT MINI_TESTS)
        return()
    endif()
    if(NOT TARGET mini_every_check)
        mini_every_check()
    endif()
    cmake_parse_arguments(check "" "" "NEEDS" ${ARGN})
    add_library(lab${number}_tests OBJECT EXCLUDE_FROM_ALL ${check_UNPARSED_ARGUMENTS})
    mini_batches(lab${number}_tests 4)
    mini_precompiled(lab${number}_tests mini_every_check)
    set_target_properties(lab${number}_tests PROPERTIES MINI_TEST YES)
    target_link_libraries(lab${number}_tests PRIVATE mini_checked mini_test_main ${check_NEEDS})
    set_property(GLOBAL APPEND PROPERTY MINI_LAB_NUMBERS ${number})
    set(overlay_of_check check${number})
    set(overlay_of_schemata schemata)
    foreach(kind check schemata)
        add_executable(lab${number}_${kind} EXCLUDE_FROM_ALL
            $<TARGET_OBJECTS:mini_every_check> $<TARGET_OBJECTS:lab${number}_tests>)
        mini_link_overlay(lab${number}_${kind} ${overlay_of_${kind}} ${check_NEEDS})
        target_link_libraries(lab${number}_${kind} PRIVATE
            mini_checked mini_test_main ${check_NEEDS} mini_half_written)
    endforeach()
endfunction()
