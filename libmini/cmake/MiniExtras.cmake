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
    set_property(GLOBAL APPEND PROPERTY MINI_EXTRA_USES libmini/extras/${header}=${use}=${library})
endfunction()

# mini_commands(mini_flight libmini/extras/flight/flight.hpp mini::flight::add_flight): lists a
# function void(Command& mini) of an extra's library, which declares commands of the program mini.
# Only mini links the library for it; other programs that call extras::use_all() do not.
function(mini_commands library header function)
    set_property(GLOBAL APPEND PROPERTY MINI_COMMANDS "${header}=${function}=${library}")
endfunction()

# mini_calls(<library> <header> <head> <argument> <calls>...): declares a library of one function,
# with this head in its header, which makes the calls with an argument: <header>=<function>=<library>.
function(mini_calls library header head argument)
    set(text "#include \"${header}\"\n")
    set(body "")
    set(libraries "")
    foreach(call ${ARGN})
        string(REGEX MATCH "^([^=]+)=([^=]+)=([^=]+)$" matched ${call})
        string(APPEND text "\n#include \"${CMAKE_MATCH_1}\"")
        string(APPEND body "    ${CMAKE_MATCH_2}(${argument});\n")
        list(APPEND libraries ${CMAKE_MATCH_3})
    endforeach()
    file(CONFIGURE OUTPUT ${library}.cpp CONTENT "${text}\n\n${head} {\n${body}}\n")
    add_library(${library} STATIC ${CMAKE_CURRENT_BINARY_DIR}/${library}.cpp)
    target_link_libraries(${library} PRIVATE ${libraries})
endfunction()

# mini_use_all(mini_extras [flight ...]): the library mini_extras, whose extras::use_all() attaches
# all extras that were added before, or only the named ones.
function(mini_use_all library)
    get_property(uses GLOBAL PROPERTY MINI_EXTRA_USES)
    if(uses AND ARGN)
        list(JOIN ARGN "|" names)
        list(FILTER uses INCLUDE REGEX "^libmini/extras/(${names})/")
    endif()
    mini_calls(${library} libmini/extras/use_all.hpp "void mini::extras::use_all()" "" ${uses})
    target_link_libraries(${library}
        PUBLIC $<BUILD_INTERFACE:mini_flags> $<INSTALL_INTERFACE:mini_usage>)
endfunction()

# mini_extra_commands(): the library mini_extra_commands, whose add_extra_commands() declares all
# commands that were listed before.
function(mini_extra_commands)
    get_property(commands GLOBAL PROPERTY MINI_COMMANDS)
    mini_calls(mini_extra_commands libmini/tools/mini/commands.hpp
        "void mini::tools::add_extra_commands([[maybe_unused]] Command& mini)" mini ${commands})
    target_link_libraries(mini_extra_commands PRIVATE mini_flags)
endfunction()
