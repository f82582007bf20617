// clinic: six programs, each with a fault. Four ranks run as threads; the program prints
// how each rank ended. Read that, and what `mini flight` says, before you read the code.
//
//     MINI_FLIGHT_DIR=flights clinic 3       runs program 3
//     mini flight flights                    says who is missing in which operation
//
// Exit codes: 0 the ranks have ended, as they always do; 2 invalid options.

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/tensor/tensor.hpp"

using namespace mini;
using dist::ProcessGroup;

namespace {

constexpr int kRanks = 4;
constexpr std::chrono::seconds kTimeout(1);

void step(ProcessGroup& group) { group.all_reduce(Tensor::ones({1000})); }

// ---- the programs

void program_1(ProcessGroup& group) {
    for (int i = 0; i < 3; ++i) {
        step(group);
        if (group.rank() == 0) {
            group.barrier();  // rank 0 saves its checkpoint
        }
    }
}

void program_2(ProcessGroup& group) {
    // 14 samples on 4 ranks, one in each step: ranks 0 and 1 have four, 2 and 3 have
    // three.
    const int samples = 14 / kRanks + (group.rank() < 14 % kRanks ? 1 : 0);
    for (int i = 0; i < samples; ++i) step(group);
}

void program_3(ProcessGroup& group) {
    for (int i = 0; i < 3; ++i) {
        // One file of the data is on a slow disk.
        if (group.rank() == 1 && i == 2) std::this_thread::sleep_for(2 * kTimeout);
        step(group);
    }
}

void program_4(ProcessGroup& group) {
    // 31 predictions of the last batch are gathered, 8 on each rank but the last.
    const int64_t mine = group.rank() == kRanks - 1 ? 7 : 8;
    std::vector<Tensor> all(kRanks);
    for (Tensor& each : all) each = Tensor::zeros({mine});
    step(group);
    group.all_gather(all, Tensor::ones({mine}));
}

void program_5(ProcessGroup& group) {
    step(group);
    // Ranks 0 and 1 exchange a tensor: each first receives, then sends.
    if (group.rank() < 2) {
        const Tensor theirs = Tensor::zeros({8}), mine = Tensor::ones({8});
        group.recv(theirs, 1 - group.rank());
        group.send(mine, 1 - group.rank());
    }
    step(group);
}

void program_6(ProcessGroup& group) {
    const std::array<std::string, 3> labels = {"0", "7", "seven"};
    for (size_t i = 0; i < labels.size(); ++i) {
        if (group.rank() == 2 && labels[i].size() > 1)
            throw Error(fmt::format("labels.csv, line {}: \"{}\" is not a number", i + 1,
                                    labels[i]));
        step(group);
    }
}

constexpr std::array kPrograms = {program_1, program_2, program_3,
                                  program_4, program_5, program_6};

}  // namespace

int main(int argc, char** argv) {
    mini::extras::use_all();
    const std::string which = argc == 2 ? argv[1] : "";
    if (which.size() != 1 || which[0] < '1' || which[0] > '6') {
        std::cerr << "clinic: give the number of a program, 1 to 6\n";
        return 2;
    }
    const auto program = kPrograms[static_cast<size_t>(which[0] - '1')];

    std::mutex mutex;
    std::map<int, std::string> ends;
    try {
        dist::run_threads(kRanks,
                          [&](ProcessGroup& group) {
                              std::string end = "returned";
                              try {
                                  program(group);
                              } catch (const std::exception& error) {
                                  end = error.what();
                              }
                              {
                                  const std::lock_guard lock(mutex);
                                  ends[group.rank()] = end;
                              }
                              if (end != "returned") throw Error(end);
                          },
                          {.timeout = kTimeout});
    } catch (const Error&) {  // printed below
    }
    for (const auto& [rank, end] : ends)
        std::cout << fmt::format("rank {}: {}\n", rank, end);
    return 0;
}
