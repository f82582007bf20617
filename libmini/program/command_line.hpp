// CommandLine: declares the options of a program and parses them into variables.
//
//     CommandLine line("Trains a network.", "train");
//     line.add("--epochs", options.epochs, "passes over the data")
//         .type_name("N")
//         .range(1, 99);
//     line.add_flag("--json", options.json, "print one line of JSON");
//     if (!line.parse(argc, argv)) return 0;  // --help was given
//
// CommandLine hides CLI11, which adds seconds to the compile time of every file that
// includes it.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mini {

/// A declared option: a copyable handle, valid while its command line exists.
class Option {
  public:
    explicit Option(CLI::Option& option) : option_(&option) {}

    /// Sets the name of the value in the help, for example "FILE".
    Option& type_name(const std::string& text);

    /// Sets the default that the help shows instead of the variable's value; with "", the
    /// help shows no default.
    Option& default_text(const std::string& text);

    /// Accepts only these words; the help lists them as "a|b|c".
    Option& one_of(const std::vector<std::string>& words);

    Option& range(double low, double high);  ///< accepts numbers from `low` to `high`
    Option& at_least(double low);            ///< accepts numbers from `low` to 2^40

    /// Accepts a value if `validate` returns "", otherwise reports the returned error
    /// message.
    Option& check(const std::function<std::string(const std::string&)>& validate);

    /// Lets `change` replace a value before it is checked; reports what it returns as check()
    /// does.
    Option& transform(const std::function<std::string(std::string&)>& change);

    Option& required();                  ///< rejects a command line without this option
    Option& needs(const Option& other);  ///< rejects this option without `other`
    Option& split_at(char separator);    ///< splits one argument into several values

  private:
    CLI::Option* option_;
};

/// A command with its own options and subcommands, for example `mini bench`: a copyable
/// handle, valid while its command line exists.
class Command {
  public:
    explicit Command(CLI::App& app) : app_(&app) {}

    /// Declares an option ("--name", "-n,--name") or, without dashes, a positional
    /// argument. `value` holds the default and must outlive parse(). T is int, int64_t,
    /// uint64_t, double, std::string, std::optional of int or int64_t, or std::vector of
    /// int, int64_t, double or std::string. Numbers are decimal; for a uint64_t, as a seed,
    /// a negative number counts from 2^64 down.
    template <typename T>
    Option add(const std::string& names, T& value, const std::string& help);

    /// Declares a flag, which sets `value` to true, or to false if its name begins with
    /// "!", as in "!--no-name".
    Option add_flag(const std::string& names, bool& value, const std::string& help);

    /// Declares a subcommand.
    Command add_command(const std::string& name, const std::string& about);

    void require_command();  ///< rejects a command line without a subcommand

    /// Sets a function that parse() calls if this command was given.
    void on_parsed(const std::function<void()>& call);

    /// Takes all words from the first on that is neither an option nor the value of one, as
    /// they are. on_parsed() comes later.
    void take_rest(std::vector<std::string>& words);

    /// As take_rest(), for a command without options: takes --help, too.
    void take_all(std::vector<std::string>& words);

    /// Returns whether there is an option with this name.
    bool has(const std::string& name) const;

    /// Returns whether the option with this name was on the command line.
    bool given(const std::string& name) const;

  protected:
    CLI::App& app() const { return *app_; }

  private:
    CLI::App* app_;
};

/// The command line of a program; its help shows the defaults.
class CommandLine : public Command {
  public:
    CommandLine(const std::string& description, const std::string& name);
    ~CommandLine();

    /// Sets the text after "Usage: " in the help.
    void set_usage(const std::string& text);

    /// Declares --version, which prints `text`.
    void add_version(const std::string& text);

    /// Parses the arguments into the variables and returns true. If the arguments contain
    /// --help, prints the help to stdout, in 80 columns, and returns false. Throws
    /// UsageError, with a one-line message that mentions --help, if the arguments are
    /// invalid.
    bool parse(int argc, const char* const* argv);

    /// Returns the names of all options, without dashes, in the order of their
    /// declaration, each with its value: the one given, else the default of the help. The
    /// value of a flag is "true" or "false": whether it was given.
    std::vector<std::pair<std::string, std::string>> values() const;

  private:
    explicit CommandLine(std::unique_ptr<CLI::App> owned);

    std::unique_ptr<CLI::App> owned_;
};

}  // namespace mini
