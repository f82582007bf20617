// mini: command-line tools for users of libmini.
//
// Exit codes: 0 success, 1 failure, 2 usage error.

#include <exception>
#include <iostream>

#include "libmini/core/error.hpp"
#include "libmini/core/terminal.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/tools/mini/commands.hpp"

int main(int argc, char** argv) {
    const auto fail = [](int code, const std::exception& error) {
        std::cerr << "mini: " << error.what() << '\n';
        return code;
    };
    mini::open_standard_files();
    mini::extras::use_all();
    try {
        mini::CommandLine line("Tools for data-parallel training with libmini.", "mini");
        line.add_version("mini " MINI_VERSION);
        line.require_command();
        mini::tools::add_indices(line);
        mini::tools::add_bench(line);
        mini::tools::add_inspect(line);
        mini::tools::add_predict(line);
        mini::tools::add_extra_commands(line);
        line.parse(argc, argv);
        mini::finish_stdout();
        return 0;
    } catch (const mini::UsageError& error) {
        return fail(2, error);
    } catch (const std::exception& error) {
        return fail(1, error);
    }
}
