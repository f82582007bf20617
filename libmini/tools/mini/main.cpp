// mini: questions that a user of libmini asks, answered on the command line.
//
// Exit codes: 0 answered, 1 failed, 2 the options make no sense.

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "libmini/core/error.hpp"
#include "libmini/tools/mini/indices.hpp"

namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

int complain(int code, const std::string& message) {
    fmt::print(stderr, "mini: {}\n", message);
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Answers questions about data-parallel training.", "mini");
    app.require_subcommand(1);
    mini::tools::add_indices(app);
    try {
        app.parse(argc, argv);
        return 0;
    } catch (const CLI::Success& asked_for_help) {
        return app.exit(asked_for_help);
    } catch (const CLI::ParseError& error) {
        return complain(kUsage, mini::concat(error.what(),
                                             "; see mini --help, or --help behind "
                                             "the name of a command"));
    } catch (const mini::UsageError& error) {
        return complain(kUsage, error.what());
    } catch (const std::exception& error) {
        return complain(kFailure, error.what());
    }
}
