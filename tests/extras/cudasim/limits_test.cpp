// Launches that exceed a limit: each fails with CUDA's error, and the message has the
// limit and the value; one thread or byte less succeeds.

#include <string>

#include "libmini/kernels/cuda/runtime.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"
#include "tests/extras/cudasim/simulator_support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

namespace mini::sim {
namespace {

using Catch::Matchers::ContainsSubstring;

// Returns the error message of the wrong version, and requires that the right one works.
std::string error_of(bugs::Run run) {
    const std::string message = test::message_of<cuda::CudaError>([&] { run(true); });
    run(false);
    ok(cudaGetLastError());
    return message;
}

TEST_CASE("more than 48 KiB of __shared__ arrays are refused") {
    const std::string message = error_of(bugs::large_static);
    CHECK_THAT(message, ContainsSubstring("mini::bugs::large_arrays<12289u>"));
    CHECK_THAT(message, ContainsSubstring("arrays take 49156 bytes"));
    CHECK_THAT(message, ContainsSubstring("all 49152"));
    CHECK_THAT(message, ContainsSubstring("one 4"));
}

TEST_CASE("static and dynamic shared memory share 48 KiB without cudaFuncSetAttribute") {
    const std::string message = error_of(bugs::large_dynamic);
    CHECK_THAT(message, ContainsSubstring("mini::bugs::static_and_dynamic"));
    CHECK_THAT(message,
               ContainsSubstring("requests 46080 bytes of dynamic shared memory, and "
                                 "45056 are allowed beside __shared__ arrays of 4096"));
}

}  // namespace
}  // namespace mini::sim
