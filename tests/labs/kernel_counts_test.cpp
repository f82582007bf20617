// kernel_counts, the program of lab 06: what it counts of libmini's kernels.

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/read_file.hpp"

using mini::test::Answer;
using mini::test::contains;
using mini::test::Folder;
using mini::test::read_file;

namespace {

using Row = std::map<std::string, std::string>;

Answer kernels(const std::string& arguments) {
    return mini::test::run_shell(MINI_BIN_DIR "/kernel_counts " + arguments);
}

// Returns what a command that must succeed prints.
std::string counted(const std::string& arguments) {
    const Answer answer = kernels(arguments);
    CAPTURE(answer.text);
    REQUIRE(answer.code == 0);
    return answer.text;
}

// Splits a line into cells; "27 x 256" and "12 %" are one cell each.
std::vector<std::string> cells_of(const std::string& line) {
    std::istringstream words(line);
    std::vector<std::string> cells;
    bool joins = false;
    for (std::string word; words >> word;) {
        if (joins || word == "x" || word == "%")
            cells.back() += " " + word;
        else
            cells.push_back(word);
        joins = word == "x";
    }
    return cells;
}

// Returns the table's rows by kernel.
std::map<std::string, Row> rows_of(const std::string& table) {
    std::istringstream lines(table);
    std::string line;
    std::getline(lines, line);
    std::vector<std::string> columns = cells_of(line);
    for (size_t i = 1; i < columns.size(); ++i)
        if (columns[i] == "used") columns[i] = columns[i - 1] + " used";
    std::map<std::string, Row> rows;
    while (std::getline(lines, line)) {
        const auto cells = cells_of(line);
        REQUIRE(cells.size() == columns.size());
        for (size_t i = 0; i < cells.size(); ++i) rows[cells[0]][columns[i]] = cells[i];
    }
    return rows;
}

}  // namespace

TEST_CASE(
    "kernel_counts shows the effect of coalescing between two rungs of the ladder") {
    auto rows = rows_of(counted("matmul-naive matmul-coalesced"));
    REQUIRE(rows.size() == 2);

    // 72 x 72 in 3 x 9 tiles of 32 x 8: 27 blocks of 8 warps, each 72 times two loads.
    Row& naive = rows.at("naive_kernel");
    Row& coalesced = rows.at("coalesced_kernel");
    for (Row* const row : {&naive, &coalesced}) {
        CHECK((*row)["grid x block"] == "27 x 256");
        CHECK((*row)["loads"] == std::to_string(27 * 8 * 72 * 2));
        CHECK((*row)["stores"] == std::to_string(27 * 8));
        CHECK((*row)["shared"] == "0");
        CHECK((*row)["passes"] == "-");
        CHECK((*row)["barriers"] == "0");
    }

    // The naive kernel uses one float of each sector of 32 bytes. In two of three warps,
    // which are full, the coalesced kernel uses 4 + 128 bytes of 5 sectors; in the others
    // it uses 4 + 32 bytes of 2 sectors.
    CHECK(naive["loads used"] == "12 %");
    CHECK(naive["stores used"] == "12 %");
    CHECK(coalesced["loads used"] == "78 %");
    CHECK(coalesced["stores used"] == "100 %");
}

TEST_CASE("kernel_counts counts passes over the shared memory banks and barriers") {
    Row row = rows_of(counted("matmul-tiled")).at("tiled_kernel");
    CHECK(row["shared"] != "0");
    CHECK(row["passes"] == "1.0");
    CHECK(row["worst"] == "1");
    CHECK(row["barriers"] == std::to_string(9 * 3 * 2));  // 9 blocks, 3 tiles along K
}

TEST_CASE("the rungs of the ladder of sums count less from rung to rung") {
    // Each rung sums 4096 floats by blocks, and then their sums, in a second launch: the
    // rows are those of the second.
    auto rows = rows_of(counted(
        "sum-divergent sum-interleaved sum-sequential sum-first-add sum-shuffle"));
    CHECK(rows.at("divergent_kernel")["barriers"] == "9");
    CHECK(rows.at("divergent_kernel")["worst"] == "1");
    CHECK(rows.at("interleaved_kernel")["worst"] == "8");
    CHECK(rows.at("sequential_kernel")["worst"] == "1");
    CHECK(rows.at("first_add_kernel")["barriers"] == "9");
    CHECK(rows.at("shuffle_kernel")["barriers"] == "1");
    CHECK(std::stoi(rows.at("divergent_kernel")["shared"]) >
          std::stoi(rows.at("sequential_kernel")["shared"]));
    CHECK(std::stoi(rows.at("sequential_kernel")["shared"]) >
          std::stoi(rows.at("shuffle_kernel")["shared"]));
}

TEST_CASE("kernel_counts --lines names the line that wastes sectors") {
    const std::string text = counted("relu-runs relu-each --lines");
    CHECK(contains(text, "relu_runs_kernel\n"));
    CHECK(contains(text, "thread 0 at byte 0, thread 1 at byte 32, "));
    CHECK(contains(text.substr(text.find("relu_each_kernel")),
                   "stores, global memory: 512 sectors of 32 bytes\n"));
}

TEST_CASE("kernel_counts without names runs every sample that --list prints") {
    const std::string all = counted("");
    std::istringstream names(counted("--list"));
    std::string every;
    size_t count = 0;
    for (std::string name; std::getline(names, name); ++count) every += " " + name;
    CHECK(counted(every) == all);
    CHECK(count >= 17);
    for (const char* kernel : {"max_pool_kernel", "column_sum_kernel", "row_sum_kernel"})
        CHECK(rows_of(all).count(kernel) == 1);
}

TEST_CASE("an unknown sample is an error that lists all samples") {
    const Answer answer = kernels("relu matmul-naiv");
    CAPTURE(answer.text);
    CHECK(answer.code == 2);
    CHECK(contains(answer.text, "no sample is named \"matmul-naiv\""));
    std::istringstream names(counted("--list"));
    for (std::string name; std::getline(names, name);) CHECK(contains(answer.text, name));
    CHECK(answer.text.find('\n') == answer.text.size() - 1);
}

TEST_CASE("kernel_counts --json has the sectors and passes of each launch of a sample") {
    const Folder folder;
    const std::string path = folder / "counts.json";
    counted("relu-each sum-atomic --json " + path);
    const auto json = nlohmann::json::parse(read_file(path));
    CHECK(json.size() == 2);
    REQUIRE(json.at("relu-each").size() == 1);
    const auto& launch = json.at("relu-each")[0];
    CHECK(contains(launch.at("kernel").get<std::string>(), "relu"));
    CHECK(launch.at("grid").get<int>() * launch.at("block").get<int>() == 4096);
    CHECK(launch.at("load_sectors") == 4096 * 4 / 32);
    CHECK(launch.at("store_sectors") == 4096 * 4 / 32);
    CHECK(launch.at("shared_load_passes") == 0);
    CHECK(json.at("sum-atomic").back().at("shared_store_passes") > 0);
}
