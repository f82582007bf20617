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

# Adds the simulator's CUDA headers, such as <cuda_runtime.h>, to the include path of
# `target`.
function(mini_simulator_headers target)
    target_include_directories(${target} SYSTEM PRIVATE
        ${PROJECT_SOURCE_DIR}/libmini/extras/cudasim/include)
endfunction()

# Compiles .cu files into `target` as C++ for the simulator. -fsanitize=thread makes each
# load and store of a kernel call a function, which the simulator defines
# (cudasim/tsan.cpp); the thread sanitizer's runtime is not linked. Builds that link this
# runtime (preset tsan) do not instrument kernels.
function(mini_simulated_kernels target)
    target_sources(${target} PRIVATE ${ARGN})
    mini_simulator_headers(${target})
    set(options -x c++ -g1 -Wno-unknown-pragmas -fno-sanitize=all)
    if(NOT MINI_SANITIZE MATCHES "thread")
        file(STRINGS ${PROJECT_SOURCE_DIR}/libmini/extras/cudasim/checked_options.txt lines
            REGEX "^(all|${CMAKE_CXX_COMPILER_ID}) ")
        list(TRANSFORM lines REPLACE "^[^ ]+ " "")
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

# mini_add_sources(<target> <files>...): adds .cpp and .cu files to a target. If
# MINI_CUDA_MODE is SIM, compiles the .cu files for the simulator.
function(mini_add_sources target)
    set(kernels ${ARGN})
    list(FILTER kernels INCLUDE REGEX "\\.cu$")
    if(kernels AND MINI_CUDA_MODE STREQUAL "SIM")
        mini_simulated_kernels(${target} ${kernels})
        list(REMOVE_ITEM ARGN ${kernels})
    endif()
    target_sources(${target} PRIVATE ${ARGN})
endfunction()
