#include "libmini/program/wrap.hpp"

#include <string>

#include "tests/support/catch.hpp"

using mini::wrapped;

TEST_CASE("the rest of a long line begins below the last column of a table") {
    CHECK(wrapped("  --lr X      the learning rate\n", 24) ==
          "  --lr X      the\n"
          "              learning\n"
          "              rate\n");
}

TEST_CASE("the rest of a long line without columns begins at its indentation") {
    CHECK(wrapped("    four words of text", 15) == "    four words\n    of text\n");
}

TEST_CASE("short lines, empty lines and spaces before words stay as they are") {
    const std::string text = "usage:\n\n  --lr X   the rate\n\n";
    CHECK(wrapped(text, 20) == text);
    CHECK(wrapped("", 20).empty());
    CHECK(wrapped("exactly ten ", 11) == "exactly ten\n");
}

TEST_CASE("a list of words with bars is broken after a bar, another long word is not") {
    CHECK(wrapped("  --algorithm ring|tree|naive TEXT", 22) ==
          "  --algorithm\n  ring|tree|naive TEXT\n");
    CHECK(wrapped("  ring|tree|naive|halving", 14) ==
          "  ring|tree|\n  naive|\n  halving\n");
    CHECK(wrapped("  a_path/that/is_long and more", 10) ==
          "  a_path/that/is_long\n  and more\n");
}
