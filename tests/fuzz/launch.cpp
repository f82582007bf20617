// Targets that read variables of launchers, the environment and command lines.

#include <stdlib.h>

#include <array>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"
#include "libmini/distributed/transport/emulated_link.hpp"
#include "libmini/extras/launchers/launchers.hpp"
#include "libmini/program/sizes.hpp"
#include "libmini/tools/minirun/options.hpp"
#include "tests/fuzz/target.hpp"

namespace mini::fuzz {
namespace {

// ---- Slurm's lists

void run_slurm_hosts(Input input) {
    require(!dist::first_host(text_of(input)).name.empty(), "a host without a name");
}

void run_slurm_counts(Input input) {
    require(dist::task_count(text_of(input), 3) >= -1, "a negative count");
}

// ---- the variables of a rank: NAME=value, one per line

std::map<std::string, std::string> variables_in(const std::string& text) {
    std::map<std::string, std::string> variables;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const size_t sign = line.find('=');
        if (sign != std::string::npos)
            variables[line.substr(0, sign)] = line.substr(sign + 1);
    }
    return variables;
}

void run_rank_variables(Input input) {
    dist::use_launchers();
    const auto variables = variables_in(text_of(input));
    const dist::Lookup lookup = [&](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? "" : found->second;
    };
    const auto rank = dist::read_rank_variables(lookup);
    if (!rank) return;
    require(rank->rank >= 0 && rank->rank < rank->world_size, "a rank outside its world");
    const int port = dist::derive_master(lookup, *rank, "job 1").port;
    require(port >= 20000 && port < 30000, "a port that belongs to the system");
}

// ---- an init_method, a new line, variables

constexpr std::array kVariables = {
    "RANK",        "WORLD_SIZE",          "MASTER_ADDR",
    "MASTER_PORT", "MINI_STORE_COOKIE",   "MINI_RUN_ID",
    "LOCAL_RANK",  "TORCHELASTIC_RUN_ID", "TORCHELASTIC_USE_AGENT_STORE"};

void run_init_method(Input input) {
    dist::use_launchers();
    const std::string text = text_of(input);
    const auto variables = variables_in(text);
    for (const char* name : kVariables) {
        const auto found = variables.find(name);
        if (found == variables.end())
            ::unsetenv(name);
        else
            ::setenv(name, found->second.c_str(), /*overwrite=*/1);
    }
    const auto config = dist::rendezvous_config(text.substr(0, text.find('\n')), -1, -1);
    require(config.rank >= 0 && config.rank < config.world_size,
            "a rank outside its world");
}

// ---- single values

void run_address(Input input) {
    const dist::Address address = dist::parse_address(text_of(input));
    require(address.port >= 0 && address.port <= 65535, "a port that TCP does not have");
    dist::is_loopback(address);
}

void run_cookie(Input input) { dist::parse_cookie(text_of(input)); }

void run_link(Input input) {
    const dist::LinkSpec link = dist::parse_links(text_of(input)).network;
    require(link.bytes_per_second >= 125 && link.delay.count() >= 0,
            "a link out of range");
}

void run_sizes(Input input) {
    for (const size_t bytes : parse_sizes(text_of(input)))
        require(bytes > 0 && bytes % sizeof(float) == 0, "a size that holds no floats");
}

// The first byte chooses the option.
void run_minirun_options(Input input) {
    const std::string text = text_of(input) + " ";
    const std::string value = text.substr(1, text.size() - 2);
    const char* option = "--master-port";
    switch (text[0]) {
        case 'n': option = "--nproc-per-node"; break;
        case 'N': option = "--nnodes"; break;
        case 's': option = "--grace"; break;
        case 'e': option = "--rdzv-endpoint"; break;
        default: break;
    }
    std::vector<const char*> words = {"minirun", option, value.c_str()};
    if (text[0] != 'n') words.insert(words.end(), {"-n", "1"});
    words.push_back("train");
    tools::parse_options(static_cast<int>(words.size()), words.data());
}

}  // namespace

std::vector<Target> launch_targets() {
    return {
        {"slurm_hosts",
         run_slurm_hosts,
         {"node[01-03,7],gpu5", "rack[1-2]n[1,3]x", "n[18446744073709551615]",
          "a[1],b[2],c[3]", "localhost"}},
        {"slurm_counts",
         run_slurm_counts,
         {"4(x2),3", "1", "2147483647(x65536)", "2,2,2(x3)"}},
        {"rank_variables",
         run_rank_variables,
         {"RANK=1\nWORLD_SIZE=4\nLOCAL_RANK=1\nLOCAL_WORLD_SIZE=4\nGROUP_RANK=0\n",
          "OMPI_COMM_WORLD_RANK=0\nOMPI_COMM_WORLD_SIZE=2\nOMPI_COMM_WORLD_LOCAL_RANK=0\n"
          "OMPI_COMM_WORLD_LOCAL_SIZE=2\nPMIX_RANK=0\nPMIX_NAMESPACE=job\n",
          "PMI_RANK=1\nPMI_SIZE=2\nMPI_LOCALRANKID=1\nMPI_LOCALNRANKS=2\n",
          "SLURM_PROCID=5\nSLURM_NTASKS=6\nSLURM_LOCALID=1\nSLURM_NODEID=1\n"
          "SLURM_STEP_ID=0\nSLURM_JOB_ID=77\nSLURM_STEP_NODELIST=node[01-02]\n"
          "SLURM_STEP_TASKS_PER_NODE=4,2\n",
          "RANK=0\nWORLD_SIZE=2147483647\nLOCAL_WORLD_SIZE=2\nPMI_RANK=1\nPMI_SIZE=4\n",
          "SLURM_NTASKS=4\nSLURM_PROCID=0\nSLURM_STEP_ID=4294967295\nRANK=0\n"}},
        {"init_method",
         run_init_method,
         {"tcp://127.0.0.1:29500?rank=1&world_size=4",
          "tcp://[::1]:29500?world_size=4&rank=0\nMINI_RUN_ID=a\n",
          "file:///tmp/store?rank=0&world_size=2",
          "env://\nRANK=0\nWORLD_SIZE=2\nMASTER_ADDR=localhost\nMASTER_PORT=29500\n"
          "MINI_STORE_COOKIE=00112233445566778899aabbccddeeff\n"
          "TORCHELASTIC_RUN_ID=none\nTORCHELASTIC_USE_AGENT_STORE=True\n"}},
        {"address", run_address, {"127.0.0.1:29500", "[::1]:0", "node01.cluster:65535"}},
        {"cookie", run_cookie, {"00112233445566778899aabbccddeeff"}},
        {"link", run_link, {"100Mbit,5ms", "1Gbit", "1e3kbit,50us", "0.5Gbit,1.5s"}},
        {"sizes", run_sizes, {"4:100M", "4,87360", "17179869184G:4", "64K:1G,3"}},
        {"minirun_options",
         run_minirun_options,
         {"n4", "nauto", "N2:2", "s0.5", "e[::1]:29500", "p29500"}}};
}

}  // namespace mini::fuzz
