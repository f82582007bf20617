// rendezvous_time: the time of a rendezvous against the number of ranks, in virtual time.
//
//     rendezvous_time                      prints the table that measure.py draws
//
// Each rank has its own host. Only the network takes virtual time, computation does not.
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "labs/10-store-and-rendezvous/store_barrier.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/training/program.hpp"

namespace {

using namespace mini;
using namespace mini::dist;
using std::chrono::seconds;

struct Times {
    double join_ms = 0, barrier_ms = 0;
    uint64_t requests = 0;  // of all ranks, while they join
};

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Times measure(int ranks, const std::string& links) {
    ProcessCluster cluster(ranks, parse_links(links), 1);
    Times times;
    int joined = 0;
    const auto ends = cluster.run([&](int rank) {
        const auto start = Clock::now();
        Rendezvous meeting =
            join_rendezvous({{cluster.system().address_of(0), 29500}, rank, ranks},
                            deadline_after(seconds(60)));
        times.join_ms = std::max(times.join_ms, milliseconds_since(start));
        ++joined;
        while (joined < ranks) sleep_for(std::chrono::milliseconds(1));
        if (rank == 0) times.requests = meeting.server->counters().requests;
        const auto joined_at = Clock::now();
        store_barrier(*meeting.store, "measure", rank, ranks,
                      deadline_after(seconds(60)));
        times.barrier_ms = std::max(times.barrier_ms, milliseconds_since(joined_at));
        part(std::move(meeting), deadline_after(seconds(5)));
    });
    for (const ProcessEnd& end : ends)
        MINI_CHECK(end.how == ProcessEnd::How::kReturned, "a rank failed: ",
                   end.failure ? end.failure->message : "it waits forever");
    return times;
}

void run(const std::string& links) {
    std::cout << "  ranks   rendezvous      barrier   requests\n";
    for (const int ranks : {1, 2, 4, 8, 16, 32, 64}) {
        const Times times = measure(ranks, links);
        std::cout << fmt::format("  {:5}   {:7.2f} ms   {:7.2f} ms   {:8}\n", ranks,
                                 times.join_ms, times.barrier_ms, times.requests);
    }
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("rendezvous_time", [&] {
        std::string links = "1Gbit,1ms";
        CommandLine line("The time of a rendezvous against the number of ranks.",
                         "rendezvous_time");
        line.add("--links", links, "the network, as in \"1Gbit,1ms\"");
        if (line.parse(argc, argv)) run(links);
    });
}
