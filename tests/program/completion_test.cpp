// The words that a program offers for the last word of its command line.

#include <array>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "libmini/program/command_line.hpp"
#include "tests/support/catch.hpp"

namespace {

using Words = std::vector<std::string>;

enum class Colour { kRed, kGreen };
constexpr std::array kColours = {mini::Choice{"red", Colour::kRed},
                                 mini::Choice{"green", Colour::kGreen}};

// Returns what a program with two subcommands offers for these words.
Words offered(Words words) {
    mini::CommandLine line("Paints.", "paint");
    std::string file, medium;
    Colour colour = Colour::kRed;
    bool no_frame = false;
    mini::Command wall = line.add_command("wall", "Paints a wall");
    wall.add("--colour", colour, kColours, "the colour");
    wall.add("--medium", medium, "the medium").one_of({"oil", "water"});
    wall.add("-w,--width,--wall_width", file, "its width");
    wall.add("--secret", file, "not in the help").hidden();
    mini::Command picture = line.add_command("picture", "Paints a picture");
    picture.add("FILE", file, "the picture");
    picture.add_flag("--no-frame", no_frame, "without a frame");

    words.insert(words.begin(), {"paint", "--complete"});
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    std::stringstream output;
    std::streambuf* const screen = std::cout.rdbuf(output.rdbuf());
    const bool runs = line.parse(static_cast<int>(argv.size()), argv.data());
    std::cout.rdbuf(screen);
    CHECK_FALSE(runs);

    Words found;
    for (std::string word; std::getline(output, word);) found.push_back(word);
    return found;
}

}  // namespace

TEST_CASE("completion offers the subcommands, and options after a dash") {
    CHECK(offered({}) == Words{"wall", "picture"});
    CHECK(offered({""}) == Words{"wall", "picture"});
    CHECK(offered({"p"}) == Words{"picture"});
    CHECK(offered({"-"}) == Words{"--help"});
    CHECK(offered({"wall", ""}) == Words{"--help", "--colour", "--medium", "--width"});
    CHECK(offered({"wall", "--w"}) == Words{"--width"});
    CHECK(offered({"picture", "--"}) == Words{"--help", "--no-frame"});
}

TEST_CASE("completion offers the words that an option accepts") {
    CHECK(offered({"wall", "--colour", ""}) == Words{"red", "green"});
    CHECK(offered({"wall", "--colour", "=", "g"}) == Words{"green"});
    CHECK(offered({"wall", "--colour", "="}) == Words{"red", "green"});
    CHECK(offered({"wall", "--medium", ""}) == Words{"oil", "water"});
    CHECK(offered({"wall", "--colour", "red", "--m"}) == Words{"--medium"});
}

TEST_CASE("completion leaves values and positional arguments to the shell") {
    CHECK(offered({"wall", "-w", ""}).empty());
    CHECK(offered({"picture", ""}).empty());
    CHECK(offered({"wall", "--width", "wall", "--w"}) == Words{"--width"});
}
