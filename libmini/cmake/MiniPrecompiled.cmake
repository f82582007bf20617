# Precompiled headers. GCC 12 compiles a program of 100 lines in 2.9 seconds, of which it
# reads the headers of the standard library and of fmt for 1.6 (one core of an AMD EPYC,
# 2026-11-26). Clang reads of them only what a file uses, so it gets more of them: with
# nlohmann's, GCC would take a second longer for each file. A build by a newer GCC, by GCC
# with sanitizers, or with ccache (CMAKE_CXX_COMPILER_LAUNCHER) has none.

set(MINI_PRECOMPILED NO)
if(NOT CMAKE_CXX_COMPILER_LAUNCHER AND (CMAKE_CXX_COMPILER_ID STREQUAL "Clang"
        OR (CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT MINI_SANITIZE
            AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)))
    set(MINI_PRECOMPILED YES)
endif()

set(MINI_PRECOMPILED_HEADERS <algorithm> <array> <atomic> <chrono> <cmath>
    <condition_variable> <cstdint> <cstdlib> <cstring> <exception> <functional> <map> <memory>
    <mutex> <numeric> <optional> <set> <span> <sstream> <stdexcept> <string> <string_view>
    <thread> <tuple> <type_traits> <utility> <variant> <vector> <fmt/format.h>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    list(APPEND MINI_PRECOMPILED_HEADERS <filesystem> <random> <nlohmann/json.hpp>)
endif()

# GCC gives false warnings in code that it inlines from the standard library: GCC 12 mostly
# with precompiled headers, GCC 14 where a vector of one float is copied.
set(MINI_FALSE_WARNINGS -Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict
    -Wno-stringop-overflow -Wno-stringop-overread)

# mini_precompile(<owner> <libraries>...): declares <owner>, whose headers are precompiled
# with the flags of the libraries.
function(mini_precompile owner)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "")
    add_library(${owner} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(${owner} PRIVATE mini_flags fmt::fmt ${ARGN})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        target_link_libraries(${owner} PRIVATE nlohmann_json::nlohmann_json)
    endif()
    target_precompile_headers(${owner} PRIVATE ${MINI_PRECOMPILED_HEADERS})
endfunction()

# mini_precompiled(<target> <owner>): compiles the files of a target with the precompiled
# headers of <owner>, if it has any; files with options of their own without.
function(mini_precompiled target owner)
    set(headers "")
    if(TARGET ${owner})
        get_target_property(headers ${owner} PRECOMPILE_HEADERS)
    endif()
    if(headers)
        target_precompile_headers(${target} REUSE_FROM ${owner})
        target_compile_definitions(${target} PRIVATE  # GCC compares them
            $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
        target_compile_options(${target} PRIVATE
            "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${MINI_FALSE_WARNINGS}>")
        cmake_language(EVAL CODE "cmake_language(DEFER CALL mini_skip_precompiled ${target})")
    endif()
endfunction()

function(mini_skip_precompiled target)
    get_target_property(sources ${target} SOURCES)
    foreach(source ${sources})
        get_source_file_property(options ${source} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
        if(options)
            set_source_files_properties(${source} TARGET_DIRECTORY ${target}
                PROPERTIES SKIP_PRECOMPILE_HEADERS YES)
        endif()
    endforeach()
endfunction()
