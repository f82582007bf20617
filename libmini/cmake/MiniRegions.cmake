# The files that learners write some of (the regions of labs/README.md), and those that include such
# a header. Both can be replaced, so they are not compiled in one batch with other files.
#
#     libmini/data/partition.cpp        // [lab07.1] ...      has a region
#     libmini/kernels/cuda/team.hpp     // [lab06.4] ...      a header with a region
#     libmini/kernels/cuda/norm.cu      #include it           is compiled again with the learner's

# mini_find(<out> <grep's options>...): the files of libmini and labs, as paths in the repository.
function(mini_find out)
    execute_process(COMMAND grep -r -l ${ARGN} libmini labs
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE found ERROR_QUIET)
    string(STRIP "${found}" found)
    string(REPLACE "\n" ";" found "${found}")
    set(${out} ${found} PARENT_SCOPE)
endfunction()

# mini_includers(<out> <paths>...): the files that include one of these headers, directly or through
# other headers.
function(mini_includers out)
    set(found "")
    set(next ${ARGN})
    while(next)
        list(TRANSFORM next REPLACE "(.+)" "-e#include \"\\1\"")
        mini_find(files -F ${next} --include=*.hpp --include=*.cuh --include=*.cpp --include=*.cu)
        list(REMOVE_ITEM files ${found} ${ARGN})
        list(APPEND found ${files})
        set(next ${files})
        list(FILTER next INCLUDE REGEX "\\.(hpp|cuh)$")
    endwhile()
    set(${out} ${found} PARENT_SCOPE)
endfunction()

# The dot stands for "[": CMake does not separate list elements inside of an open bracket.
mini_find(MINI_REGION_HEADERS -E "^ *// .lab[0-9][0-9]\\." --include=*.hpp --include=*.cuh)
mini_includers(MINI_REGION_INCLUDERS ${MINI_REGION_HEADERS})

# mini_lab_of(<out> <file>): the lab whose regions a source has, such as "07", or "".
function(mini_lab_of out file)
    set(lab "")
    file(STRINGS ${file} marker REGEX "// \\[lab[0-9][0-9]\\." LIMIT_COUNT 1)
    if(marker MATCHES "lab([0-9][0-9])")
        set(lab ${CMAKE_MATCH_1})
    endif()
    set(${out} "${lab}" PARENT_SCOPE)
endfunction()

# mini_has_region(<out> <file>): whether a learner writes some of it, or of a header that it
# includes; or whether a file of work/ replaces it.
function(mini_has_region out file)
    set(has_region NO)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${file})
    mini_lab_of(lab ${file})
    if(lab OR path IN_LIST MINI_REGION_INCLUDERS OR EXISTS ${PROJECT_SOURCE_DIR}/work/${path})
        set(has_region YES)
    endif()
    set(${out} ${has_region} PARENT_SCOPE)
endfunction()

# mini_sort_into_batches(<target> <size>): the batches that a target's sources are compiled in, of at
# most <size> files. The linker takes or leaves an object file as a whole, so the files of one lab,
# which an overlay replaces together, are a batch; files that are replaced singly stay alone.
function(mini_sort_into_batches target size)
    mini_source_files(files ${target})
    set(count 0)
    foreach(file ${files})
        mini_lab_of(lab ${file})
        mini_has_region(has_region ${file})
        if(lab)
            set(batch lab${lab})
        elseif(has_region)
            continue()
        else()
            math(EXPR batch "${count} / ${size}")
            math(EXPR count "${count} + 1")
        endif()
        set_source_files_properties(${file} TARGET_DIRECTORY ${target}
            PROPERTIES UNITY_GROUP ${batch})
    endforeach()
endfunction()

# mini_source_files(<out> <target>): the absolute paths of a target's sources.
function(mini_source_files out target)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    set(files "")
    foreach(source ${sources})
        if(NOT source MATCHES "^\\$<")
            cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
            list(APPEND files ${source})
        endif()
    endforeach()
    set(${out} ${files} PARENT_SCOPE)
endfunction()
