# Uses the libraries in a folder that tests/gpu/carry.sh filled (-DMINI_CARRIED=folder),
# for machines that have a compiler and CUDA but no packages. The folder has headers. The
# libraries are header-only, except zlib and OpenSSL's libcrypto, whose shared libraries
# exist on every Linux.

foreach(header Eigen/Core fmt/core.h CLI/CLI.hpp nlohmann/json.hpp catch2/catch.hpp
        stb/stb_image.h zlib.h openssl/evp.h)
    if(NOT EXISTS ${MINI_CARRIED}/include/${header})
        message(FATAL_ERROR "MINI_CARRIED=${MINI_CARRIED} holds no include/${header}: fill it "
            "with tests/gpu/carry.sh on a machine where libmini builds")
    endif()
endforeach()

# mini_carried(fmt::fmt DEFINITIONS FMT_HEADER_ONLY [LIBRARIES ...]): declares a library
# of the folder as an imported target.
function(mini_carried target)
    cmake_parse_arguments(carried "" "" "DEFINITIONS;LIBRARIES" ${ARGN})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE ${MINI_CARRIED}/include)
    target_compile_definitions(${target} INTERFACE ${carried_DEFINITIONS})
    target_link_libraries(${target} INTERFACE ${carried_LIBRARIES})
endfunction()

find_library(MINI_ZLIB NAMES z libz.so.1)
find_library(MINI_CRYPTO NAMES crypto libcrypto.so.3)
if(NOT MINI_ZLIB OR NOT MINI_CRYPTO)
    message(FATAL_ERROR "libz.so.1 or libcrypto.so.3 was not found on this machine; point "
        "MINI_ZLIB and MINI_CRYPTO at them")
endif()

mini_carried(Eigen3::Eigen)
mini_carried(fmt::fmt DEFINITIONS FMT_HEADER_ONLY)
mini_carried(CLI11::CLI11)
mini_carried(nlohmann_json::nlohmann_json)
mini_carried(Catch2::Catch2)
mini_carried(stb::image)
mini_carried(ZLIB::ZLIB LIBRARIES ${MINI_ZLIB})
mini_carried(OpenSSL::Crypto LIBRARIES ${MINI_CRYPTO})
list(APPEND CMAKE_MODULE_PATH ${MINI_CARRIED}/cmake)  # Catch.cmake: catch_discover_tests
