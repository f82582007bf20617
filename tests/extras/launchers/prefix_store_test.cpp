// PrefixStore: several users of one store.

#include "libmini/extras/launchers/prefix_store.hpp"

#include <memory>

#include "libmini/distributed/store/hash_store.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;

TEST_CASE("two prefixes in one store do not see each other's keys") {
    const auto below = std::make_shared<HashStore>();
    PrefixStore a("a", below), b("b", below),
        inner("x", std::make_shared<PrefixStore>(a));
    a.set("key", "of a");
    CHECK_FALSE(b.check("key"));
    b.set("key", "of b");
    CHECK(a.get("key") == "of a");
    inner.set("key", "deep");
    CHECK(below->get("a/x/key") == "deep");
    CHECK(b.delete_key("key"));
    CHECK(a.check("key"));
    CHECK(a.num_keys() == 2);
}
