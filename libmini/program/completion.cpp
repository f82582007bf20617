#include "libmini/program/completion.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

namespace mini {
namespace {

using Words = std::vector<std::string>;

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

// Returns the options that the help shows, in one spelling: without underscores.
Words options_of(const CLI::App& app) {
    Words names;
    for (const CLI::Option* const option : app.get_options()) {
        if (option->get_group().empty() || option->get_positional()) continue;
        for (const std::string& name : option->get_lnames())
            if (name.find('_') == std::string::npos) names.push_back("--" + name);
        if (option->get_lnames().empty())
            for (const std::string& name : option->get_snames())
                names.push_back("-" + name);
    }
    return names;
}

bool has_positionals(const CLI::App& app) {
    return app.get_prefix_command() ||
           std::ranges::any_of(app.get_options(), &CLI::Option::get_positional);
}

// Returns the words that the option accepts, which its help names: "ring|tree" or
// "TEXT:{ring,tree}"; no words if it accepts others.
Words values_of(const CLI::Option& option) {
    const std::string help = option.get_type_name();
    const size_t brace = help.find('{'), bar = help.find('|');
    if (brace == std::string::npos && bar == std::string::npos) return {};
    std::istringstream list(brace == std::string::npos
                                ? help
                                : help.substr(brace + 1, help.find('}') - brace - 1));
    Words words;
    const char separator = brace == std::string::npos ? '|' : ',';
    for (std::string word; std::getline(list, word, separator);) words.push_back(word);
    return words;
}

const CLI::Option* find_option(const CLI::App& app, const std::string& word) {
    if (!word.starts_with('-')) return nullptr;
    const auto options = app.get_options();
    const auto found = std::ranges::find_if(options, [&](const CLI::Option* option) {
        return !option->get_positional() && option->check_name(word);
    });
    return found == options.end() ? nullptr : *found;
}

// Follows the subcommands and options before the last word, and returns its candidates.
Words candidates(const CLI::App& app, const Words& before, const std::string& last) {
    const CLI::App* command = &app;
    const CLI::Option* expects_value = nullptr;
    for (const std::string& word : before) {
        if (word == "=") continue;
        const CLI::Option* const option =
            expects_value ? nullptr : find_option(*command, word);
        const bool is_value = std::exchange(expects_value, nullptr) != nullptr;
        if (option && option->get_items_expected_max() > 0) expects_value = option;
        if (is_value || option) continue;
        if (command->get_prefix_command() && !word.starts_with('-')) return {};
        const auto commands = commands_of(*command);
        const auto next = std::ranges::find(commands, word, &CLI::App::get_name);
        if (next != commands.end()) command = *next;
    }
    if (expects_value) return values_of(*expects_value);

    Words words;
    for (const CLI::App* const next : commands_of(*command))
        words.push_back(next->get_name());
    if (last.starts_with('-') || (words.empty() && !has_positionals(*command)))
        words = options_of(*command);
    return words;
}

}  // namespace

std::optional<std::string> completions(const CLI::App& app, int argc,
                                       const char* const* argv) {
    if (argc < 2 || std::string(argv[1]) != "--complete") return std::nullopt;
    Words words(argv + 2, argv + argc);
    std::string last = words.empty() ? "" : words.back();
    if (!words.empty()) words.pop_back();
    if (last == "=") last.clear();

    std::string lines;
    for (const std::string& word : candidates(app, words, last))
        if (word.starts_with(last)) lines += word + '\n';
    return lines;
}

}  // namespace mini
