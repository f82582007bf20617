// A rank for tests. All ranks run three collectives. When the other ranks have started
// the last collective, rank 1 does what the argument selects:
//
//     throw, abort, segv   rank 1 throws, aborts or crashes
//     skip                 rank 1 does not call the last collective
//     stop                 SIGSTOP stops rank 1; the others wait for 4 s
//     return               rank 1 ends with exit code 0

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/extras/use_all.hpp"

namespace {

[[noreturn]] void stay_out() {
    std::puts("staying out");
    std::fflush(stdout);
    while (true) ::pause();
}

// The file by which a rank reports that it has started the last collective.
std::filesystem::path begun_path(int rank) {
    return std::filesystem::temp_directory_path() /
           mini::concat("flight_worker-", std::getenv("MASTER_PORT"), "-", rank);
}

void report_begun(int rank) { std::ofstream(begun_path(rank)) << "\n"; }

void await_others(int world_size) {
    ::alarm(30);
    for (int rank = 0; rank < world_size; ++rank) {
        if (rank == 1) continue;
        while (!std::filesystem::exists(begun_path(rank)))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::filesystem::remove(begun_path(rank));  // here, since others may be killed
    }
    ::alarm(0);
}

void misbehave(const std::string& manner) {
    if (manner == "throw") throw std::logic_error("rank 1 throws on purpose");
    if (manner == "abort") std::abort();
    if (manner == "segv") ::raise(SIGSEGV);
    if (manner == "skip") stay_out();
    if (manner == "stop") ::raise(SIGSTOP);
    if (manner == "return") std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
    mini::extras::use_all();
    const std::string manner = argc > 1 ? argv[1] : "";
    const auto group = mini::dist::init_process_group();
    mini::Tensor tensor = mini::Tensor::full({1000}, 1.0f);
    for (int i = 0; i < 3; ++i) group->all_reduce(tensor);
    if (group->rank() == 1 && !manner.empty()) {
        await_others(group->world_size());
        misbehave(manner);
    }
    try {
        const mini::dist::WorkHandle work = group->start(
            {.operation = mini::dist::Operation::kAllReduce,
             .outputs = {tensor},
             .timeout = manner == "stop" ? std::chrono::seconds(4) : group->timeout()});
        if (!manner.empty()) report_begun(group->rank());
        work->wait();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    mini::dist::destroy_process_group();
    std::puts("done");
}
