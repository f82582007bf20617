# The files that learners write some of (the regions of labs/README.md), and those that include such
# a header. Both can be replaced: they are compiled one by one, never in batches.
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

# mini_has_region(<out> <file>): whether a learner writes some of it, or of a header that it
# includes; or whether a file of work/ replaces it.
function(mini_has_region out file)
    set(has_region NO)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${file})
    file(STRINGS ${file} marker REGEX "// \\[lab[0-9][0-9]\\." LIMIT_COUNT 1)
    if(marker OR path IN_LIST MINI_REGION_INCLUDERS OR EXISTS ${PROJECT_SOURCE_DIR}/work/${path})
        set(has_region YES)
    endif()
    set(${out} ${has_region} PARENT_SCOPE)
endfunction()

# mini_keep_regions_alone(<target>): takes sources that can be replaced out of its batches: the
# linker takes or leaves an object file as a whole.
function(mini_keep_regions_alone target)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    foreach(source ${sources})
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} OUTPUT_VARIABLE file)
        mini_has_region(has_region ${file})
        if(has_region)
            set_source_files_properties(${file} TARGET_DIRECTORY ${target}
                PROPERTIES SKIP_UNITY_BUILD_INCLUSION YES)
        endif()
    endforeach()
endfunction()
