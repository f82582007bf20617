// What mini doctor reads of this machine and of this build.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mini::tools {

/// The version of CUDA, as 1000 major + 10 minor: 12040 is 12.4. 0: none.
using CudaVersion = int;

struct BackendFact {
    std::string name;
    std::string why_not;  // "" if this build has the backend; else how to install it
};

struct MachineFacts {
    int cores = 0;  // that this process may use

    // The build's device code (ON, SIM or OFF) and its toolkit; the driver's newest CUDA.
    std::string device_code;
    CudaVersion toolkit = 0, driver = 0;
    int gpus = 0;

    std::vector<BackendFact> backends;
    std::string mpirun;  // its path; "": not in PATH

    std::optional<int64_t> shm_free;  // bytes; not set: /dev/shm does not exist
    int64_t open_files = 0;           // the limit of this process
    int64_t locked_memory = 0;        // the limit of this process in bytes; -1: no limit

    std::string host, address;   // this host's name; "": the name does not resolve
    std::string loopback_error;  // "": a free port of 127.0.0.1 listens and connects
};

/// Reads the facts. Blocks while the host's name is looked up. Does not throw.
MachineFacts machine_facts();

}  // namespace mini::tools
