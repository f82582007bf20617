// mini: command-line tools for users of libmini.
//
// Exit codes: 0 success, 1 failure, 2 usage error.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/core/terminal.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/program/wrap.hpp"
#include "libmini/tools/mini/commands.hpp"

namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

// Prints an error message and returns `code`.
int fail(int code, const std::string& message) {
    fmt::print(stderr, "mini: {}\n", message);
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    mini::open_standard_files();
    mini::extras::use_all();
    CLI::App app("Tools for data-parallel training with libmini.", "mini");
    app.set_version_flag("--version", "mini " MINI_VERSION);
    app.require_subcommand(1);
    mini::Command command(app);
    mini::tools::add_indices(command);
    mini::tools::add_bench(command);
    mini::tools::add_inspect(command);
    mini::tools::add_predict(command);
    mini::tools::add_extra_commands(command);
    try {
        app.parse(argc, argv);
        mini::finish_stdout();
        return 0;
    } catch (const CLI::CallForHelp&) {
        fmt::print("{}", mini::wrapped(app.help()));
        return 0;
    } catch (const CLI::Success& version) {
        return app.exit(version);
    } catch (const CLI::ParseError& error) {
        return fail(kUsage, mini::concat(error.what(),
                                         "; see mini --help, or mini COMMAND "
                                         "--help"));
    } catch (const mini::UsageError& error) {
        return fail(kUsage, error.what());
    } catch (const std::exception& error) {
        return fail(kFailure, error.what());
    }
}
