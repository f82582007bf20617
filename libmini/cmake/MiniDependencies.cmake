# Finds the libraries that libmini requires, all packages of Debian 12 and 13, and the
# libraries of optional backends. labs/lab setup installs the packages and prints what
# each is for.

set(MINI_CARRIED "" CACHE PATH "Folder filled by tests/gpu/carry.sh, in place of packages")
if(MINI_CARRIED)
    include(MiniCarried)
else()
    # Eigen 5 follows 3.4, and its version file accepts no request for another first number.
    set(Eigen3_DIR "" CACHE PATH "Folder of Eigen3Config.cmake; empty: searched for")
    find_package(Eigen3 REQUIRED NO_MODULE)
    if(Eigen3_VERSION VERSION_LESS 3.4)
        message(FATAL_ERROR "Eigen ${Eigen3_VERSION} in ${Eigen3_DIR} is too old: install Eigen 3.4 or "
            "newer, or set Eigen3_DIR to its folder")
    endif()
    find_package(fmt REQUIRED)
    find_package(CLI11 REQUIRED)
    find_package(nlohmann_json REQUIRED)
    find_package(ZLIB REQUIRED)
    find_package(OpenSSL REQUIRED COMPONENTS Crypto)

    # stb_image is one header, for which find_package has no file: search for the header.
    find_path(STB_INCLUDE_DIR stb/stb_image.h)
    if(NOT STB_INCLUDE_DIR)
        message(FATAL_ERROR "stb/stb_image.h was not found: run labs/lab setup, or install the "
            "package libstb-dev; elsewhere, set STB_INCLUDE_DIR to the folder that holds stb/")
    endif()
    add_library(stb::image INTERFACE IMPORTED GLOBAL)
    set_target_properties(stb::image PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${STB_INCLUDE_DIR}")
endif()

# Found once, because each find_package of it starts Python twice. In a cross build it is the
# Python of this machine: the tests start it without the emulator.
if(PROJECT_IS_TOP_LEVEL)
    find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
    set_property(TARGET Python3::Interpreter PROPERTY CROSSCOMPILING_EMULATOR)
endif()

# Boost.Context, for the fibers of both simulators. The CUDA simulator requires it;
# without it the simulated cluster is not built.
if(MINI_CUDA_MODE STREQUAL "SIM")
    find_package(Boost 1.74 REQUIRED CONFIG COMPONENTS context)
else()
    find_package(Boost 1.74 QUIET CONFIG COMPONENTS context)
endif()

# Libraries of optional backends: AUTO uses a library if it is installed, ON requires it,
# OFF ignores it. For each library in use, declares a target mini_<name>_library and sets
# MINI_HAS_<NAME> to TRUE.
function(mini_optional_library NAME target advice)
    set(MINI_${NAME} AUTO CACHE STRING "Backend of this library: AUTO, ON or OFF")
    set_property(CACHE MINI_${NAME} PROPERTY STRINGS AUTO ON OFF)
    string(TOLOWER ${NAME} name)
    set(MINI_HAS_${NAME} FALSE PARENT_SCOPE)

    # A library is not instrumented: sanitizers do not see its locks, and report races;
    # and they report memory that it keeps as leaks.
    if(MINI_${NAME} STREQUAL "AUTO" AND MINI_SANITIZE)
        message(STATUS "Backend ${name}: off with sanitizers")
    elseif(MINI_${NAME} AND TARGET ${target})
        add_library(mini_${name}_library INTERFACE)
        target_link_libraries(mini_${name}_library INTERFACE ${target})
        set(MINI_HAS_${NAME} TRUE PARENT_SCOPE)
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
