# The libraries that libmini stands on, all of them packages of Debian 12 and Ubuntu 24.04.
# labs/lab setup installs them and says what each is for.

find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)

# stb_image is a header without a package file of its own.
find_path(STB_INCLUDE_DIR stb/stb_image.h)
if(NOT STB_INCLUDE_DIR)
    message(FATAL_ERROR "stb/stb_image.h was not found: run labs/lab setup, or install the "
        "package libstb-dev; elsewhere, set STB_INCLUDE_DIR to the folder that holds stb/")
endif()
add_library(stb::image INTERFACE IMPORTED)
set_target_properties(stb::image PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${STB_INCLUDE_DIR}")
