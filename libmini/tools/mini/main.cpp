// mini: questions that a user of libmini asks, answered on the command line.
//
// Exit codes: 0 answered, 1 failed, 2 the options make no sense.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/tools/mini/bench.hpp"
#include "libmini/tools/mini/did_you_mean.hpp"
#include "libmini/tools/mini/draws.hpp"
#include "libmini/tools/mini/flight.hpp"
#include "libmini/tools/mini/indices.hpp"
#include "libmini/tools/mini/inspect.hpp"
#include "libmini/tools/mini/kernels.hpp"
#include "libmini/tools/mini/simulate.hpp"

namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

int complain(int code, const std::string& message) {
    fmt::print(stderr, "mini: {}\n", message);
    return code;
}

// The words that could have stood where `app`, or the command chosen in it, met one that
// it does not know.
void known_words(const CLI::App& app, std::vector<std::string>& words) {
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames())
            words.push_back(mini::concat("--", name));
    const auto all = app.get_subcommands([](const CLI::App*) { return true; });
    for (const CLI::App* command : all) {
        if (!command->parsed())
            words.push_back(command->get_name());
        else
            known_words(*command, words);
    }
}

// "; did you mean flight?" for the first word of the command line that is none of these.
std::string suggestion(const CLI::App& app, int argc, char** argv) {
    std::vector<std::string> words;
    known_words(app, words);
    for (int i = 1; i < argc; ++i) {
        const std::string hint = mini::tools::did_you_mean(argv[i], words);
        const bool exact = std::find(words.begin(), words.end(), argv[i]) != words.end();
        if (!exact && !hint.empty()) return hint;
    }
    return "";
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Answers questions about data-parallel training.", "mini");
    app.require_subcommand(1);
    mini::Command command(app);
    mini::tools::add_indices(command);
    mini::tools::add_random(command);
    mini::tools::add_flight(command);
    mini::tools::add_bench(command);
    mini::tools::add_inspect(command);
    mini::tools::add_kernels(command);
    mini::tools::add_simulate(command);
    try {
        app.parse(argc, argv);
        return 0;
    } catch (const CLI::Success& asked_for_help) {
        return app.exit(asked_for_help);
    } catch (const CLI::ParseError& error) {
        return complain(kUsage, mini::concat(error.what(), suggestion(app, argc, argv),
                                             "; see mini --help, or --help behind "
                                             "the name of a command"));
    } catch (const mini::UsageError& error) {
        return complain(kUsage, error.what());
    } catch (const std::exception& error) {
        return complain(kFailure, error.what());
    }
}
