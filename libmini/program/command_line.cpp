#include "libmini/program/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>

#include "libmini/core/error.hpp"
#include "libmini/program/wrap.hpp"

namespace mini {
namespace {

constexpr double kMost = 0x1p40;  // of at_least(): larger numbers might overflow later

// If `text` is a decimal number of type T, writes an integer without leading zeros, and
// returns true. CLI11 takes "" for 0, "010" for 8, and 2^64 for 2^64 - 1.
template <typename T>
bool tidy_number(std::string& text) {
    const char* const begin = text.data() + (text.starts_with('+') ? 1 : 0);
    T value;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return false;
    if constexpr (std::is_integral_v<T>) text = std::to_string(value);
    return true;
}

template <typename T>
void check_numbers(CLI::Option& option) {
    const auto error_of = [](std::string& text) {
        if (tidy_number<T>(text)) return std::string();
        if (std::is_same_v<T, uint64_t> && tidy_number<int64_t>(text)) {
            // Newer versions of CLI11 accept no sign here.
            text = std::to_string(static_cast<uint64_t>(std::stoll(text)));
            return std::string();
        }
        return concat("'", text, "' is not a decimal number, or too large");
    };
    option.transform(CLI::Validator(error_of, ""));
}

// The numbers in an option's variable: T, or the elements of an optional or vector.
template <typename T>
struct NumbersOf {
    using type = T;
};
template <typename T>
requires(!std::is_same_v<T, std::string>) && requires { typename T::value_type; }
struct NumbersOf<T> {
    using type = typename T::value_type;
};

// The help in the form of CLI11 2.1, which later versions change; its usage line may be
// the program's own.
class Help : public CLI::Formatter {
  public:
    explicit Help(std::string usage = "") : usage_(std::move(usage)) { column_width(36); }

    std::string make_usage(const CLI::App* app, std::string name) const override {
        const std::string usage = CLI::detail::trim_copy(
            usage_.empty() ? Formatter::make_usage(app, name) : usage_);
        return concat(usage.starts_with("Usage: ") ? "" : "Usage: ", usage, "\n");
    }
    std::string make_group(std::string group, bool is_positional,
                           std::vector<const CLI::Option*> options) const override {
        if (group == "OPTIONS") group = "Options";
        if (group == "POSITIONALS") group = "Positionals";
        return Formatter::make_group(group, is_positional, options);
    }
    std::string make_option(const CLI::Option* option,
                            bool is_positional) const override {
        return row(make_option_name(option, is_positional) + make_option_opts(option),
                   make_option_desc(option));
    }
    std::string make_subcommand(const CLI::App* command) const override {
        return row(command->get_name(), command->get_description());
    }

  private:
    std::string row(const std::string& name, const std::string& text) const {
        const size_t column = get_column_width();
        if (name.size() + 2 < column)
            return fmt::format("  {:{}}{}\n", name, column - 2, text);
        return fmt::format("  {}\n{:{}}{}\n", name, "", column, text);
    }

    std::string usage_;
};

}  // namespace

Option& Option::type_name(const std::string& text) {
    option_->type_name(text);
    return *this;
}

Option& Option::default_text(const std::string& text) {
    option_->default_str(text);
    return *this;
}

Option& Option::one_of(const std::vector<std::string>& words) {
    option_->check(CLI::IsMember(words).description(""));
    return type_name(fmt::format("{}", fmt::join(words, "|")));
}

Option& Option::range(double low, double high) {
    return check([low, high](const std::string& text) -> std::string {
        const double value = std::strtod(text.c_str(), nullptr);
        if (value >= low && value <= high) return "";
        const std::string range = high < kMost   ? fmt::format("from {} to {}", low, high)
                                  : value > high ? fmt::format("at most {}", high)
                                                 : fmt::format("at least {}", low);
        return concat("must be ", range, ", but is ", text);
    });
}

Option& Option::at_least(double low) { return range(low, kMost); }

Option& Option::check(const std::function<std::string(const std::string&)>& validate) {
    option_->check(CLI::Validator(validate, ""));
    return *this;
}

Option& Option::transform(const std::function<std::string(std::string&)>& change) {
    option_->transform(CLI::Validator(change, ""));
    return *this;
}

Option& Option::required() {
    option_->required();
    option_->default_str("");
    return *this;
}

Option& Option::needs(const Option& other) {
    option_->needs(other.option_);
    return *this;
}

Option& Option::split_at(char separator) {
    option_->delimiter(separator);
    return *this;
}

template <typename T>
Option Command::add(const std::string& names, T& value, const std::string& help) {
    CLI::Option& option = *app_->add_option(names, value, help);
    using Number = typename NumbersOf<T>::type;
    if constexpr (std::is_arithmetic_v<Number>)
        check_numbers<Number>(option);
    else  // the value of a shell variable that is not set
        Option(option).check([](const std::string& text) -> std::string {
            return text.empty() ? "has an empty value" : "";
        });
    return Option(option);
}

template Option Command::add(const std::string&, int&, const std::string&);
template Option Command::add(const std::string&, int64_t&, const std::string&);
template Option Command::add(const std::string&, uint64_t&, const std::string&);
template Option Command::add(const std::string&, double&, const std::string&);
template Option Command::add(const std::string&, std::string&, const std::string&);
template Option Command::add(const std::string&, std::optional<int>&, const std::string&);
template Option Command::add(const std::string&, std::optional<int64_t>&,
                             const std::string&);
template Option Command::add(const std::string&, std::vector<int>&, const std::string&);
template Option Command::add(const std::string&, std::vector<int64_t>&,
                             const std::string&);
template Option Command::add(const std::string&, std::vector<double>&,
                             const std::string&);
template Option Command::add(const std::string&, std::vector<std::string>&,
                             const std::string&);

Option Command::add_flag(const std::string& names, bool& value, const std::string& help) {
    return Option(*app_->add_flag(names, value, help));
}

Command Command::add_command(const std::string& name, const std::string& about) {
    return Command(*app_->add_subcommand(name, about)->group("Subcommands"));
}

void Command::require_command() { app_->require_subcommand(1); }

void Command::on_parsed(const std::function<void()>& call) { app_->callback(call); }

void Command::take_rest(std::vector<std::string>& words) {
    app_->prefix_command();
    app_->parse_complete_callback([app = app_, &words] { words = app->remaining(); });
}

void Command::take_all(std::vector<std::string>& words) {
    app_->set_help_flag();
    take_rest(words);
}

bool Command::has(const std::string& name) const {
    return app_->get_option_no_throw(name) != nullptr;
}

bool Command::given(const std::string& name) const { return app_->count(name) > 0; }

CommandLine::CommandLine(const std::string& description, const std::string& name)
    : CommandLine(std::make_unique<CLI::App>(description, name)) {}

CommandLine::CommandLine(std::unique_ptr<CLI::App> owned)
    : Command(*owned), owned_(std::move(owned)) {
    app().option_defaults()->always_capture_default();
    app().formatter(std::make_shared<Help>());
}

CommandLine::~CommandLine() = default;

void CommandLine::set_usage(const std::string& text) {
    app().formatter(std::make_shared<Help>(text));
}

void CommandLine::add_version(const std::string& text) {
    app().set_version_flag("--version", text);
}

bool CommandLine::parse(int argc, const char* const* argv) {
    // A learner's build of a program has another name: the help and errors must show it.
    if (argc > 0) {
        const std::string called = std::filesystem::path(argv[0]).filename().string();
        if (called == app().get_name() + "_mine") app().name(called);
    }
    try {
        app().parse(argc, argv);
        return true;
    } catch (const CLI::CallForHelp&) {
        std::cout << wrapped(app().help());
        return false;
    } catch (const CLI::CallForVersion& version) {
        std::cout << version.what() << '\n';
        return false;
    } catch (const CLI::ParseError& error) {
        std::string fault = error.what();
        const std::vector<std::string> rest = app().remaining();
        if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !rest.empty())
            fault += ", not " + rest.front();
        throw UsageError(fault, " (", app().get_name(), " --help lists the options)");
    }
}

std::vector<std::pair<std::string, std::string>> CommandLine::values() const {
    std::vector<std::pair<std::string, std::string>> all;
    for (const CLI::Option* option : app().get_options()) {
        if (option == app().get_help_ptr()) continue;
        const bool is_given = option->count() > 0;
        std::string value = is_given
                                ? fmt::format("{}", fmt::join(option->results(), " "))
                                : option->get_default_str();
        if (option->get_items_expected_max() == 0) value = is_given ? "true" : "false";
        all.emplace_back(option->get_single_name(), value);
    }
    return all;
}

}  // namespace mini
