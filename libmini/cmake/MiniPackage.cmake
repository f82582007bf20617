# cpack: libmini_0.1.0_amd64.deb with the programs and the shared library of the kernels,
# libmini-dev_0.1.0_amd64.deb with what a user's project needs, and one .tar.gz of both.
#
#     cmake --workflow --preset package

set(CPACK_PACKAGE_NAME libmini)
set(CPACK_PACKAGE_VENDOR "the libmini authors")
set(CPACK_PACKAGE_CONTACT "the libmini authors <noreply@libmini.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libmini RENAME copyright
    COMPONENT programs)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libmini-dev RENAME copyright
    COMPONENT development)

set(CPACK_COMPONENTS_ALL programs development)
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION "The launcher minirun, and mini, tools for users.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers and libraries, for find_package.")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME libmini)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libmini-dev)

# dpkg-shlibdeps finds the packages of the shared libraries that the programs need.
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
get_target_property(MINI_KERNELS_DIR mini_kernels BINARY_DIR)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${MINI_KERNELS_DIR})

# The public headers need no other library; the archives are linked with these.
set(needs "libmini (= ${PROJECT_VERSION})" libfmt-dev zlib1g-dev libssl-dev)
if(MINI_CUDA_MODE STREQUAL "SIM")
    list(APPEND needs libboost-context-dev)
endif()
if(MINI_HAS_GLOO)
    list(APPEND needs libgloo-dev)
endif()
if(MINI_HAS_MPI)
    list(APPEND needs libopenmpi-dev)
endif()
list(JOIN needs ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "g++ (>= 4:12), cmake (>= 3.25)")
include(CPack)
