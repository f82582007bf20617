# The compile flags of our own code, as the interface target mini_flags, and the two
# functions that every folder uses: mini_component (a part of the library) and mini_program
# (an executable).

include(${CMAKE_CURRENT_LIST_DIR}/MiniPrecompiled.cmake)

find_package(Threads REQUIRED)

add_library(mini_flags INTERFACE)
target_include_directories(mini_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(mini_flags INTERFACE Threads::Threads)

# Here what links a component has its flags; the targets of another project do not.
set(MINI_FLAGS_SCOPE PUBLIC)
if(NOT PROJECT_IS_TOP_LEVEL)
    set(MINI_FLAGS_SCOPE PRIVATE)
endif()

# What libmini asks of the code that includes its headers, in its own folders, as a part of
# another project, and installed; none of the flags below reach a user's targets.
# -ffp-contract=off: see below; the headers have inline code.
add_library(mini_usage INTERFACE)
target_include_directories(mini_usage INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
target_compile_features(mini_usage INTERFACE cxx_std_20)
target_compile_options(mini_usage INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
target_link_libraries(mini_usage INTERFACE Threads::Threads)

# -ffp-contract=off: a fused multiply-add would change the last bit of random numbers,
# which then differ from PyTorch's. Eigen emits fused multiply-adds itself; other code
# calls std::fma. (nvcc may fuse: results on a GPU differ from the CPU's in any case.)
#
# Warnings are errors if CMAKE_COMPILE_WARNING_AS_ERROR is on, as in our presets: another
# compiler may have other warnings. CMake's own flag would come after the -Wno-error of a
# learner's files (mini_half_written), and so is replaced here.
set(cxx_flags -Wall -Wextra)
set(cuda_flags -Xcompiler=-Wall,-Wextra)
if(CMAKE_COMPILE_WARNING_AS_ERROR)
    list(APPEND cxx_flags -Werror)
    list(PREPEND cuda_flags -Werror=all-warnings)
    set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
endif()
list(APPEND cxx_flags -ffp-contract=off)
target_compile_options(mini_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${cxx_flags}>"
    "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_flags}>"
    # A kernel whose registers spill to local memory is an error in optimised builds.
    "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<NOT:$<CONFIG:Debug>>>:-Xptxas=-warn-spills>")

# Debug builds are for every processor, because sanitizers make them slow anyway; builds
# whose CMAKE_CXX_FLAGS name a processor are for this one.
option(MINI_NATIVE "Compile for this machine's processor; OFF: for every x86-64 or aarch64" ON)
if(MINI_NATIVE AND NOT CMAKE_CXX_FLAGS MATCHES "-march=")
    target_compile_options(mini_flags INTERFACE
        $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-march=native>)
endif()

# GCC 12 knows no Zen 4, and tunes for Zen 3 there: a step of the ConvNet takes 4 to 9 %
# longer than with the tuning for all processors (batch 64 and 128, one thread, 8 pairs).
# All code has the same flag, since GCC takes precompiled headers only with their own flags.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(mini_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-mtune=generic>)
endif()

# GCC collects its garbage less often: a tenth less time to compile, and a quarter more memory.
target_compile_options(mini_flags INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)

# If a faster linker is installed, use it: linking takes a third of the time. A cross compiler
# finds no ld.lld, only a linker whose name begins with its target.
find_program(MINI_LINKER NAMES mold ld.lld)
mark_as_advanced(MINI_LINKER)
if(MINI_LINKER AND NOT CMAKE_CROSSCOMPILING AND PROJECT_IS_TOP_LEVEL)
    cmake_path(GET MINI_LINKER FILENAME linker)
    string(REPLACE "ld." "" linker ${linker})
    target_link_options(mini_flags INTERFACE $<$<LINK_LANGUAGE:CXX>:-fuse-ld=${linker}>)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
    message(FATAL_ERROR "This is GCC ${CMAKE_CXX_COMPILER_VERSION}, but libmini needs GCC 12 or "
        "newer; Debian 12 and 13 have it")
endif()

# GCC 12 generates wrong constants with AVX-512: std::vector<int64_t>{1, 1, 0, 0} has the
# elements 1 1 1 1. The error is in the vectorisation of single assignments, which is
# turned off here; loops are still vectorised.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(mini_flags INTERFACE
        $<$<COMPILE_LANGUAGE:CXX>:-fno-tree-slp-vectorize>)
endif()

# Optimised builds compile with -Og, in four fifths of the time of -O1, except the components of a
# step and of a collective: these have the property MINI_OPTIMISED, and -O3. With -O1 in place of
# -Og a step, an epoch and an all-reduce take as long (batch 64 and 128; 4 B to 25 MiB; AMD EPYC,
# 2026-11-29). Debug builds compile these with -Og, because without optimisation their loops would
# take most of the tests' time. Tests have options of their own (tests/CMakeLists.txt).
set(is_test $<BOOL:$<TARGET_PROPERTY:MINI_TEST>>)
set(is_optimised $<BOOL:$<TARGET_PROPERTY:MINI_OPTIMISED>>)
target_compile_options(mini_flags INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>,$<NOT:${is_test}>>:$<IF:${is_optimised},-O3,-Og>>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Debug>,${is_optimised}>:-Og$<SEMICOLON>-g1>)

if(MINI_SANITIZE)
    # With sanitizers, GCC 12 wrongly reports uninitialized variables inside <functional>.
    target_compile_options(mini_flags INTERFACE
        $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
        -fsanitize=${MINI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(mini_flags INTERFACE -fsanitize=${MINI_SANITIZE})
endif()

# Targets with the property MINI_TEST are test code, which the address and undefined-behaviour
# sanitizers do not check: it would take half as long again to compile. They check the library, or a
# learner's files, and memory that a test allocates. The thread sanitizer must know all code.
if(MINI_SANITIZE MATCHES "address|undefined")
    target_compile_options(mini_flags INTERFACE $<${is_test}:-fno-sanitize=all>)
endif()

# Sanitizer flags for a learner's files and their tests, in builds with an empty MINI_SANITIZE. The
# undefined-behaviour sanitizer does not check pointers: these checks would be a third of the time to
# compile, and a null pointer ends a program in any case. Of tests the sanitizers check nothing, but
# GCC marks the stack, without which it reports errors after an exception on a fiber. Kernels have no
# sanitizers: nvcc does not support them, and the simulator has its own checker.
add_library(mini_checked INTERFACE)
if(NOT MINI_SANITIZE)
    set(checked_flags -Og -g -fsanitize=address,undefined -fno-sanitize=null,alignment
        -fno-sanitize-recover=all -fno-omit-frame-pointer)
    set(checked_test_flags -O0 -g1 -fsanitize=address -fno-omit-frame-pointer)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        list(APPEND checked_test_flags
            --param=asan-instrument-reads=0 --param=asan-instrument-writes=0)
    endif()
    target_compile_options(mini_checked INTERFACE
        $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>
        "$<$<COMPILE_LANGUAGE:CXX>:-UNDEBUG;-D_GLIBCXX_ASSERTIONS>"
        "$<$<AND:$<COMPILE_LANGUAGE:CXX>,${is_test}>:${checked_test_flags}>"
        "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:${is_test}>>:${checked_flags}>")
    target_link_options(mini_checked INTERFACE -fsanitize=address,undefined)
endif()

# The bodies of dev check need line numbers in reports, and nothing that only a debugger reads: a
# quarter of the time to compile them. Linked last, because the last -g counts.
add_library(mini_line_numbers INTERFACE)
target_compile_options(mini_line_numbers INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-g1>)

# In a learner's files warnings are not errors, because half-written code has unused
# names. Targets link this library last, because its flags must come after -Werror.
add_library(mini_half_written INTERFACE)
target_compile_options(mini_half_written INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wno-error;-Wno-unused;-Wno-unused-parameter>"
    $<$<COMPILE_LANGUAGE:CUDA>:-w>)

# Precompiled headers bring the optimisation that they were compiled with.
if(MINI_PRECOMPILED AND TARGET fmt::fmt)
    mini_precompile(mini_headers)
    mini_precompile(mini_optimised_headers)
    set_target_properties(mini_optimised_headers PROPERTIES MINI_OPTIMISED YES)
    mini_precompile(mini_checked_headers mini_checked)
endif()

# Instrument the code, so that libFuzzer knows which branches an input takes.
if(MINI_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "MINI_FUZZ needs clang: cmake --preset fuzz")
    endif()
    target_compile_options(mini_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Each component compiles in a few batches of files: a file of 100 lines includes headers of
# 75,000 lines, which a batch compiles once. Turn MINI_UNITY off to check that each file
# compiles alone.
option(MINI_UNITY "Compile the files of a component in batches" ON)

# mini_component(core SOURCES a.cpp b.cpp NEEDS mini_tensor fmt::fmt [ALONE c.cpp] [OPTIMISED])
#
# Declares a component as the library mini_<name>. NEEDS lists the components and the external
# libraries that the component uses. Files in ALONE are compiled outside the batches; for files with
# a region for learners see MiniRegions.
# OPTIMISED is for components in which a step or a collective spends its time.
function(mini_component name)
    cmake_parse_arguments(component "OPTIMISED" "" "SOURCES;NEEDS;ALONE" ${ARGN})
    add_library(mini_${name} STATIC ${component_SOURCES})
    add_library(libmini::${name} ALIAS mini_${name})
    mini_batches(mini_${name} 16 ${component_ALONE})
    list(TRANSFORM component_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    set_property(GLOBAL APPEND PROPERTY MINI_COMPONENT_SOURCES ${component_SOURCES})
    set_property(GLOBAL APPEND PROPERTY MINI_ALL_COMPONENTS ${name})
    target_link_libraries(mini_${name} ${MINI_FLAGS_SCOPE} $<BUILD_INTERFACE:mini_flags>
        PUBLIC mini_usage)
    mini_needs(mini_${name} ${component_NEEDS})
    mini_optimise(mini_${name} ${component_OPTIMISED})
endfunction()

# mini_optimise(<target> <optimised>): compiles a target as a component that is OPTIMISED or not.
function(mini_optimise target optimised)
    set_target_properties(${target} PROPERTIES MINI_OPTIMISED ${optimised})
    if(optimised)
        mini_precompiled(${target} mini_optimised_headers)
    else()
        mini_precompiled(${target} mini_headers)
    endif()
endfunction()

# mini_needs(<component> <libraries>...): what a component, and what links it, is linked with.
# An installed component does not ask for the libraries that are only headers.
function(mini_needs component)
    list(TRANSFORM ARGN REPLACE "^(Eigen3|CLI11|nlohmann_json|stb)::.+$"
        "$<BUILD_INTERFACE:\\0>" OUTPUT_VARIABLE libraries)
    target_link_libraries(${component} PUBLIC ${libraries})
endfunction()

# mini_batches(<target> <files per batch> <files outside the batches>...): compiles the
# sources of a target in batches.
function(mini_batches target size)
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources count)
    if(NOT MINI_UNITY OR count EQUAL 1)
        return()
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    # GCC treats the files of a batch as headers, and warns about their anonymous
    # namespaces. It also inlines from file to file, and GCC 12 then wrongly reports empty
    # optionals as uninitialized.
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    if(NOT MINI_SANITIZE)
        target_compile_options(${target} PRIVATE
            $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
    endif()
    if(ARGN)
        set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION YES)
    endif()
    # At the end of the directory, when the target has all its sources. DEFER expands its
    # arguments only then, hence EVAL.
    cmake_language(EVAL CODE
        "cmake_language(DEFER CALL mini_sort_into_batches ${target} ${size})")
endfunction()

# mini_program(train_mnist [MINE] [OPTIMISED] SOURCES train_mnist.cpp NEEDS mini_parallel)
#
# Declares an executable. With MINE, labs/lab can also build it with the learner's code
# (MiniOverlay). OPTIMISED: as of a component.
function(mini_program name)
    cmake_parse_arguments(program "OPTIMISED;MINE" "" "SOURCES;NEEDS" ${ARGN})
    add_executable(${name})
    mini_add_sources(${name} ${program_SOURCES})
    mini_batches(${name} 16)
    mini_optimise(${name} ${program_OPTIMISED})
    target_link_libraries(${name} PRIVATE mini_flags ${program_NEEDS})
    if(name MATCHES "^lab[0-9][0-9]_bug_hunt$")
        mini_bug_hunt(${name} SOURCES ${program_SOURCES} NEEDS ${program_NEEDS})
    endif()
    if(program_MINE)
        mini_program_mine(${name} SOURCES ${program_SOURCES} NEEDS ${program_NEEDS})
    endif()
endfunction()
