// The table and picture of `mini kernels`, and the output of the built program.

#include "libmini/tools/mini/kernels.hpp"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/read_file.hpp"
#include "tests/support/answer.hpp"

using mini::test::Answer;
using mini::test::contains;
using mini::test::Folder;
using mini::test::read_file;
using mini::test::run_mini;

namespace {

using Row = std::map<std::string, std::string>;

Answer kernels(const std::string& arguments) { return run_mini("kernels " + arguments); }

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

// The squares of one colour: their number, and their columns and rows in the picture.
struct Squares {
    size_t count = 0;
    std::set<std::string> xs, ys;
};
Squares squares(const std::string& svg, const std::string& colour) {
    Squares all;
    std::istringstream lines(svg);
    for (std::string line; std::getline(lines, line);) {
        if (!contains(line, "fill=\"" + colour + "\"")) continue;
        const auto value = [&](const std::string& name) {
            const size_t begin = line.find(" " + name + "=\"") + name.size() + 3;
            return line.substr(begin, line.find('"', begin) - begin);
        };
        ++all.count;
        all.xs.insert(value("x"));
        all.ys.insert(value("y"));
    }
    return all;
}

const std::string kLoads = "#3366cc", kStores = "#cc3333";

}  // namespace

TEST_CASE("mini kernels shows the effect of coalescing between two rungs of the ladder") {
    const Answer answer = kernels("matmul-naive matmul-coalesced");
    CAPTURE(answer.text);
    REQUIRE(answer.code == 0);
    auto rows = rows_of(answer.text);
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

TEST_CASE("mini kernels counts passes over the shared memory banks and barriers") {
    const Answer answer = kernels("matmul-tiled");
    CAPTURE(answer.text);
    REQUIRE(answer.code == 0);
    Row row = rows_of(answer.text).at("tiled_kernel");
    CHECK(row["shared"] != "0");
    CHECK(row["passes"] == "1.0");
    CHECK(row["worst"] == "1");
    CHECK(row["barriers"] == std::to_string(9 * 3 * 2));  // 9 blocks, 3 tiles along K
}

TEST_CASE("the rungs of the ladder of sums count less from rung to rung") {
    const Answer answer =
        kernels("sum-divergent sum-interleaved sum-sequential sum-first-add sum-shuffle");
    CAPTURE(answer.text);
    REQUIRE(answer.code == 0);
    // Each rung sums 4096 floats by blocks, and then their sums, in a second launch: the
    // rows are those of the second.
    auto rows = rows_of(answer.text);
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

TEST_CASE("mini kernels --lines names the line that wastes sectors") {
    const Answer answer = kernels("relu-runs relu-each --lines");
    CAPTURE(answer.text);
    REQUIRE(answer.code == 0);
    CHECK(contains(answer.text, "relu_runs_kernel\n"));
    CHECK(contains(answer.text, "thread 0 at byte 0, thread 1 at byte 32, "));
    CHECK(contains(answer.text.substr(answer.text.find("relu_each_kernel")),
                   "stores, global memory: 512 sectors of 32 bytes\n"));
}

TEST_CASE("the table shows passes relative to the passes needed without bank conflicts") {
    mini::sim::LaunchCounters counters;
    counters.kernel = "column_kernel";
    counters.grid = 2;
    counters.block = 64;
    counters.atomics = 7;
    for (mini::sim::Traffic* const all :
         {&counters.shared_loads, &counters.shared_stores})
        all->instructions = all->least = all->rounds = 32;
    counters.shared_loads.rounds = 32 * 32;
    counters.shared_loads.worst = 32;
    counters.shared_stores.worst = 1;
    Row row = rows_of(mini::tools::counters_table({counters})).at("column_kernel");
    CHECK(row["grid x block"] == "2 x 64");
    CHECK(row["shared"] == "64");
    CHECK(row["passes"] == "16.5");
    CHECK(row["worst"] == "32");
    CHECK(row["atomics"] == "7");
    CHECK(row["loads used"] == "-");
}

TEST_CASE("mini kernels without names runs every sample that --list prints") {
    const Answer list = kernels("--list"), all = kernels("");
    CHECK(list.code == 0);
    CHECK(all.code == 0);
    std::istringstream names(list.text);
    std::string every;
    size_t count = 0;
    for (std::string name; std::getline(names, name); ++count) every += " " + name;
    CHECK(kernels(every).text == all.text);
    CHECK(count >= 17);
    for (const char* kernel :
         {"max_pool_kernel", "column_sum_kernel", "row_sum_kernel", "tensor_kernel"})
        CHECK(rows_of(all.text).count(kernel) == 1);
}

TEST_CASE("an unknown sample is an error that lists all samples") {
    const Answer answer = kernels("relu matmul-naiv");
    CAPTURE(answer.text);
    CHECK(answer.code == 2);
    CHECK(contains(answer.text, "no sample is named \"matmul-naiv\""));
    CHECK(contains(answer.text, "did you mean matmul-naive?"));
    for (const auto& sample : mini::tools::kernel_samples())
        CHECK(contains(answer.text, sample.name));
    CHECK(answer.text.find('\n') == answer.text.size() - 1);
}

TEST_CASE("the picture has a square for each access of the first block") {
    const Folder folder;
    const std::string path = folder / "relu.svg";
    const Answer answer = kernels("relu --svg " + path);
    CAPTURE(answer.text);
    REQUIRE(answer.code == 0);
    CHECK(contains(answer.text, "each_kernel"));
    const std::string svg = read_file(path);
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(contains(svg, ">relu: threads of block 0 across"));
    CHECK(contains(svg, ">224</text>"));  // the first thread of the last warp

    // Each of 256 threads loads 16 bytes of one array and stores 16 bytes of another.
    // 16 bytes are half a sector, and a sector is one row of the picture.
    const Squares loads = squares(svg, kLoads), stores = squares(svg, kStores);
    for (const Squares* all : {&loads, &stores}) {
        CHECK(all->count == 256);
        CHECK(all->xs.size() == 256);
        CHECK(all->ys.size() == 128);
    }
    for (const std::string& y : loads.ys) CHECK(stores.ys.count(y) == 0);
}

TEST_CASE("the picture of many accesses contains every thread of the first block") {
    const Folder folder;
    const std::string path = folder / "naive.svg";
    REQUIRE(kernels("matmul-naive --svg " + path).code == 0);
    const std::string svg = read_file(path);
    CHECK(squares(svg, kLoads).count == 256 * 72 * 2);
    CHECK(squares(svg, kStores).count == 256);
}

TEST_CASE("a picture that cannot be drawn is an error with a reason") {
    const Folder folder;
    const Answer many = kernels("relu scale --svg " + (folder / "two.svg"));
    CHECK(many.code == 2);
    CHECK(contains(many.text, "a picture shows one sample, but 2 were chosen"));
    CHECK_FALSE(std::ifstream(folder / "two.svg").good());

    const std::string nowhere = folder / "missing/relu.svg";
    const Answer unwritten = kernels("relu --svg " + nowhere);
    CHECK(unwritten.code == 1);
    CHECK(contains(unwritten.text, "mini: mini kernels: cannot write " + nowhere));
}

TEST_CASE("mini kernels --json has the sectors and passes of each launch of a sample") {
    const Folder folder;
    const std::string path = folder / "counts.json";
    REQUIRE(kernels("relu-each sum-atomic --json " + path).code == 0);
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
