#include "libmini/training/program.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "libmini/distributed/launch/launch.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/written.hpp"

using namespace mini;
using test::contains;

namespace {

// Returns what on_all_ranks(body) throws on each rank: "UsageError: ...", "SharedError:
// ...", or "" for no error.
std::vector<std::string> thrown(int world_size,
                                const std::function<void(int rank)>& body) {
    std::vector<std::string> texts(static_cast<size_t>(world_size));
    dist::run_threads(world_size, [&](dist::ProcessGroup& group) {
        std::string& text = texts[static_cast<size_t>(group.rank())];
        try {
            training::on_all_ranks(group, [&] { body(group.rank()); });
        } catch (const UsageError& error) {
            text = concat("UsageError: ", error.what());
        } catch (const training::SharedError& error) {
            text = concat("SharedError: ", error.what());
        }
        group.barrier();  // all ranks have called the same collectives so far
    });
    return texts;
}

std::vector<std::string> all(int world_size, const std::string& text) {
    return std::vector<std::string>(static_cast<size_t>(world_size), text);
}

}  // namespace

TEST_CASE("on_all_ranks throws the error of one rank on all ranks and names the rank") {
    for (const int world_size : {1, 2, 3, 4, 7})
        CHECK(thrown(world_size, [](int) {}) == all(world_size, ""));
    for (const int world_size : {2, 3, 4, 7}) {
        const int last = world_size - 1;
        const std::string text(5000, 'x');  // a long message is thrown whole
        CHECK(thrown(world_size, [&](int rank) {
                  if (rank == last) throw BadFile(text);
              }) == all(world_size, concat("SharedError: on rank ", last, ": ", text)));
        CHECK(thrown(world_size, [&](int rank) {
                  if (rank >= 1) throw UsageError("try ", rank);
              }) == all(world_size, "UsageError: on rank 1: try 1"));
    }

    // An error of rank 0 has no number.
    for (const int world_size : {1, 4})
        CHECK(thrown(world_size, [](int) { throw std::runtime_error("no such file"); }) ==
              all(world_size, "SharedError: no such file"));
}

TEST_CASE("run returns the exit code of the error and prints it to stderr") {
    int code = -1;
    const auto printed = [&](const std::function<void()>& body) {
        return test::written_to_stderr([&] { code = training::run("train", body); });
    };
    CHECK(printed([] {}).empty());
    CHECK(code == 0);
    CHECK(printed([] { throw UsageError("--lr is -1"); }) == "train: --lr is -1\n");
    CHECK(code == 2);
    CHECK(printed([] { throw training::SharedError("on rank 3: no disk"); }) ==
          "train: on rank 3: no disk\n");
    CHECK(code == 1);
    CHECK(printed([] { throw std::runtime_error("no memory"); }) == "train: no memory\n");
    CHECK(code == 1);
}
