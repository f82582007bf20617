# Overlays: folders whose files are compiled in the place of ours with the same path.
#
#     work/libmini/data/partition.cpp     the learner's own, of which git knows nothing
#     build/schemata/...                  what labs/lab dev check generates
#
# An overlay's files of rooms are one object library. Its objects come first on the link line, so
# the linker has no reason to take ours out of libmini_data.a. Nothing of the library is compiled
# twice, and a deleted file goes back to ours at the next build.

set(MINI_WORK_WITHOUT "" CACHE STRING
    "Files of work/ that labs/lab leaves out because they do not compile, such as libmini/a.cpp")

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
        list(REMOVE_ITEM found ${PROJECT_SOURCE_DIR}/work/${left_out})
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

# mini_overlay(<name> <folder>): the object library of an overlay's files of libmini, new ones
# too, and of those of rooms in labs. Call it when all rooms are declared.
function(mini_overlay name folder)
    mini_overlay_files(files ${folder} libmini)
    mini_overlay_files(labs_files ${folder} labs)
    get_property(room_sources GLOBAL PROPERTY MINI_ROOM_SOURCES)
    foreach(file ${labs_files})
        file(RELATIVE_PATH path ${folder} ${file})
        if(${PROJECT_SOURCE_DIR}/${path} IN_LIST room_sources)
            list(APPEND files ${file})
        endif()
    endforeach()
    mini_overlay_flags(${folder} ${files})
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "// No files.\n")
    add_library(${name} OBJECT EXCLUDE_FROM_ALL
        ${files} ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
    target_link_libraries(${name} PUBLIC libmini::libmini)
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
    target_link_libraries(${name}_mine PRIVATE mini_flags mini_work ${program_NEEDS})
endfunction()

# mini_lab_check(07 test.cpp [more.cpp] NEEDS libmini): what `labs/lab check 7` runs, as
# lab07_check with the learner's code and as lab07_schemata with every mutant inside. Both are
# built only when they are asked for.
function(mini_lab_check number)
    if(NOT MINI_TESTS)
        return()
    endif()
    cmake_parse_arguments(check "" "" "NEEDS" ${ARGN})
    foreach(kind check schemata)
        mini_overlaid(sources ${MINI_OVERLAY_OF_${kind}} ${check_UNPARSED_ARGUMENTS})
        add_executable(lab${number}_${kind} EXCLUDE_FROM_ALL
            ${sources} ${PROJECT_SOURCE_DIR}/labs/check/watch.cpp)
        target_link_libraries(lab${number}_${kind} PRIVATE
            mini_test_main mini_${MINI_OBJECTS_OF_${kind}} ${check_NEEDS})
    endforeach()

    # The last step of `cmake --workflow --preset lab07`; plain ctest does not run it.
    find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
    add_test(NAME "lab${number}" CONFIGURATIONS lab
        COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/labs/lab_tool check ${number}
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()

set(MINI_OVERLAY_OF_check ${PROJECT_SOURCE_DIR}/work)
set(MINI_OBJECTS_OF_check work)
set(MINI_OVERLAY_OF_schemata ${PROJECT_SOURCE_DIR}/build/schemata)
set(MINI_OBJECTS_OF_schemata schemata)
