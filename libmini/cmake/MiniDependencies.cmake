# Finds the libraries that libmini requires, all packages of Debian 12 and 13. labs/lab setup
# installs the packages and prints what each is for.

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
    find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
    set_property(TARGET Python3::Interpreter PROPERTY CROSSCOMPILING_EMULATOR)
endif()

# Boost.Context, for the fibers of both simulators. The CUDA simulator requires it;
# without it the simulated cluster is not built.
if(MINI_CUDA_MODE STREQUAL "SIM")
    find_package(Boost 1.74 REQUIRED CONFIG COMPONENTS context)
else()
    find_package(Boost 1.74 QUIET CONFIG COMPONENTS context)
endif()
