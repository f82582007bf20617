// A rank for tests: does a few collectives; then rank 1 misbehaves as the argument says.
//
//     throw, abort, segv   in the way of its name     skip   rank 1 stays out of the last
//     stubborn             all ignore SIGTERM and SIGINT while rank 1 stays out

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "libmini/dist/default_group.hpp"
#include "libmini/tensor/ops.hpp"

namespace {

[[noreturn]] void stay_out() {
    std::puts("staying out");
    std::fflush(stdout);
    while (true) ::pause();
}

void misbehave(const std::string& manner) {
    if (manner == "throw") throw std::logic_error("rank 1 throws on purpose");
    if (manner == "abort") std::abort();
    if (manner == "segv") ::raise(SIGSEGV);
    if (manner == "skip" || manner == "stubborn") stay_out();
}

}  // namespace

int main(int argc, char** argv) {
    const std::string manner = argc > 1 ? argv[1] : "";
    if (manner == "stubborn")
        for (const int signal : {SIGTERM, SIGINT}) ::signal(signal, SIG_IGN);
    const auto group = mini::dist::init_process_group();
    mini::Tensor tensor = mini::Tensor::full({1000}, 1.0f);
    for (int i = 0; i < 3; ++i) group->all_reduce(tensor);
    if (group->rank() == 1) misbehave(manner);
    try {
        group->all_reduce(tensor);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    mini::dist::destroy_process_group();
    std::puts("done");
}
