// mini doctor: each fault of a machine, made up here, has its level and its remedy.

#include "libmini/tools/mini/doctor.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using mini::test::contains;
using mini::tools::Finding;
using mini::tools::findings;
using mini::tools::MachineFacts;

namespace {

using Level = Finding::Level;

// A machine with four GPUs that lacks nothing.
MachineFacts sound_machine() {
    return {.cores = 4,
            .device_code = "ON",
            .toolkit = 12040,
            .driver = 12020,
            .gpus = 4,
            .backends = {{"ring", ""}, {"mpi", ""}, {"nccl", ""}},
            .mpirun = "/usr/bin/mpirun",
            .shm_free = int64_t{1} << 30,
            .open_files = 1024,
            .locked_memory = -1,
            .host = "node7",
            .address = "10.0.0.7",
            .loopback_error = ""};
}

Finding finding_of(const MachineFacts& facts, const std::string& what, int ranks) {
    const auto all = findings(facts, ranks);
    const auto found = std::ranges::find(all, what, &Finding::what);
    if (found == all.end()) throw mini::Error("no finding about " + what);
    return *found;
}

struct Fault {
    std::string what;
    std::function<void(MachineFacts&)> make;
    Level level;
    std::string remedy;
};

const std::vector<Fault> kFaults = {
    {"cores", [](auto& facts) { facts.cores = 3; }, Level::kWarn, "at most 3"},
    {"CUDA driver", [](auto& facts) { facts.driver = 0; }, Level::kFail, "--gpus all"},
    {"CUDA driver", [](auto& facts) { facts.driver = 11080; }, Level::kFail,
     "build with CUDA 11.8 or older"},
    {"GPUs", [](auto& facts) { facts.gpus = 0; }, Level::kFail, "nvidia-smi"},
    {"GPUs", [](auto& facts) { facts.gpus = 3; }, Level::kWarn, "each of 4 ranks"},
    {"GPUs", [](auto& facts) { facts.device_code = "SIM"; }, Level::kInfo,
     "-DMINI_CUDA=ON"},
    {"backend nccl", [](auto& facts) { facts.backends[2].why_not = "install NCCL"; },
     Level::kInfo, "install NCCL"},
    {"mpirun", [](auto& facts) { facts.mpirun = ""; }, Level::kWarn, "openmpi-bin"},
    {"/dev/shm", [](auto& facts) { facts.shm_free = int64_t{64} << 20; }, Level::kWarn,
     "--shm-size"},
    {"/dev/shm", [](auto& facts) { facts.shm_free.reset(); }, Level::kWarn, "--shm-size"},
    {"open files", [](auto& facts) { facts.open_files = 256; }, Level::kWarn,
     "ulimit -n 272"},
    {"locked memory", [](auto& facts) { facts.locked_memory = 8 << 20; }, Level::kInfo,
     "ulimit -l unlimited"},
    {"loopback", [](auto& facts) { facts.loopback_error = "Network is unreachable"; },
     Level::kFail, "ip link set lo up"},
    {"host name", [](auto& facts) { facts.address = ""; }, Level::kWarn, "/etc/hosts"},
};

}  // namespace

TEST_CASE("mini doctor finds nothing on a machine that lacks nothing") {
    for (const Finding& finding : findings(sound_machine(), 4)) {
        CAPTURE(finding.what);
        CHECK(finding.level == Level::kOk);
        CHECK(finding.remedy.empty());
    }
}

TEST_CASE("mini doctor finds each fault, and nothing else, with its remedy") {
    for (const Fault& fault : kFaults) {
        MachineFacts facts = sound_machine();
        fault.make(facts);
        CAPTURE(fault.what, fault.remedy);
        const Finding finding = finding_of(facts, fault.what, 4);
        CHECK(finding.level == fault.level);
        CHECK(contains(finding.remedy, fault.remedy));
        for (const Finding& other : findings(facts, 4))
            CHECK((other.what == fault.what || other.level == Level::kOk));
    }
}

TEST_CASE("mini doctor says nothing about mpirun and drivers to a build without them") {
    MachineFacts facts = sound_machine();
    facts.backends[1].why_not = "install MPI";
    facts.mpirun = "";
    facts.device_code = "OFF";
    facts.driver = facts.gpus = 0;
    for (const Finding& finding : findings(facts, 4)) {
        CHECK(finding.what != "mpirun");
        CHECK(finding.what != "CUDA driver");
        CHECK((finding.level == Level::kOk || finding.level == Level::kInfo));
    }
}

TEST_CASE("mini doctor accepts a driver of the toolkit's major version or a newer one") {
    MachineFacts facts = sound_machine();
    for (const int driver : {12000, 12040, 13000}) {
        facts.driver = driver;
        CHECK(finding_of(facts, "CUDA driver", 4).level == Level::kOk);
    }
}
