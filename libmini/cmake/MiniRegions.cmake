# Finds the files with regions, which learners write (docs/CONTRIBUTING.md). Overlays
# replace them, so no batch contains both such files and others.
#
#     libmini/data/partition.cpp     // [lab07.1] ...

# mini_lab_of(<out> <file>): sets <out> to the lab whose regions a source has, such as "07",
# or to "".
function(mini_lab_of out file)
    set(lab "")
    file(STRINGS ${file} marker REGEX "// \\[lab[0-9][0-9]\\." LIMIT_COUNT 1)
    if(marker MATCHES "lab([0-9][0-9])")
        set(lab ${CMAKE_MATCH_1})
    endif()
    set(${out} "${lab}" PARENT_SCOPE)
endfunction()

# mini_sort_into_batches(<target> <size>): sorts a target's sources into batches of at most
# <size> files. The linker takes either all of an object file or nothing. An overlay replaces
# the files of one lab together, so they form one batch.
function(mini_sort_into_batches target size)
    mini_source_files(files ${target})
    set(count 0)
    foreach(file ${files})
        mini_lab_of(lab ${file})
        if(lab)
            set(batch lab${lab})
        else()
            math(EXPR batch "${count} / ${size}")
            math(EXPR count "${count} + 1")
        endif()
        set_source_files_properties(${file} TARGET_DIRECTORY ${target}
            PROPERTIES UNITY_GROUP ${batch})
    endforeach()
endfunction()

# mini_source_files(<out> <target>): sets <out> to the absolute paths of a target's sources,
# without those that the build makes.
function(mini_source_files out target)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    set(files "")
    foreach(source ${sources})
        cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${source}" is_made)
        if(NOT is_made AND NOT source MATCHES "^\\$<")
            cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
            list(APPEND files ${source})
        endif()
    endforeach()
    set(${out} ${files} PARENT_SCOPE)
endfunction()
