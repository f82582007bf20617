// rendezvous_config() with the variables of other launchers than torchrun.

#include <stdlib.h>

#include <string>

#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "libmini/distributed/rendezvous/rendezvous_config.hpp"
#include "tests/distributed/environment.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

TEST_CASE("env:// takes another launcher's rank and derives the master address") {
    Environment environment;
    environment.set("OMPI_COMM_WORLD_RANK", "1");
    environment.set("OMPI_COMM_WORLD_SIZE", "2");
    environment.set("OMPI_COMM_WORLD_LOCAL_RANK", "1");
    environment.set("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
    environment.set("OMPI_MCA_ess_base_jobid", "99");
    const RendezvousConfig config = rendezvous_config("env://", -1, -1);
    CHECK(config.rank == 1);
    CHECK(config.world_size == 2);
    CHECK(to_text(config.master) == concat("127.0.0.1:", port_from_text("99")));

    // If MASTER_ADDR or MASTER_PORT is set, its value is used instead of a derived value.
    environment.set("MASTER_ADDR", "::1");
    CHECK(rendezvous_config("env://", -1, -1).master.host == "::1");
    CHECK(rendezvous_config("env://", -1, -1).master.port == port_from_text("99"));
    environment.set("MASTER_PORT", "1234");
    CHECK(rendezvous_config("env://", -1, -1).master.port == 1234);
    environment.set("OMPI_COMM_WORLD_LOCAL_SIZE", "1");
    CHECK(rendezvous_config("env://", -1, -1).master.port == 1234);
    ::unsetenv("MASTER_ADDR");
    CHECK(contains(failure_of([] { rendezvous_config("env://", -1, -1); }),
                   "MASTER_ADDR expected, but not set"));
}
