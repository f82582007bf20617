// The environment variables of torchrun and minirun, and their errors. tests/extras/launchers
// checks that all are read, of every launcher.

#include "libmini/distributed/rendezvous/rank_variables.hpp"

#include <map>
#include <optional>
#include <string>

#include "libmini/distributed/launch/default_group.hpp"
#include "tests/distributed/environment.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

using Variables = std::map<std::string, std::string>;

std::optional<RankVariables> read(const Variables& variables) {
    return read_rank_variables([&](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? "" : found->second;
    });
}

std::string fault(const Variables& variables) {
    return failure_of([&] { read(variables); });
}

}  // namespace

TEST_CASE("without a launcher the result is nullopt and empty variables count as unset") {
    CHECK_FALSE(read({}).has_value());
    CHECK_FALSE(read({{"RANK", ""}, {"WORLD_SIZE", ""}}).has_value());
}

TEST_CASE("if only one of RANK and WORLD_SIZE is set the error names the other") {
    CHECK(contains(fault({{"RANK", "1"}}),
                   "UsageError: environment variable WORLD_SIZE expected, but not set, "
                   "while RANK is 1"));
    CHECK(contains(fault({{"WORLD_SIZE", "2"}}), "variable RANK expected, but not set"));
}

TEST_CASE("a rank that is not an integer or out of range is an error that names it") {
    const auto of_4 = [](const std::string& rank) {
        return fault({{"RANK", rank}, {"WORLD_SIZE", "4"}});
    };
    CHECK(contains(of_4("3x"), "RANK is \"3x\", which is not an integer"));
    for (const char* rank : {"1.5", " 1", "99999999999"})
        CHECK(contains(of_4(rank), concat("RANK is \"", rank, "\"")));
    CHECK(contains(of_4("-1"), "RANK is -1; it must not be negative"));
    CHECK(contains(of_4("4"), "RANK is 4 but WORLD_SIZE is 4; ranks are 0 .. 3"));
    CHECK(contains(fault({{"RANK", "0"}, {"WORLD_SIZE", "0"}}),
                   "WORLD_SIZE is 0; it must be 1 or more"));
}

TEST_CASE("a rank of mpirun is an error that names the extra") {
    for (const std::string name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
        const std::string text = fault({{name, "1"}});
        CAPTURE(text);
        CHECK(contains(text, concat("environment variable ", name, " is set")));
        CHECK(contains(text, "extra \"launchers\""));
        const auto found = read({{name, "1"}, {"RANK", "0"}, {"WORLD_SIZE", "2"}});
        CHECK(found->rank == 0);
        CHECK(found->source == "torchrun or minirun (RANK, WORLD_SIZE)");
    }
}

TEST_CASE("port_from_text is stable and below the system's ephemeral ports") {
    CHECK(port_from_text("") == 20000 + 2166136261u % 10000);
    CHECK(port_from_text("4711.0") == port_from_text("4711.0"));
    for (int i = 0; i < 1000; ++i) {
        const int port = port_from_text(std::to_string(i));
        REQUIRE(port >= 20000);
        REQUIRE(port < 30000);
    }
}

TEST_CASE("get_local_rank reads the launcher's variables and is 0 without a launcher") {
    Environment environment;
    CHECK(get_local_rank() == 0);
    environment.set("RANK", "1");
    environment.set("WORLD_SIZE", "2");
    CHECK(contains(failure_of([] { get_local_rank(); }), "does not set LOCAL_RANK"));
    environment.set("LOCAL_RANK", "1");
    CHECK(get_local_rank() == 1);
}
