# Overlays: folders whose files replace libmini's files with the same path.
#
#     work/07-partition/partition.cpp     the learner's file, which git ignores
#     build/mine/07/...                   includes it, for the check of lab 07
#     build/mine/work/...                 includes it, for programs with the learner's code
#     build/schemata/...                  the files that labs/lab dev check generates
#
# An overlay's files of one component form one object library. Its objects precede
# libmini_data.a on the link line, so the linker does not take libmini's objects from the
# archive. In the archive the files of one lab are one object (MiniRegions), so libmini's
# files are added to the library for those of the lab that the overlay lacks. If a file is
# deleted from the overlay, the next build uses libmini's file.
#
# Headers that a learner has added lie beside the files that include them.
#
# The functions that the overlay's files do not define are not taken from libmini: they
# throw NotImplemented (labs/lab_tool/not_written.py).
#
# A check's tests and the files under check are compiled with sanitizers. The rest of the
# library comes from the demo's build, so a learner waits for a few files only.

# The overlay build/mine/work is written when a file in work/ is added or deleted, or one with
# kernels is changed, which is copied.
set(MINI_WORK ${PROJECT_SOURCE_DIR}/build/mine/work)
file(GLOB mine CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/work/*/*.cpp)
file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/work/*/*.cu)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernels})
if(PROJECT_IS_TOP_LEVEL AND (mine OR kernels OR EXISTS ${MINI_WORK}))
    execute_process(COMMAND ${Python3_EXECUTABLE} -B -m lab_tool.projection
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/labs COMMAND_ERROR_IS_FATAL ANY)
endif()

# mini_overlay_files(<out> <folder> <place>): sets <out> to the files to compile below
# <folder>/<place>.
function(mini_overlay_files out folder place)
    set(patterns ${folder}/${place}/*.cpp)
    if(NOT MINI_CUDA_MODE STREQUAL "OFF")
        list(APPEND patterns ${folder}/${place}/*.cu)
    endif()
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${patterns})
    list(FILTER found EXCLUDE REGEX "/\\.[^/]*$")  # an editor's hidden files
    set(${out} ${found} PARENT_SCOPE)
endfunction()

# mini_overlay_sources(<target> <component> <folder> <files>...): adds files to a target: an
# overlay's files, or libmini's files of the same batch. They are compiled with the options of
# libmini's files in <component>.
function(mini_overlay_sources target component folder)
    foreach(file ${ARGN})
        string(REPLACE "${folder}/" "${PROJECT_SOURCE_DIR}/" original ${file})
        mini_add_sources(${target} ${file})
        get_target_property(in_batches ${target} UNITY_BUILD)
        if(in_batches AND file MATCHES "\\.cpp$")
            mini_lab_of(lab ${file})
            if(lab)
                set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES
                    UNITY_GROUP lab${lab})
            endif()
        elseif(NOT file STREQUAL original)  # also search libmini's folder for headers
            get_filename_component(place ${original} DIRECTORY)
            set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES
                INCLUDE_DIRECTORIES "${folder};${place}")
        endif()
        get_source_file_property(options ${original} TARGET_DIRECTORY ${component} COMPILE_OPTIONS)
        if(options AND NOT file MATCHES "\\.cu$")
            set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES
                COMPILE_OPTIONS "${options}")
        endif()
    endforeach()
endfunction()

# mini_component_of(<out> <path>): sets <out> to the component of a file, such as "data"; to "" for
# a file of labs that is in no component.
function(mini_component_of out path)
    get_property(component_sources GLOBAL PROPERTY MINI_COMPONENT_SOURCES)
    get_property(components GLOBAL PROPERTY MINI_ALL_COMPONENTS)
    set(found core)
    set(depth 0)
    if(path MATCHES "^labs/" AND NOT ${PROJECT_SOURCE_DIR}/${path} IN_LIST component_sources)
        set(found "")
        set(components "")
    endif()
    foreach(component ${components})
        get_target_property(folder mini_${component} SOURCE_DIR)
        cmake_path(IS_PREFIX folder ${PROJECT_SOURCE_DIR}/${path} is_inside)
        string(LENGTH ${folder} length)
        if(is_inside AND length GREATER depth)
            set(found ${component})
            set(depth ${length})
        endif()
    endforeach()
    set(${out} "${found}" PARENT_SCOPE)
endfunction()

# mini_overlay_lab_mates(<out> <replaced> <folder> <files>...): sets <out> to the sources of
# components that share a batch with a source that one of the files replaces, and that none of them
# replaces; <replaced> to the batches, such as data/07.
function(mini_overlay_lab_mates out replaced folder)
    set(found "")
    set(done "")
    foreach(file ${ARGN})
        string(REPLACE "${folder}/" "" path ${file})
        string(REPLACE "${PROJECT_SOURCE_DIR}/" "" path ${path})
        mini_component_of(component ${path})
        if(NOT component OR NOT EXISTS ${PROJECT_SOURCE_DIR}/${path})
            continue()
        endif()
        mini_lab_of(lab ${PROJECT_SOURCE_DIR}/${path})
        if(NOT lab OR ${component}/${lab} IN_LIST done)
            continue()
        endif()
        list(APPEND done ${component}/${lab})
        mini_source_files(sources mini_${component})
        foreach(source ${sources})
            mini_lab_of(other_lab ${source})
            string(REPLACE "${PROJECT_SOURCE_DIR}/" "${folder}/" stand_in ${source})
            if(other_lab STREQUAL lab AND NOT stand_in IN_LIST ARGN AND NOT source IN_LIST ARGN)
                list(APPEND found ${source})
            endif()
        endforeach()
    endforeach()
    set(${out} ${found} PARENT_SCOPE)
    set(${replaced} ${done} PARENT_SCOPE)
endfunction()

# mini_not_written(<kind> <component>/<lab>...): declares for each of the components the object library
# mini_<kind>_<component>_not_written: stubs for the functions of libmini's files with regions of
# the labs that the overlay's files do not define.
function(mini_not_written kind)
    set(mine "")
    get_property(components GLOBAL PROPERTY MINI_ALL_COMPONENTS)
    foreach(component ${components})
        if(TARGET mini_${kind}_${component})
            list(APPEND mine $<TARGET_OBJECTS:mini_${kind}_${component}>)
        endif()
    endforeach()
    foreach(component ${components})
        set(labs ${ARGN})
        list(FILTER labs INCLUDE REGEX "^${component}/")
        if(NOT labs)
            continue()
        endif()
        list(TRANSFORM labs REPLACE ".*/" "")
        set(sources "")
        mini_source_files(files mini_${component})
        foreach(file ${files})
            mini_lab_of(lab ${file})
            if(lab AND lab IN_LIST labs)
                file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${file})
                list(APPEND sources ${path})
            endif()
        endforeach()
        list(TRANSFORM labs REPLACE ".+"
            "${PROJECT_SOURCE_DIR}/course/mini_${component}.lab\\0.*.o" OUTPUT_VARIABLE sealed)
        file(GLOB sealed CONFIGURE_DEPENDS ${sealed})
        set(place ${PROJECT_BINARY_DIR}/not_written/${kind}_${component})
        file(GENERATE OUTPUT ${place}.txt CONTENT "labs=${labs}
sources=${sources}
mine=${mine}
theirs=$<TARGET_OBJECTS:mini_${component}>;${sealed}
stubs=${place}.cpp
rest=${place}.o
compiler=${CMAKE_CXX_COMPILER}
nm=${CMAKE_NM}
objcopy=${CMAKE_OBJCOPY}
linker=${CMAKE_LINKER}
")
        add_custom_command(OUTPUT ${place}.cpp ${place}.o
            COMMAND Python3::Interpreter -B -m lab_tool.not_written ${place}.txt
            DEPENDS ${mine} ${sealed} $<TARGET_FILE:mini_${component}> ${place}.txt
                ${PROJECT_SOURCE_DIR}/labs/lab_tool/not_written.py
            WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/labs
            COMMENT "Functions of ${component} that are not written" VERBATIM)
        set(target mini_${kind}_${component}_not_written)
        add_library(${target} OBJECT EXCLUDE_FROM_ALL ${place}.cpp)
        target_link_libraries(${target} PRIVATE mini_flags)
        set_target_properties(${target} PROPERTIES INTERFACE_LINK_DEPENDS ${place}.o)
    endforeach()
endfunction()

# mini_overlay(<kind> <folder> [IN_BATCHES] [mini_checked]): declares an object library
# mini_<kind>_<component> for each component of which the overlay has files; they may be new files.
# With IN_BATCHES, a lab's files of a component are compiled together, as in the component; a
# learner's files are not, because two of them may define one name. The target mini_<kind>_own is
# all their objects. Call it after all components are declared.
function(mini_overlay kind folder)
    cmake_parse_arguments(PARSE_ARGV 2 overlay "IN_BATCHES" "" "")
    mini_overlay_files(files ${folder} libmini)
    mini_overlay_files(labs_files ${folder} labs)
    list(APPEND files ${labs_files})
    mini_overlay_lab_mates(lab_mates replaced ${folder} ${files})
    foreach(file ${files} ${lab_mates})
        string(REPLACE "${folder}/" "" path ${file})
        string(REPLACE "${PROJECT_SOURCE_DIR}/" "" path ${path})
        mini_component_of(component ${path})
        if(component AND NOT TARGET mini_${kind}_${component})
            add_library(mini_${kind}_${component} OBJECT EXCLUDE_FROM_ALL)
            if(overlay_IN_BATCHES AND MINI_UNITY)
                set_target_properties(mini_${kind}_${component} PROPERTIES
                    UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
                target_compile_options(mini_${kind}_${component} PRIVATE
                    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
            endif()
            if(overlay_UNPARSED_ARGUMENTS)
                mini_precompiled(mini_${kind}_${component} mini_checked_headers)
            else()
                get_target_property(optimised mini_${component} MINI_OPTIMISED)
                mini_optimise(mini_${kind}_${component} ${optimised})
            endif()
            target_include_directories(mini_${kind}_${component} BEFORE PRIVATE ${folder})
            target_link_libraries(mini_${kind}_${component} PUBLIC mini_${component}
                PRIVATE ${overlay_UNPARSED_ARGUMENTS} mini_half_written)
            if(kind STREQUAL "schemata")
                target_link_libraries(mini_${kind}_${component} PRIVATE mini_line_numbers)
            endif()
            list(APPEND objects $<TARGET_OBJECTS:mini_${kind}_${component}>)
        endif()
        if(component)
            mini_overlay_sources(mini_${kind}_${component} mini_${component} ${folder} ${file})
        endif()
    endforeach()
    add_custom_target(mini_${kind}_own DEPENDS ${objects})
    if(NOT overlay_IN_BATCHES)
        mini_not_written(${kind} ${replaced})
    endif()
endfunction()

# mini_components_of(<out> <targets>...): sets <out> to the components among the targets and among
# all targets that they link, directly or indirectly.
function(mini_components_of out)
    get_property(components GLOBAL PROPERTY MINI_ALL_COMPONENTS)
    set(found "")
    set(seen "")
    set(next ${ARGN})
    while(next)
        list(POP_FRONT next target)
        if(NOT TARGET ${target} OR target IN_LIST seen)
            continue()
        endif()
        list(APPEND seen ${target})
        string(REGEX REPLACE "^mini_" "" component "${target}")
        if(component IN_LIST components)
            list(APPEND found ${component})
        endif()
        get_target_property(below ${target} INTERFACE_LINK_LIBRARIES)
        if(below)
            string(REGEX REPLACE "\\$<LINK_ONLY:([^>]*)>" "\\1" below "${below}")
            list(APPEND next ${below})
        endif()
    endwhile()
    set(${out} ${found} PARENT_SCOPE)
endfunction()

# mini_link_overlay(<program> <kind> <needs>...): links an overlay's object libraries of
# all components that the program needs, before the components themselves. libstdc++ comes first:
# an archive of the system, such as Catch2's, lacks the functions of std::string, and would take
# them from the first component that has a copy, together with the functions of its file.
function(mini_link_overlay program kind)
    target_link_libraries(${program} PRIVATE stdc++)
    mini_components_of(components ${ARGN})
    foreach(component ${components})
        set(stubs mini_${kind}_${component}_not_written)
        set(rest ${PROJECT_BINARY_DIR}/not_written/${kind}_${component}.o)
        target_link_libraries(${program} PRIVATE $<TARGET_NAME_IF_EXISTS:mini_${kind}_${component}>
            $<TARGET_NAME_IF_EXISTS:${stubs}> $<$<TARGET_EXISTS:${stubs}>:${rest}>)
    endforeach()
endfunction()

# mini_overlaid(<target> <folder> <sources>...): adds sources of the current directory to
# a target. If the overlay <folder> has a copy of a source, adds the copy instead. The
# target's files include the overlay's headers.
function(mini_overlaid target folder)
    file(RELATIVE_PATH here ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    mini_overlay_files(files ${folder} ${here})
    target_include_directories(${target} BEFORE PRIVATE ${folder})
    foreach(source ${ARGN})
        set(stand_in ${folder}/${here}/${source})
        if(stand_in IN_LIST files)
            mini_overlay_sources(${target} ${target} ${folder} ${stand_in})
        else()
            mini_add_sources(${target} ${CMAKE_CURRENT_SOURCE_DIR}/${source})
        endif()
    endforeach()
endfunction()

# mini_program_mine(train_mnist ...), called by mini_program(train_mnist MINE ...):
# declares the program train_mnist_mine, which uses the learner's code. It is built only
# if requested by name.
function(mini_program_mine name)
    cmake_parse_arguments(program "" "" "SOURCES;NEEDS" ${ARGN})
    add_executable(${name}_mine EXCLUDE_FROM_ALL)
    get_target_property(optimised ${name} MINI_OPTIMISED)
    mini_optimise(${name}_mine ${optimised})
    mini_overlaid(${name}_mine ${MINI_WORK} ${program_SOURCES})
    mini_link_overlay(${name}_mine work ${program_NEEDS})
    target_link_libraries(${name}_mine PRIVATE mini_flags ${program_NEEDS} mini_half_written)
endfunction()
