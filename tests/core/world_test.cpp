// Tests current_world: the rank and world size of a thread.

#include "libmini/core/world.hpp"

#include <thread>

#include "tests/support/catch.hpp"

using mini::current_world;
using mini::set_current_world;
using mini::World;

TEST_CASE("current_world is empty before it is set and after it is cleared") {
    CHECK(!current_world());
    set_current_world(World{.rank = 2, .size = 3});
    CHECK(current_world() == World{.rank = 2, .size = 3});
    set_current_world(std::nullopt);
    CHECK(!current_world());
}

TEST_CASE("each thread has its own current_world") {
    set_current_world(World{.rank = 0, .size = 2});
    std::optional<World> before, after;
    std::thread([&] {
        before = current_world();
        set_current_world(World{.rank = 1, .size = 2});
        after = current_world();
    }).join();
    CHECK(!before);
    CHECK(after == World{.rank = 1, .size = 2});
    CHECK(current_world() == World{.rank = 0, .size = 2});
    set_current_world(std::nullopt);
}
