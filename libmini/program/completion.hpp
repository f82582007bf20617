// The words that may follow on a command line, for a shell's completion.
//
//     $ mini --complete bench --b       the shell's function calls this
//     --backend
//
// tools/completion.bash has the function. Bash makes three words of "--format=json".

#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace mini {

/// If the first argument is "--complete", returns the lines to print: the words that may
/// stand in place of the last argument, which is the beginning of a word. They are the
/// subcommands; the options, if the last argument begins with "-" or the command takes
/// nothing else; or the words that the option before it accepts. Without "--complete",
/// returns nullopt.
std::optional<std::string> completions(const CLI::App& app, int argc,
                                       const char* const* argv);

}  // namespace mini
