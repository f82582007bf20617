// CommandLine: the options of a program, declared one by one and read into its variables.
//
//     CommandLine line("Trains a network.", "train");
//     line.add("--epochs", options.epochs, "passes over the data").type_name("N").range(1, 99);
//     line.add_flag("--json", options.json, "print one line of JSON");
//     if (!line.parse(argc, argv)) return 0;  // the help was asked for
//
// CLI11 does the work, in command_line.cpp alone: every file that includes it compiles for
// seconds longer.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mini {

/// A word that an option takes, and the value that it stands for.
template <typename E>
struct Choice {
    const char* word;
    E value;
};

/// The word that stands for `value`. REQUIRES: one of them does.
template <typename E, size_t N>
std::string word_of(E value, const std::array<Choice<E>, N>& choices) {
    const auto found = std::ranges::find(choices, value, &Choice<E>::value);
    return found->word;
}

/// One option that has been declared. Belongs to its command line, and may be copied.
class Option {
  public:
    explicit Option(CLI::Option& option) : option_(&option) {}

    /// What the help calls the value, like "FILE". Give it before one_of and range, which
    /// otherwise show there what they let pass.
    Option& type_name(const std::string& text);

    /// What the help shows as the default, in place of the variable's value; "" for none.
    Option& default_text(const std::string& text);

    /// What is let pass: one of several words; a whole number, bounds included; a number
    /// above 0, or from 0 on; what `complaint` answers with "".
    Option& one_of(const std::vector<std::string>& words);
    Option& range(int64_t low, int64_t high);
    Option& at_least(int64_t low);
    Option& positive();
    Option& not_negative();
    Option& check(const std::function<std::string(const std::string&)>& complaint);

    Option& required();
    Option& needs(const Option& other);  ///< only together with `other`
    Option& split_at(char separator);    ///< several values in one word
    Option& hidden();                    ///< not in the help

    /// Whether it was on the command line.
    bool given() const;

  private:
    CLI::Option* option_;
    bool is_named_ = false;
};

/// A command with options and commands of its own, like `mini bench`. Refers to one that
/// lives elsewhere, and may be copied.
class Command {
  public:
    explicit Command(CLI::App& app) : app_(&app) {}

    /// Declares an option ("--name", "-n,--name") or, without dashes, a value told by its
    /// place. `value` holds the default, and must live until the command line is parsed. T
    /// is int, int64_t, uint64_t, double, std::string, an optional of the first two, or a
    /// vector of int, int64_t, double or std::string.
    template <typename T>
    Option add(const std::string& names, T& value, const std::string& help);

    /// Declares an option that takes one of several words, each of which stands for a value of an
    /// enumeration. The help lists them as "a|b|c".
    template <typename E, size_t N>
    Option add(const std::string& names, E& value,
               const std::array<Choice<E>, N>& choices, const std::string& help) {
        std::vector<std::string> words;
        for (const Choice<E>& choice : choices) words.emplace_back(choice.word);
        return add_words(names, words, word_of(value, choices), help,
                         [&value, choices](size_t i) { value = choices[i].value; });
    }

    /// Declares an option without a value, which sets a variable; "!--no-name" clears it.
    Option add_flag(const std::string& names, bool& value, const std::string& help);

    /// Declares a command of this one.
    Command add_command(const std::string& name, const std::string& about);

    void require_command();  ///< one of them must be given
    void allow_anything();   ///< takes words that it does not know
    void on_parsed(const std::function<void()>& call);  ///< called when it was given

    /// Whether the option of this name was on the command line.
    bool given(const std::string& name) const;

  protected:
    CLI::App& app() const { return *app_; }

  private:
    Option add_words(const std::string& names, const std::vector<std::string>& words,
                     const std::string& usual, const std::string& help,
                     const std::function<void(size_t)>& choose);

    CLI::App* app_;
};

/// The whole of a program's command line; its help shows defaults.
class CommandLine : public Command {
  public:
    CommandLine(const std::string& description, const std::string& name);
    ~CommandLine();

    /// How far to the right the help's explanations begin, in characters.
    void column_width(size_t characters);

    /// Reads the arguments into the variables. False when the help was asked for, and has
    /// been printed to stdout. Throws UsageError, one line that says where help is.
    bool parse(int argc, const char* const* argv);

  private:
    explicit CommandLine(std::unique_ptr<CLI::App> owned);

    std::unique_ptr<CLI::App> owned_;
};

}  // namespace mini
