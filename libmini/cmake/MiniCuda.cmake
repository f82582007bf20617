# MINI_CUDA selects where device code runs:
#
#     ON    on NVIDIA GPUs: nvcc compiles the .cu files; cuBLAS is linked, NCCL if found
#     SIM   on the simulator: the C++ compiler compiles the same files
#     OFF   not at all: there is no Device::cuda
#     AUTO  ON if the machine has nvcc and a GPU and MINI_SANITIZE is empty, else SIM, or OFF if
#           the simulator is not built (MINI_EXTRAS)
#
# MINI_CUDA_MODE is the result: ON, SIM or OFF.

set(MINI_CUDA AUTO CACHE STRING "Device code: AUTO, ON (nvcc), SIM (simulator) or OFF")
set_property(CACHE MINI_CUDA PROPERTY STRINGS AUTO ON SIM OFF)
set(MINI_CUDA_ARCHITECTURES "75-real;80-real;90" CACHE STRING
    "Architectures that nvcc compiles for; PTX of the last one goes along")

mini_extra(cudasim)
set(MINI_CUDA_MODE ${MINI_CUDA})
if(MINI_CUDA STREQUAL "AUTO")
    find_program(MINI_NVCC nvcc HINTS /usr/local/cuda/bin)
    if(MINI_NVCC AND EXISTS /dev/nvidiactl AND NOT MINI_SANITIZE)
        set(MINI_CUDA_MODE ON)
    elseif(MINI_EXTRA_CUDASIM)
        set(MINI_CUDA_MODE SIM)
    else()
        set(MINI_CUDA_MODE OFF)
    endif()
endif()
if(MINI_CUDA_MODE STREQUAL "SIM" AND NOT MINI_EXTRA_CUDASIM)
    message(FATAL_ERROR "MINI_CUDA=SIM needs the simulator: set MINI_EXTRAS and MINI_EXTRA_CUDASIM to ON")
endif()

if(MINI_CUDA_MODE STREQUAL "ON")
    set(CMAKE_CUDA_ARCHITECTURES ${MINI_CUDA_ARCHITECTURES})
    enable_language(CUDA)
    find_package(CUDAToolkit 12.3 REQUIRED)  # the first version with cudaFuncGetName
    set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)   # as CUDA::cudart: link only one runtime
    # CMake 3.25 does not know that nvcc 13 supports C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
        set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
        set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    string(APPEND CMAKE_CUDA_FLAGS " --extended-lambda --expt-relaxed-constexpr")
endif()
message(STATUS "Device code: ${MINI_CUDA_MODE}")

# Compiles .cu files into `target` as C++ for the simulator. -fsanitize=thread makes each
# load and store of a kernel call a function, which the simulator defines
# (cudasim/tsan.cpp); the thread sanitizer's runtime is not linked. Builds that link this
# runtime (preset tsan) do not instrument kernels.
function(mini_simulated_kernels target)
    target_sources(${target} PRIVATE ${ARGN})
    target_include_directories(${target} SYSTEM PRIVATE  # such as <cuda_runtime.h>
        ${PROJECT_SOURCE_DIR}/libmini/extras/cudasim/include)
    set(options -x c++ -Wno-unknown-pragmas -fno-sanitize=all)
    if(NOT MINI_SANITIZE MATCHES "thread")
        set(file ${PROJECT_SOURCE_DIR}/libmini/extras/cudasim/checked_options.txt)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
        file(STRINGS ${file} lines REGEX "^(all|${CMAKE_CXX_COMPILER_ID}) ")
        list(TRANSFORM lines REPLACE "^[^ ]+ (.*)$" "\\1")
        list(JOIN lines " " checked)
        separate_arguments(checked UNIX_COMMAND "${checked}")
        if(MINI_SANITIZE)  # the checker does not define what -fsanitize=bounds calls
            list(FILTER checked EXCLUDE REGEX "bounds")
        endif()
        list(APPEND options ${checked})
    endif()
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES
        LANGUAGE CXX COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS YES)
endfunction()

# Compiles plain .cu files, as nvcc takes them, into `target` for the simulator: as `mini cuda`
# does, but with MINI_TODO as in .cpp files. A component's objects are called as those of its .cpp
# files, so that labs/lab_tool/not_written.py finds them.
function(mini_plain_kernels target)
    set(driver ${PROJECT_SOURCE_DIR}/libmini/extras/cudasim/driver)
    set(script ${PROJECT_SOURCE_DIR}/libmini/cmake/translate_kernels.py)
    get_target_property(type ${target} TYPE)
    foreach(file ${ARGN})
        cmake_path(ABSOLUTE_PATH file)
        file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${file})
        set(made ${PROJECT_BINARY_DIR}/translated/${target}/${path})
        if(type STREQUAL "STATIC_LIBRARY")
            cmake_path(GET file FILENAME name)
            set(made ${CMAKE_CURRENT_BINARY_DIR}/${name})
        endif()
        add_custom_command(OUTPUT ${made}
            COMMAND Python3::Interpreter -B ${script} ${driver} ${file} ${path} ${made}
            DEPENDS ${file} ${script} ${driver}/translate.py VERBATIM)
        set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES
            HEADER_FILE_ONLY YES)  # if the target lists it, too
        mini_simulated_kernels(${target} ${made})
        set_property(SOURCE ${made} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS
            -w -gdwarf-4 -fdebug-prefix-map=${PROJECT_BINARY_DIR}=${PROJECT_SOURCE_DIR}
            -include libmini/core/error.hpp -include libmini/extras/cudasim/program.hpp)
    endforeach()
endfunction()

# mini_add_sources(<target> <files>...): adds .cpp and .cu files to a target. The .cu files of
# labs are plain; those of libmini and tests are compiled by nvcc, or for the simulator if
# MINI_CUDA_MODE is SIM.
function(mini_add_sources target)
    foreach(file ${ARGN})
        cmake_path(ABSOLUTE_PATH file OUTPUT_VARIABLE path)
        file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
        if(path MATCHES "\\.cu$" AND NOT path MATCHES "(^|/)(libmini|tests)/")
            mini_plain_kernels(${target} ${file})
        elseif(path MATCHES "\\.cu$" AND MINI_CUDA_MODE STREQUAL "SIM")
            mini_simulated_kernels(${target} ${file})
        else()
            target_sources(${target} PRIVATE ${file})
        endif()
    endforeach()
endfunction()
