// mini bench allreduce: its ranks, its options, and the sizes that it accepts.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/program/sizes.hpp"
#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/json_answer.hpp"
#include "tests/support/message_of.hpp"

using mini::test::Answer;
using mini::test::contains;
using mini::test::json_of_mini;
using mini::test::run_mini;

TEST_CASE("mini bench allreduce runs processes on an emulated link") {
    const auto json = json_of_mini(
        "bench allreduce --ranks 3 --sizes 4,40000 --seconds 0.001 "
        "--link '1Gbit,1ms; rank 1 at 0.5' --format json");
    CHECK(json.at("link") == "1Gbit,1ms; rank 1 at 0.5");
    for (const auto& row : json.at("rows")) CHECK(row.at("wrong") == 0);
}

TEST_CASE("mini bench allreduce uses the ranks of minirun and prints one table") {
    const std::string mini = MINI_BIN_DIR "/minirun -n 3 " MINI_BIN_DIR "/mini ";
    const Answer table =
        mini::test::run_shell(mini + "bench allreduce --sizes 4,40000 --seconds 0.001");
    CAPTURE(table.text);
    CHECK(table.code == 0);
    const size_t header = table.text.find("# 3 ranks, backend ring");
    CHECK(header != std::string::npos);
    CHECK(table.text.find("# 3 ranks", header + 1) == std::string::npos);
    CHECK_FALSE(contains(table.text, "[rank "));
    const Answer other = mini::test::run_shell(mini + "bench allreduce --ranks 2");
    CHECK(other.code == 2);
    CHECK(contains(other.text, "--ranks is 2, but torchrun or minirun"));
}

TEST_CASE("mini bench allreduce rejects --link for the threads backend") {
    const Answer answer = run_mini("bench allreduce --backend threads --link 1Gbit");
    CAPTURE(answer.text);
    CHECK(answer.code == 2);
    CHECK(contains(answer.text, "--link is for --backend ring, not threads"));
}

TEST_CASE("sizes of a range grow by factors of 4 and sizes above 1024 GiB are rejected") {
    using mini::parse_sizes;
    CHECK(parse_sizes("4:64") == std::vector<size_t>{4, 16, 64});
    CHECK(parse_sizes("1024G") == std::vector<size_t>{size_t{1} << 40});
    CHECK(parse_sizes("256G:1024G") ==
          std::vector<size_t>{size_t{1} << 38, size_t{1} << 40});
    const std::string text = GENERATE("1025G", "17179869184G:4", "1:17179869184G",
                                      "1099511627777", "99999999999999999999");
    CHECK(contains(mini::test::message_of([&] { parse_sizes(text); }),
                   "not a size from 1 to 1024G"));
}
