#include "libmini/tools/minirun/options.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/rendezvous/rank_environment.hpp"
#include "libmini/program/command_line.hpp"

namespace mini::tools {
namespace {

constexpr int kMaxRanks = 256;  // that one minirun starts
constexpr int kMaxNodes = 4096;
constexpr double kMaxSeconds = 3600;

const char kDescription[] =
    R"(Runs PROGRAM once for each rank and ends the ranks together.

  minirun -n 2 build/release/bin/train_mnist --epochs 3

Each rank finds RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and torchrun's other
variables in its environment. Rank 0's output passes unchanged; lines of the
others begin with "[rank 1]". When a rank fails, minirun ends the others, says
which failed and why, and exits with its code (128 + the signal's number when a
signal killed it).
Exit codes of minirun itself: 2 usage, 1 failure, 127 PROGRAM cannot be started.

A variable PET_NNODES is the default of --nnodes, and so for each option, as in
torchrun.

Several nodes: start minirun on each, with the same -n, --nnodes,
--rdzv-endpoint (an address of node 0) and secret: MINI_STORE_COOKIE
(32 hexadecimal digits, made once by openssl rand -hex 16), or --rdzv-id, which
ps shows to other users.

  export MINI_STORE_COOKIE=...
  minirun -n 2 --nnodes 2 --node-rank 0 --rdzv-endpoint node0:29500 \
    PROGRAM   # on the other node: --node-rank 1
)";

// Returns a word of the command line with dashes in the name of its option, which may have
// underscores, as in torchrun.
std::string with_dashes(std::string word) {
    const auto end = std::find(word.begin(), word.end(), '=');
    if (word.starts_with("--")) std::replace(word.begin(), end, '_', '-');
    return word;
}

// Returns whether the name is "nvidia" and a number; nvidiactl is no GPU.
bool is_gpu(const std::string& name) {
    constexpr size_t kLength = 6;
    return name.starts_with("nvidia") && name.size() > kLength &&
           name.find_first_not_of("0123456789", kLength) == std::string::npos;
}

// Replaces "cpu" by the number of cores, "gpu" by that of GPUs, and "auto" by that of
// GPUs if the machine has one, else of cores, as in torchrun. Returns an error message, or
// "".
std::string count_ranks(std::string& text) {
    const int gpus = text == "gpu" || text == "auto" ? count_gpus() : 0;
    if (text == "gpu" && gpus == 0)
        return "this machine has no GPU (/dev/nvidia0), or CUDA_VISIBLE_DEVICES hides "
               "it; give -n a number";
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    if (text == "gpu" || text == "cpu" || text == "auto")
        text = std::to_string(std::clamp(gpus > 0 ? gpus : cores, 1, kMaxRanks));
    return "";
}

// Replaces "2:2" by "2". Returns an error message for a range, or "".
std::string count_nodes(std::string& text) {
    const std::string range = text;
    text = range.substr(0, range.find(':'));
    if (range == text || range == concat(text, ":", text)) return "";
    return concat("it wants one number, not the range '", range,
                  "': nodes cannot join or leave a running job");
}

std::string check_address(const std::string& text) {
    try {
        dist::parse_address(text);
        return "";
    } catch (const UsageError& error) {
        return error.what();
    }
}

// Declares the options, and keeps the values that need a conversion.
class MinirunLine : public CommandLine {
  public:
    explicit MinirunLine(Options& options) : CommandLine(kDescription, "minirun") {
        set_usage("minirun -n N [OPTIONS] [--] PROGRAM [ARGS...]");
        take_rest(options.command);
        declare_job(options);
        declare_rest(options);
    }

    std::string endpoint;
    double grace = 1;
    bool standalone = false, no_prefix = false;

  private:
    void declare_job(Options& options) {
        add("-n,--nproc-per-node", options.ranks,
            "ranks to start here; \"gpu\": one for each GPU; \"cpu\": one for each core; "
            "\"auto\": gpu if there is a GPU, else cpu")
            .type_name("N")
            .default_text("")
            .range(1, kMaxRanks)
            .transform(count_ranks);
        add_flag("--standalone", standalone,
                 "one node, with the store on a free port of loopback: the default");
        add("--nnodes", options.nodes, "number of nodes of the job")
            .type_name("N")
            .range(1, kMaxNodes)
            .transform(count_nodes);
        add("--node-rank", options.node_rank,
            "index of this node: 0 on the node of rank 0")
            .type_name("R")
            .default_text("")
            .range(0, kMaxNodes - 1);
        add("--rdzv-endpoint", endpoint,
            "where rank 0 serves the store: an address of node 0")
            .type_name("HOST:PORT")
            .check(check_address);
        add("--rdzv-id", options.rdzv_id,
            "the job's name, the same on all nodes; keep it secret")
            .type_name("ID");
        add("--master-addr", options.master_addr, "address where rank 0 serves the store")
            .type_name("ADDR");
        add("--master-port", options.master_port, "its port")
            .type_name("PORT")
            .default_text("a free one")
            .range(1, 65535);
    }

    void declare_rest(Options& options) {
        add("--max-restarts", options.max_restarts,
            "start all ranks again when one fails, K times at most")
            .type_name("K")
            .range(0, 1'000'000);
        add("--grace", grace, "time between SIGTERM and SIGKILL when a rank is stopped")
            .type_name("SECONDS")
            .range(0, kMaxSeconds);
        add("--log-dir", options.log_dir,
            "folder of the ranks' logs, which the screen shows too")
            .type_name("DIR");
        add("--flight-dir", options.flight_dir,
            "folder of the flight recorder's dumps (see mini flight)")
            .type_name("DIR");
        add("--bind-to", options.bind_to,
            "core: the threads of a rank stay on its share of the cores")
            .one_of({"none", "core"});
        add_flag("--no-prefix", no_prefix, "leave \"[rank 1]\" out");
        add_flag("--no-python", no_effect_, "ignored: always on");
        add("--rdzv-backend", ignored_, "ignored").type_name("NAME");
    }

    std::string ignored_;
    bool no_effect_ = false;
};

// Checks the words after minirun's own options, and removes a leading "--".
void check_program(std::vector<std::string>& words) {
    const bool separated = !words.empty() && words.front() == "--";
    if (separated) words.erase(words.begin());
    if (words.empty() || words.front().empty())
        throw UsageError("no program given; see minirun --help");
    if (!separated && words.front().front() == '-')
        throw UsageError("unknown option ", words.front(),
                         " (options of PROGRAM come after PROGRAM); see minirun --help");
}

// Returns the PET_ variables that have a value.
dist::Environment pet_variables() {
    dist::Environment variables = dist::current_environment();
    std::erase_if(variables, [](const auto& variable) {
        return !variable.first.starts_with("PET_") || variable.second.empty();
    });
    return variables;
}

// Returns "--node-rank" for PET_NODE_RANK.
std::string option_of(const std::string& variable) {
    std::string name = "--" + variable.substr(4);
    for (char& c : name) c = c == '_' ? '-' : static_cast<char>(std::tolower(c));
    return name;
}

// Returns whether the option, or another that makes it meaningless, is given.
bool is_replaced(const MinirunLine& line, const Options& options,
                 const std::string& option) {
    if (line.given(option)) return true;
    if (option == "--rdzv-endpoint")
        return line.standalone || line.given("--master-addr") ||
               line.given("--master-port");
    if (option == "--master-addr" || option == "--master-port")
        return line.standalone || line.given("--rdzv-endpoint");
    if (option == "--standalone") return line.given("--nnodes");
    if (option == "--nnodes") return line.standalone;
    const bool one_node = line.given("--nnodes") && options.nodes == 1;
    return option == "--node-rank" && (line.standalone || one_node);
}

void check_nodes(const MinirunLine& line, const Options& options) {
    if (options.nodes > 1 && !line.given("--node-rank"))
        throw UsageError("--nnodes ", options.nodes,
                         " needs --node-rank: 0 on the node of rank 0, and another "
                         "number on each other node");
    if (options.node_rank >= options.nodes)
        throw UsageError("--node-rank is ", options.node_rank, ", but --nnodes is ",
                         options.nodes);
    if (options.nodes == 1) return;
    if (line.standalone)
        throw UsageError("--standalone means one node, but --nnodes is ", options.nodes);
    if (options.master_port == 0 ||
        !(line.given("--rdzv-endpoint") || line.given("--master-addr")))
        throw UsageError("--nnodes ", options.nodes,
                         " needs --rdzv-endpoint HOST:PORT, an address of node 0 "
                         "that all nodes reach");
    if (options.max_restarts > 0)
        throw UsageError(
            "--max-restarts works only on one node: with --nnodes, restart all "
            "nodes by hand");
}

void fill(const MinirunLine& line, Options& options) {
    if (!line.given("-n"))
        throw UsageError("the number of ranks is missing: give -n N, or -n auto");
    if (line.given("--rdzv-endpoint")) {
        if (line.given("--master-addr") || line.given("--master-port"))
            throw UsageError(
                "--rdzv-endpoint means the same as --master-addr and --master-port: "
                "give one or the other");
        const dist::Address address = dist::parse_address(line.endpoint);
        options.master_addr = address.host;
        options.master_port = address.port;
    }
    check_nodes(line, options);
    options.grace = std::chrono::milliseconds(std::llround(line.grace * 1000));
    options.prefix = !line.no_prefix;
}

}  // namespace

int count_gpus(const std::string& devices) {
    int count = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(devices, ignored))
        count += is_gpu(entry.path().filename().string());
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (count == 0 || visible == nullptr) return count;

    count = 0;
    std::istringstream entries(visible);
    for (std::string entry;
         std::getline(entries, entry, ',') && !entry.empty() && entry != "-1";)
        ++count;
    return count;
}

std::optional<Options> parse_options(int argc, const char* const* argv) {
    Options options;
    MinirunLine line(options);
    std::vector<std::string> words;
    for (int i = 1; i < argc; ++i) words.push_back(with_dashes(argv[i]));
    const auto parse = [&] {
        std::vector<const char*> pointers{argv[0]};
        for (const std::string& word : words) pointers.push_back(word.c_str());
        return line.parse(static_cast<int>(pointers.size()), pointers.data());
    };
    if (!parse()) return std::nullopt;

    // Give each option that is not on the command line the value of its variable: first the
    // last by name, because PET_STANDALONE and PET_RDZV_ENDPOINT replace others.
    std::vector<std::string> used, unknown;
    const dist::Environment variables = pet_variables();
    try {
        for (auto each = variables.rbegin(); each != variables.rend(); ++each) {
            const auto& [variable, value] = *each;
            const std::string option = option_of(variable);
            if (!line.has(option)) {
                unknown.insert(unknown.begin(), variable);
            } else if (!is_replaced(line, options, option)) {
                used.push_back(concat(variable, "=", value));
                words.insert(words.begin(), concat(option, "=", value));
                parse();
            }
        }
        const auto given = static_cast<ptrdiff_t>(options.command.size());
        std::copy(argv + argc - given, argv + argc, options.command.begin());
        check_program(options.command);
        fill(line, options);
    } catch (const UsageError& error) {
        const std::string source =
            used.empty() ? "" : concat(" (the environment has ", join(used), ")");
        throw UsageError(error.what() + source);
    }
    if (!unknown.empty())
        options.notes.push_back(
            concat("warning: minirun has no options for ", join(unknown), "; ignored"));
    return options;
}

}  // namespace mini::tools
