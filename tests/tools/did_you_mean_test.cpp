// Suggestions for mistyped words.

#include "libmini/tools/mini/did_you_mean.hpp"

#include "tests/support/catch.hpp"

using mini::tools::did_you_mean;
using mini::tools::edit_distance;

TEST_CASE(
    "the edit distance counts inserted and deleted and replaced and swapped letters") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("abc", "abc") == 0);
    CHECK(edit_distance("abc", "abd") == 1);
    CHECK(edit_distance("abc", "acb") == 1);
    CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("a word is suggested only when it is close") {
    const std::vector<std::string> known = {"--tee", "--nnodes", "--max-restarts"};
    CHECK(did_you_mean("--tea", known) == "; did you mean --tee?");
    CHECK(did_you_mean("--max", known) == "; did you mean --max-restarts?");
    CHECK(did_you_mean("--nnode=2", known) == "; did you mean --nnodes?");
    CHECK(did_you_mean("--colour", known).empty());
    CHECK(did_you_mean("", known).empty());
    CHECK(did_you_mean(std::string(100000, 'x'), known).empty());
}
