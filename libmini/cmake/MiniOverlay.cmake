# Overlays: folders whose files are compiled in the place of ours with the same path.
#
#     work/libmini/data/partition.cpp     the learner's own, of which git knows nothing
#     build/mine/07/...                   the same for the check of lab 07: its regions alone
#     build/schemata/...                  what labs/lab dev check generates
#
# An overlay's files of one room are one object library. Its objects come first on the link line,
# so the linker has no reason to take ours out of libmini_data.a. Nothing of the library is compiled
# twice, and a deleted file goes back to ours at the next build.
#
# A check's own files and the files under check have sanitizers; the rest of the library is the one
# that the demo has built, so that a learner waits for a handful of files only.

set(MINI_WORK_WITHOUT "" CACHE STRING
    "Files of build/mine that labs/lab leaves out, as they do not compile: 07/libmini/a.cpp")

# mini_has_region(<out> <file>): whether a learner writes some of it, or an overlay replaces it.
function(mini_has_region out file)
    set(has_region NO)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${file})
    file(STRINGS ${file} marker REGEX "// \\[lab[0-9][0-9]\\." LIMIT_COUNT 1)
    if(marker OR EXISTS ${PROJECT_SOURCE_DIR}/work/${path})
        set(has_region YES)
    endif()
    set(${out} ${has_region} PARENT_SCOPE)
endfunction()

# mini_overlay_files(<out> <folder> <place>): the .cpp files below <folder>/<place>.
function(mini_overlay_files out folder place)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${folder}/${place}/*.cpp)
    list(FILTER found EXCLUDE REGEX "/\\.[^/]*$")  # an editor's hidden files
    foreach(left_out ${MINI_WORK_WITHOUT})
        list(REMOVE_ITEM found ${PROJECT_SOURCE_DIR}/build/mine/${left_out})
    endforeach()
    set(${out} ${found} PARENT_SCOPE)
endfunction()

# How an overlay's files are compiled: their own folder's headers first, then those of the folder
# that they stand in for; with warnings that are no errors, as half-written code has unused names.
function(mini_overlay_flags folder)
    foreach(file ${ARGN})
        file(RELATIVE_PATH path ${folder} ${file})
        get_filename_component(place ${PROJECT_SOURCE_DIR}/${path} DIRECTORY)
        set_source_files_properties(${file} PROPERTIES
            INCLUDE_DIRECTORIES "${folder};${place}"
            COMPILE_OPTIONS "-Wno-error;-Wno-unused;-Wno-unused-parameter")
    endforeach()
endfunction()

# mini_room_of(<out> <path>): the room that a file of the library belongs to, such as "data"; or ""
# for a file of labs that is in no room.
function(mini_room_of out path)
    get_property(room_sources GLOBAL PROPERTY MINI_ROOM_SOURCES)
    get_property(rooms GLOBAL PROPERTY MINI_ROOMS)
    set(found core)
    set(depth 0)
    if(path MATCHES "^labs/" AND NOT ${PROJECT_SOURCE_DIR}/${path} IN_LIST room_sources)
        set(found "")
        set(rooms "")
    endif()
    foreach(room ${rooms})
        get_target_property(folder mini_${room} SOURCE_DIR)
        cmake_path(IS_PREFIX folder ${PROJECT_SOURCE_DIR}/${path} is_inside)
        string(LENGTH ${folder} length)
        if(is_inside AND length GREATER depth)
            set(found ${room})
            set(depth ${length})
        endif()
    endforeach()
    set(${out} "${found}" PARENT_SCOPE)
endfunction()

# mini_overlay(<kind> <folder> [mini_checked]): the files of rooms that lie in an overlay, new ones
# too, as one object library mini_<kind>_<room> for each room. Call it when all rooms are declared.
function(mini_overlay kind folder)
    mini_overlay_files(files ${folder} libmini)
    mini_overlay_files(labs_files ${folder} labs)
    list(APPEND files ${labs_files})
    mini_overlay_flags(${folder} ${files})
    foreach(file ${files})
        file(RELATIVE_PATH path ${folder} ${file})
        mini_room_of(room ${path})
        if(room AND NOT TARGET mini_${kind}_${room})
            add_library(mini_${kind}_${room} OBJECT EXCLUDE_FROM_ALL)
            target_link_libraries(mini_${kind}_${room} PUBLIC mini_${room} PRIVATE ${ARGN})
        endif()
        if(room)
            target_sources(mini_${kind}_${room} PRIVATE ${file})
        endif()
    endforeach()
endfunction()

# mini_rooms_of(<out> <targets>...): the rooms that these link, and those that they link in turn.
function(mini_rooms_of out)
    get_property(rooms GLOBAL PROPERTY MINI_ROOMS)
    set(found "")
    set(seen "")
    set(next ${ARGN})
    while(next)
        list(POP_FRONT next target)
        if(NOT TARGET ${target} OR target IN_LIST seen)
            continue()
        endif()
        list(APPEND seen ${target})
        string(REGEX REPLACE "^mini_" "" room "${target}")
        if(room IN_LIST rooms)
            list(APPEND found ${room})
        endif()
        get_target_property(below ${target} INTERFACE_LINK_LIBRARIES)
        if(below)
            string(REGEX REPLACE "\\$<LINK_ONLY:([^>]*)>" "\\1" below "${below}")
            list(APPEND next ${below})
        endif()
    endwhile()
    set(${out} ${found} PARENT_SCOPE)
endfunction()

# mini_link_overlay(<program> <kind> <needs>...): links an overlay's files of the rooms that the
# program needs.
function(mini_link_overlay program kind)
    mini_rooms_of(rooms ${ARGN})
    foreach(room ${rooms})
        target_link_libraries(${program} PRIVATE $<TARGET_NAME_IF_EXISTS:mini_${kind}_${room}>)
    endforeach()
endfunction()

# mini_overlaid(<out> <folder> <sources>...): the sources of this directory, each replaced by its
# stand-in in <folder> where there is one.
function(mini_overlaid out folder)
    file(RELATIVE_PATH here ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    mini_overlay_files(files ${folder} ${here})
    set(sources "")
    foreach(source ${ARGN})
        set(stand_in ${folder}/${here}/${source})
        if(stand_in IN_LIST files)
            mini_overlay_flags(${folder} ${stand_in})
            list(APPEND sources ${stand_in})
        else()
            list(APPEND sources ${source})
        endif()
    endforeach()
    set(${out} ${sources} PARENT_SCOPE)
endfunction()

# mini_program(train_mnist MINE ...) calls this: the program again as train_mnist_mine, with the
# learner's code inside. It is built only when it is asked for.
function(mini_program_mine name)
    cmake_parse_arguments(program "" "" "SOURCES;NEEDS" ${ARGN})
    mini_overlaid(sources ${PROJECT_SOURCE_DIR}/work ${program_SOURCES})
    add_executable(${name}_mine EXCLUDE_FROM_ALL ${sources})
    mini_link_overlay(${name}_mine work ${program_NEEDS})
    target_link_libraries(${name}_mine PRIVATE mini_flags ${program_NEEDS})
endfunction()

# mini_program(lab07_bug_hunt ...) calls this: the program again as lab07_bug_hunt_mine, from the
# learner's copy of the source but with libmini's own code; and with the repairs that labs/lab dev
# check applies, such as lab07_bug_hunt_repaired. They are built only when they are asked for.
function(mini_bug_hunt name)
    cmake_parse_arguments(program "" "" "SOURCES;NEEDS" ${ARGN})
    mini_overlaid(sources ${PROJECT_SOURCE_DIR}/work ${program_SOURCES})
    add_executable(${name}_mine EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(${name}_mine PRIVATE mini_flags ${program_NEEDS})
    string(SUBSTRING ${name} 3 2 number)
    file(GLOB variants CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/build/hunts/${number}/*.cpp)
    foreach(variant ${variants})
        cmake_path(GET variant STEM suffix)
        add_executable(${name}_${suffix} EXCLUDE_FROM_ALL ${variant})
        target_link_libraries(${name}_${suffix} PRIVATE mini_flags ${program_NEEDS})
    endforeach()
endfunction()

# mini_lab_check(07 test.cpp [more.cpp] NEEDS mini_data): what `labs/lab check 7` runs, as
# lab07_check with the learner's code and as lab07_schemata with every mutant inside. Both are
# built only when they are asked for, and share the objects of files that no overlay replaces.
# NEEDS are the rooms that the tests use, and no more.
function(mini_lab_check number)
    if(NOT MINI_TESTS)
        return()
    endif()
    cmake_parse_arguments(check "" "" "NEEDS" ${ARGN})
    set(overlaid "")
    set(shared ${PROJECT_SOURCE_DIR}/labs/check/watch.cpp)
    foreach(source ${check_UNPARSED_ARGUMENTS})
        mini_has_region(has_region ${CMAKE_CURRENT_SOURCE_DIR}/${source})
        if(has_region)
            list(APPEND overlaid ${source})
        else()
            list(APPEND shared ${source})
        endif()
    endforeach()
    add_library(lab${number}_tests OBJECT EXCLUDE_FROM_ALL ${shared})
    set_target_properties(lab${number}_tests PROPERTIES MINI_TEST YES)
    target_link_libraries(lab${number}_tests PRIVATE mini_checked mini_test_main ${check_NEEDS})
    set_property(GLOBAL APPEND PROPERTY MINI_LAB_NUMBERS ${number})
    set(overlay_of_check check${number})
    set(overlay_of_schemata schemata)
    set(folder_of_check ${PROJECT_SOURCE_DIR}/build/mine/${number})
    set(folder_of_schemata ${PROJECT_SOURCE_DIR}/build/schemata)
    foreach(kind check schemata)
        mini_overlaid(sources ${folder_of_${kind}} ${overlaid})
        add_executable(lab${number}_${kind} EXCLUDE_FROM_ALL
            ${sources} $<TARGET_OBJECTS:lab${number}_tests>)
        mini_link_overlay(lab${number}_${kind} ${overlay_of_${kind}} ${check_NEEDS})
        target_link_libraries(lab${number}_${kind} PRIVATE
            mini_checked mini_test_main ${check_NEEDS})
    endforeach()

    # The last step of `cmake --workflow --preset lab07`; plain ctest does not run it.
    find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
    add_test(NAME "lab${number}" CONFIGURATIONS lab
        COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/labs/lab_tool check ${number}
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()
