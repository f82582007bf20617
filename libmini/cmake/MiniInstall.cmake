# cmake --install: the library and its headers, the programs mini and minirun, and the files
# for find_package and pkg-config.
#
#     bin/                            mini, minirun
#     include/libmini/                all headers; docs/pages/library.md lists the public ones
#     lib/libmini_core.a ...          one archive per component
#     lib/cmake/libmini/              find_package(libmini)
#     lib/pkgconfig/libmini.pc
#     lib/cmake/cudasim/, lib/pkgconfig/cudasim.pc    the same for the CUDA simulator alone

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(MINI_COMPONENTS core random tensor autograd composed nn optim data datasets vision io distributed parallel
    extras training)

# mini_install(): declares what is installed. Call it after all components are declared.
function(mini_install)
    install(DIRECTORY libmini TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp"
        PATTERN cudasim EXCLUDE PATTERN cmake EXCLUDE)
    if(TARGET mini_cudasim_driver)  # mini cuda compiles with the simulator's headers
        install(DIRECTORY libmini/extras/cudasim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/libmini/extras
            FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.py" PATTERN checked_options.txt
            PATTERN __pycache__ EXCLUDE)
        mini_install_package(cudasim libmini/extras/cudasim/driver)
    endif()
    mini_install_components(archives)
    mini_install_config(${archives})
    install(TARGETS mini minirun)
    install(FILES LICENSE TYPE DOC)
    install(DIRECTORY tests/install/example TYPE DOC)
endfunction()

# mini_install_components(<out>): installs the named components and those that they need as
# targets of find_package: libmini::nn, and libmini::detail::net for one that is not named.
# Sets <out> to the components' libraries, such as mini_core, in the order of their needs.
function(mini_install_components out)
    set(components ${MINI_COMPONENTS})
    list(TRANSFORM components PREPEND mini_)
    mini_components_of(needed ${components})
    get_property(all_components GLOBAL PROPERTY MINI_ALL_COMPONENTS)
    set(libraries "")
    foreach(component ${all_components})
        if(component IN_LIST needed)
            list(APPEND libraries mini_${component})
        endif()
    endforeach()
    set(${out} ${libraries} PARENT_SCOPE)

    set(targets ${libraries} mini_distributed mini_usage libmini)
    foreach(backend gloo mpi nccl)
        if(TARGET mini_${backend}_library)
            list(APPEND targets mini_${backend}_library)
        endif()
    endforeach()
    foreach(target ${targets})
        string(REGEX REPLACE "^mini_" "" name ${target})
        if(NOT name IN_LIST MINI_COMPONENTS AND NOT target STREQUAL "libmini")
            set(name detail::${name})
        endif()
        set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    endforeach()
    target_include_directories(mini_usage INTERFACE
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    install(TARGETS ${targets} EXPORT libmini)
    install(EXPORT libmini FILE libminiTargets.cmake NAMESPACE libmini::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/libmini)
endfunction()

# mini_install_config(<libraries>...): the files for find_package(libmini 0.2 COMPONENTS nn distributed)
# and for pkg-config, whose libraries must come before those that they need.
function(mini_install_config)
    set(MINI_CONFIG_BUILT_WITH "")
    set(MINI_CONFIG_DEPENDENCIES "")
    set(MINI_CONFIG_BACKENDS "")
    list(REVERSE ARGN)
    list(TRANSFORM ARGN PREPEND -l)
    if(MINI_CUDA_MODE STREQUAL "ON")
        list(APPEND MINI_CONFIG_BUILT_WITH cuda)
        string(APPEND MINI_CONFIG_DEPENDENCIES "find_dependency(CUDAToolkit 12.3)\n")
        list(APPEND ARGN -L${CUDAToolkit_LIBRARY_DIR} -lcublas -lcudart)
    elseif(MINI_CUDA_MODE STREQUAL "SIM")  # libmini_kernels.a needs the simulator's archive
        string(APPEND MINI_CONFIG_DEPENDENCIES
            "find_dependency(Boost 1.74 CONFIG COMPONENTS context)\n")
        list(APPEND ARGN -lboost_context)
    endif()
    if(TARGET mini_gloo_library)
        list(APPEND MINI_CONFIG_BUILT_WITH gloo)
        string(APPEND MINI_CONFIG_BACKENDS " \"Gloo CONFIG\"")
        list(APPEND ARGN -lgloo)
    endif()
    if(TARGET mini_mpi_library)
        list(APPEND MINI_CONFIG_BUILT_WITH mpi)
        string(APPEND MINI_CONFIG_BACKENDS " \"MPI COMPONENTS CXX\"")
        get_target_property(mpi MPI::MPI_CXX INTERFACE_LINK_LIBRARIES)
        list(APPEND ARGN ${mpi})
    endif()
    if(TARGET mini_nccl_library)
        list(APPEND MINI_CONFIG_BUILT_WITH nccl)
        list(APPEND ARGN ${NCCL_LIBRARY})
    endif()
    list(JOIN ARGN " " MINI_PKG_CONFIG_LIBRARIES)
    mini_install_package(libmini libmini/cmake)
endfunction()

# mini_install_package(<name> <folder>): installs the files for find_package and pkg-config whose
# templates lie in a folder.
function(mini_install_package name folder)
    set(to ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
    configure_package_config_file(${folder}/${name}Config.cmake.in ${name}Config.cmake
        INSTALL_DESTINATION ${to}
        PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
    write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/${name}ConfigVersion.cmake
        COMPATIBILITY SameMinorVersion)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}Config.cmake
            ${CMAKE_CURRENT_BINARY_DIR}/${name}ConfigVersion.cmake
        DESTINATION ${to})
    set(pkg_config ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    file(RELATIVE_PATH MINI_PREFIX_FROM_PKG_CONFIG /${pkg_config} /)
    string(REGEX REPLACE "/$" "" MINI_PREFIX_FROM_PKG_CONFIG ${MINI_PREFIX_FROM_PKG_CONFIG})
    configure_file(${folder}/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${pkg_config})
endfunction()
