# Finds the libraries of the backends: AUTO uses a library if it is installed, ON requires it,
# OFF ignores it. Declares a target mini_<name>_library for each library in use.
function(mini_optional_library NAME target advice)
    set(MINI_${NAME} AUTO CACHE STRING "Backend of this library: AUTO, ON or OFF")
    set_property(CACHE MINI_${NAME} PROPERTY STRINGS AUTO ON OFF)
    string(TOLOWER ${NAME} name)

    # A library is not instrumented: sanitizers do not see its locks, and report races;
    # and they report memory that it keeps as leaks.
    if(MINI_${NAME} STREQUAL "AUTO" AND MINI_SANITIZE)
        message(STATUS "Backend ${name}: off with sanitizers")
    elseif(MINI_${NAME} AND TARGET ${target})
        add_library(mini_${name}_library INTERFACE)
        target_link_libraries(mini_${name}_library INTERFACE ${target})
        message(STATUS "Backend ${name}: yes")
    elseif(MINI_${NAME} AND NOT MINI_${NAME} STREQUAL "AUTO")
        message(FATAL_ERROR "MINI_${NAME} is ON, but the library was not found: ${advice}")
    else()
        message(STATUS "Backend ${name}: no (${advice})")
    endif()
endfunction()

find_package(Gloo CONFIG QUIET)
mini_optional_library(GLOO gloo "install libgloo-dev")

set(MPI_CXX_SKIP_MPICXX TRUE)
find_package(MPI QUIET COMPONENTS CXX)
find_path(MPI_HEADER mpi.h HINTS ${MPI_CXX_INCLUDE_DIRS})
if(MPI_CXX_FOUND AND MPI_HEADER)  # the target can exist without an installed MPI
    add_library(mini_mpi_found ALIAS MPI::MPI_CXX)
endif()
mini_optional_library(MPI mini_mpi_found "install libopenmpi-dev and openmpi-bin")

# NCCL needs real GPUs, and so a build with MINI_CUDA=ON.
if(MINI_CUDA_MODE STREQUAL "ON")
    find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
    find_library(NCCL_LIBRARY nccl
        HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib)
endif()
if(TARGET CUDA::cudart AND NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    add_library(nccl INTERFACE IMPORTED GLOBAL)
    target_include_directories(nccl SYSTEM INTERFACE ${NCCL_INCLUDE_DIR})
    target_link_libraries(nccl INTERFACE ${NCCL_LIBRARY} CUDA::cudart)
endif()
mini_optional_library(NCCL nccl "install CUDA and NCCL, and set MINI_CUDA=ON")
