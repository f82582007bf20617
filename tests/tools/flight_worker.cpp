// A rank for tests: does a few collectives; then rank 1 misbehaves as the argument says,
// once the others are in the next one.
//
//     throw, abort, segv   in the way of its name     skip   rank 1 stays out of the last
//     stubborn             all ignore SIGTERM and SIGINT while rank 1 stays out

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/store/file_store.hpp"
#include "libmini/tensor/ops.hpp"

namespace {

[[noreturn]] void stay_out() {
    std::puts("staying out");
    std::fflush(stdout);
    while (true) ::pause();
}

// Where the ranks of this job meet beside their group.
std::string meeting_place() {
    return std::filesystem::temp_directory_path() /
           mini::concat("flight_worker-", std::getenv("MASTER_PORT"));
}

void await_others(mini::dist::Store& begun, int world_size) {
    std::vector<std::string> others;
    for (int rank = 0; rank < world_size; ++rank)
        if (rank != 1) others.push_back(std::to_string(rank));
    begun.wait(others, mini::dist::deadline_after(std::chrono::seconds(30)));
    std::filesystem::remove(meeting_place());  // the others may not live to do so
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
    mini::dist::FileStore begun(meeting_place());
    mini::Tensor tensor = mini::Tensor::full({1000}, 1.0f);
    for (int i = 0; i < 3; ++i) group->all_reduce(tensor);
    if (group->rank() == 1) {
        await_others(begun, group->world_size());
        misbehave(manner);
    }
    try {
        const mini::dist::WorkHandle work = group->all_reduce_async(tensor);
        begun.set(std::to_string(group->rank()), "");
        work->wait();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    mini::dist::destroy_process_group();
    std::puts("done");
}
