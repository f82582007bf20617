// One rank of backend "mpi"; the tests "dist_mpi" start the ranks with mpirun. The
// argument names the case to run. Prints the text of the rank's exception, or "fine".

#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <thread>

#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "libmini/extras/use_all.hpp"
#include "tests/distributed/conformance.hpp"
#include "tests/distributed/processes.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

void mismatch(ProcessGroup& group) {
    const bool is_odd = group.rank() == group.world_size() - 1;
    group.all_reduce(Tensor::zeros({is_odd ? 9 : 8}));
}

// The last rank sleeps, so that the other ranks time out, until mpirun stops it.
void silence(ProcessGroup& group) {
    group.barrier();
    if (group.rank() == group.world_size() - 1) std::this_thread::sleep_for(kLong);
    group.all_reduce(Tensor::zeros({8}));
}

void early_end(ProcessGroup& group) {
    if (group.rank() == group.world_size() - 1) throw Error("enough");
    group.all_reduce(Tensor::zeros({8}));
}

// Calls init_process_group, on the victim with a rank that contradicts MPI's rank, so
// that the other ranks wait for the victim.
void start_wrongly(bool is_victim) {
    try {
        init_process_group({.backend = "mpi",
                            .rank = is_victim ? 99 : -1,
                            .timeout = milliseconds(2000)});
    } catch (const UsageError& error) {
        // Keep this rank alive: mpirun stops it when the other ranks have exited.
        std::cout << error.what() << std::endl;
        std::this_thread::sleep_for(kLong);
    }
}

void run(const std::string& what) {
    const int rank = read_rank_variables().value().rank;
    if (what == "wrong_first") return start_wrongly(rank == 0);
    if (what == "wrong_last") return start_wrongly(rank == 2);
    const auto group = init_process_group(
        {.backend = "mpi",
         .timeout = what == "silence" ? milliseconds(1000) : milliseconds(kLong)});
    const std::map<std::string, std::function<void(ProcessGroup&)>> parts{
        {"mismatch", mismatch},
        {"silence", silence},
        {"early_end", early_end},
        {"subgroups", check_subgroups}};
    parts.at(what)(*group);
    destroy_process_group();
}

}  // namespace

int main(int count, char** arguments) {
    mini::extras::use_all();
    const std::string what = count > 1 ? arguments[1] : "subgroups";
    const std::string text = failure_of([&] { run(what); });
    const std::string line = concat(text.empty() ? "fine" : text, "\n");
    std::cout << line << std::flush;

    // mpirun stops all ranks when one rank exits without MPI_Finalize: first let the
    // other ranks print their errors.
    if (!text.empty()) std::this_thread::sleep_for(std::chrono::seconds(3));
}
