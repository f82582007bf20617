// The registry of backends, and the error messages for backends that are not registered.

#include "libmini/distributed/backends/registry.hpp"

#include "libmini/distributed/backends/threads.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

TEST_CASE("is_available agrees with known_backends and is true for ring and threads") {
    CHECK(is_available("ring"));
    CHECK(is_available("threads"));
    CHECK_FALSE(is_available("carrier pigeon"));
    for (const BackendEntry& entry : known_backends())
        CHECK(is_available(entry.name) == (entry.make != nullptr));
}

TEST_CASE("the error for an unknown backend lists the available backends") {
    const std::string text =
        failure_of([] { init_process_group({.backend = "pigeon"}); });
    CAPTURE(text);
    CHECK(contains(text, "UsageError: init_process_group: this program has no backend "));
    CHECK(contains(text, "\"pigeon\"; it has ring, threads"));
    for (const BackendEntry& entry : known_backends())
        CHECK(contains(text, entry.name) == entry.why_not.empty());
}

TEST_CASE(
    "the error for a backend that is not registered names its extra and its package") {
    for (const std::string name : {"gloo", "mpi", "nccl"}) {
        const std::string text =
            failure_of([&] { init_process_group({.backend = name}); });
        CAPTURE(text);
        CHECK(contains(
            text, concat("no backend \"", name, "\" (call extras::use_all() in main; ")));
        CHECK(contains(text, "install "));
        CHECK(contains(text, "configure again with the extra \"backends\" on"));
    }
}

TEST_CASE("init_process_group calls the function of the registered backend") {
    register_backend("another", [](const InitOptions& options) {
        return std::shared_ptr<ProcessGroup>(
            make_threads_groups(1, options.timeout).front());
    });
    CHECK(is_available("another"));
    init_process_group({.backend = "another"});
    CHECK(get_world_size() == 1);
    destroy_process_group();
}
