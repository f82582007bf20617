# Extras: folders of libmini/extras, which the core does not include.
#
#     MINI_EXTRAS=OFF            no extra
#     MINI_EXTRA_FAST=OFF        all but this one; the same for each folder

option(MINI_EXTRAS "Build libmini/extras" ON)

# mini_extra(fast [mini::fast::use]): declares the option MINI_EXTRA_FAST of an extra, and the
# function of fast/fast.hpp by which extras::use_all() attaches the extra to the core.
function(mini_extra name)
    string(TOUPPER MINI_EXTRA_${name} option)
    option(${option} "Build libmini/extras/${name}" ON)
    if(NOT MINI_EXTRAS)
        set(${option} OFF PARENT_SCOPE)
    elseif(${option} AND ARGN)
        mini_extra_use(${name}/${name}.hpp ${ARGN} mini_${name})
    endif()
endfunction()

# mini_extra_use(fast/fast.hpp mini::fast::use mini_fast): extras::use_all() calls the function,
# of this header and this library.
function(mini_extra_use header use library)
    set_property(GLOBAL APPEND PROPERTY MINI_EXTRA_USES ${header}=${use}=${library})
endfunction()

# mini_use_all(mini_extras [flight ...]): the library mini_extras, whose extras::use_all() attaches
# all extras that were added before, or only the named ones.
function(mini_use_all library)
    get_property(uses GLOBAL PROPERTY MINI_EXTRA_USES)
    if(uses AND ARGN)
        list(JOIN ARGN "|" names)
        list(FILTER uses INCLUDE REGEX "^(${names})/")
    endif()
    set(includes "#include \"libmini/extras/use_all.hpp\"\n")
    set(calls "")
    set(libraries "")
    foreach(use ${uses})
        string(REGEX MATCH "^([^=]+)=([^=]+)=(.+)$" matched ${use})
        string(APPEND includes
            "\n#include \"libmini/extras/${CMAKE_MATCH_1}\"")
        string(APPEND calls "    ${CMAKE_MATCH_2}();\n")
        list(APPEND libraries ${CMAKE_MATCH_3})
    endforeach()
    file(CONFIGURE OUTPUT ${library}.cpp CONTENT
        "${includes}\n\nvoid mini::extras::use_all() {\n${calls}}\n")
    add_library(${library} STATIC ${CMAKE_CURRENT_BINARY_DIR}/${library}.cpp)
    target_link_libraries(${library} PRIVATE ${libraries}
        PUBLIC $<BUILD_INTERFACE:mini_flags> $<INSTALL_INTERFACE:mini_usage>)
endfunction()

# mini_commands(mini_flight libmini/extras/flight/flight.hpp mini::flight::add_flight): lists a
# function void(Command& mini) of an extra's library, which declares commands of the program mini.
# Only mini links the library for it; other programs that call extras::use_all() do not.
function(mini_commands library header function)
    set_property(GLOBAL APPEND PROPERTY MINI_COMMANDS "${library}=${header}=${function}")
endfunction()

# mini_extra_commands(): the library mini_extra_commands, whose add_extra_commands() declares all
# commands that were listed before.
function(mini_extra_commands)
    get_property(commands GLOBAL PROPERTY MINI_COMMANDS)
    set(includes "#include \"libmini/tools/mini/commands.hpp\"\n")
    set(calls "")
    set(libraries "")
    foreach(command ${commands})
        string(REGEX MATCH "^([^=]+)=([^=]+)=([^=]+)$" matched ${command})
        list(APPEND libraries ${CMAKE_MATCH_1})
        string(APPEND includes "\n#include \"${CMAKE_MATCH_2}\"")
        string(APPEND calls "    ${CMAKE_MATCH_3}(mini);\n")
    endforeach()
    file(CONFIGURE OUTPUT extra_commands.cpp CONTENT "${includes}
void mini::tools::add_extra_commands([[maybe_unused]] Command& mini) {\n${calls}}\n")
    add_library(mini_extra_commands STATIC ${CMAKE_CURRENT_BINARY_DIR}/extra_commands.cpp)
    target_link_libraries(mini_extra_commands PRIVATE mini_flags ${libraries})
endfunction()
