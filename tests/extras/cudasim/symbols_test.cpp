// The names of the functions at addresses in the program.

#include "libmini/extras/cudasim/symbols.hpp"

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/api.hpp"
#include "tests/support/catch.hpp"

namespace mini::sim {

[[gnu::noinline]] void named_kernel(float* out, int n) { out[0] = static_cast<float>(n); }

namespace {

[[gnu::noinline]] void unnamed_kernel(float* out, int n) {
    out[0] = static_cast<float>(2 * n);
}

template <int kTile>
[[gnu::noinline]] void tiled_kernel(float* out) {
    out[0] = static_cast<float>(kTile);
}

template <typename Kernel>
const void* address_of(Kernel* kernel) {
    return reinterpret_cast<const void*>(kernel);
}

TEST_CASE("a kernel's name has its parameters and no unnamed namespace") {
    CHECK(function_at(address_of(named_kernel)) ==
          "mini::sim::named_kernel(float*, int)");
    CHECK(function_at(address_of(unnamed_kernel)) ==
          "mini::sim::unnamed_kernel(float*, int)");
    CHECK(function_at(address_of(tiled_kernel<8>)) ==
          "void mini::sim::tiled_kernel<8>(float*)");
    const char* name = nullptr;
    REQUIRE(cudaFuncGetName(&name, address_of(unnamed_kernel)) == cudaSuccess);
    CHECK(std::string(name) == "mini::sim::unnamed_kernel(float*, int)");
}

TEST_CASE("the short name of a function has no namespaces and no template arguments") {
    CHECK(short_name(function_at(address_of(unnamed_kernel))) == "unnamed_kernel");
    CHECK(short_name(function_at(address_of(tiled_kernel<8>))) == "tiled_kernel");
}

TEST_CASE("the name of an address outside of every function is the address") {
    const int on_stack = 0;
    CHECK(function_at(&on_stack) == concat("at ", static_cast<const void*>(&on_stack)));
}

}  // namespace
}  // namespace mini::sim
