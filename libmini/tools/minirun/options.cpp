#include "libmini/tools/minirun/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <sstream>
#include <system_error>
#include <thread>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/rendezvous/rank_environment.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/program/wrap.hpp"

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

// Formats the help: adds PROGRAM and its arguments, which CLI11 does not know, to the
// usage line, and hides the option names with underscores.
class Help : public CLI::Formatter {
  public:
    std::string make_usage(const CLI::App*, std::string) const override {
        return "Usage: minirun -n N [OPTIONS] [--] PROGRAM [ARGS...]\n";
    }
    std::string make_option_name(const CLI::Option* option, bool) const override {
        std::string names;
        for (const std::string& name : option->get_snames())
            names += concat("-", name, ",");
        for (const std::string& name : option->get_lnames())
            if (name.find('_') == std::string::npos) names += concat("--", name, ",");
        names.pop_back();
        return names;
    }
};

// Returns "--log-dir,--log_dir" for "--log-dir".
std::string either_spelling(const std::string& names) {
    const size_t start = names.find("--");
    std::string other = names.substr(start + 2);
    std::replace(other.begin(), other.end(), '-', '_');
    const bool same = other == names.substr(start + 2);
    return same ? names : concat(names, ",--", other);
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

std::string check_seconds(const std::string& text) {
    const double seconds = std::strtod(text.c_str(), nullptr);
    if (seconds >= 0 && seconds <= kMaxSeconds) return "";
    return concat("it wants seconds from 0 to ", kMaxSeconds, ", not '", text, "'");
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
    explicit MinirunLine(Options& options)
        : CommandLine(kDescription, "minirun"), options_(options) {
        app().prefix_command();  // stop reading at the program's name
        app().formatter(std::make_shared<Help>());
        declare_job();
        declare_rest();
    }
    using CommandLine::app;

    int nodes() const { return options_.nodes; }

    std::string endpoint;
    double grace = 1;
    bool standalone = false, no_prefix = false;

  private:
    void declare_job() {
        value("-n,--nproc-per-node", options_.ranks, "N",
              "ranks to start here; \"gpu\": one for each GPU; \"cpu\": one for each "
              "core; \"auto\": gpu if there is a GPU, else cpu")
            .default_text("")
            .range(1, kMaxRanks);
        transform("-n", count_ranks);
        flag("--standalone", standalone,
             "one node, with the store on a free port of loopback: the default");
        value("--nnodes", options_.nodes, "N", "number of nodes of the job")
            .range(1, kMaxNodes);
        transform("--nnodes", count_nodes);
        value("--node-rank", options_.node_rank, "R",
              "index of this node: 0 on the node of rank 0")
            .default_text("")
            .range(0, kMaxNodes - 1);
        value("--rdzv-endpoint", endpoint, "HOST:PORT",
              "where rank 0 serves the store: an address of node 0")
            .check(check_address);
        value("--rdzv-id", options_.rdzv_id, "ID",
              "the job's name, the same on all nodes; keep it secret");
        value("--master-addr", options_.master_addr, "ADDR",
              "address where rank 0 serves the store");
        value("--master-port", options_.master_port, "PORT", "its port")
            .default_text("a free one")
            .range(1, 65535);
    }

    void declare_rest() {
        value("--max-restarts", options_.max_restarts, "K",
              "start all ranks again when one fails, K times at most")
            .range(0, 1'000'000);
        value("--grace", grace, "SECONDS",
              "time between SIGTERM and SIGKILL when a rank is stopped")
            .check(check_seconds);
        value("--log-dir", options_.log_dir, "DIR",
              "folder of the ranks' logs, which the screen shows too");
        value("--flight-dir", options_.flight_dir, "DIR",
              "folder of the flight recorder's boxes (see mini flight)");
        flag("--no-prefix", no_prefix, "leave \"[rank 1]\" out");
        flag("--no-python", no_effect_, "ignored: always on");
        value("--rdzv-backend", ignored_, "NAME", "ignored");
    }

    template <typename T>
    Option value(const std::string& names, T& target, const char* type,
                 const char* text) {
        return add(either_spelling(names), target, text).type_name(type);
    }
    void flag(const std::string& names, bool& target, const char* text) {
        add_flag(either_spelling(names), target, text);
    }
    void transform(const std::string& name, std::string (*function)(std::string&)) {
        app().get_option(name)->transform(CLI::Validator(function, ""));
    }

    Options& options_;
    std::string ignored_;
    bool no_effect_ = false;
};

// Returns the words after minirun's own options, without a leading "--".
std::vector<std::string> program_and_arguments(const CLI::App& app) {
    std::vector<std::string> rest = app.remaining();
    const bool separated = !rest.empty() && rest.front() == "--";
    if (separated) rest.erase(rest.begin());
    if (rest.empty() || rest.front().empty()) throw UsageError("no program given");
    if (separated || rest.front().front() != '-') return rest;
    throw UsageError(concat("unknown option ", rest.front(),
                            " (options of PROGRAM come after PROGRAM)"));
}

// Returns the PET_ variables that have a value.
dist::Environment pet_variables() {
    dist::Environment variables = dist::current_environment();
    std::erase_if(variables, [](const auto& variable) {
        return !variable.first.starts_with("PET_") || variable.second.empty();
    });
    return variables;
}

// Returns "PET_NODE_RANK" for the option --node-rank.
std::string variable_of(const CLI::Option& option) {
    std::string name = "PET_" + option.get_lnames().front();
    for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
    return name;
}

// Returns whether an option that is given makes the variable meaningless.
bool is_replaced(const MinirunLine& line, const std::string& variable) {
    const auto any = [&](const std::vector<std::string>& options) {
        return std::ranges::any_of(options, [&](auto& each) { return line.given(each); });
    };
    if (variable == "PET_RDZV_ENDPOINT")
        return any({"--standalone", "--master-addr", "--master-port"});
    if (variable == "PET_MASTER_ADDR" || variable == "PET_MASTER_PORT")
        return any({"--standalone", "--rdzv-endpoint"});
    if (variable == "PET_STANDALONE") return line.given("--nnodes");
    if (variable == "PET_NNODES") return line.given("--standalone");
    const bool one_node = line.given("--nnodes") && line.nodes() == 1;
    return variable == "PET_NODE_RANK" && (line.given("--standalone") || one_node);
}

// Gives each option that is not on the command line the value of its variable, and adds
// these to `used`. Removes the variables that have an option from `variables`.
void use_variables(MinirunLine& line, dist::Environment& variables,
                   std::vector<std::string>& used) {
    for (CLI::Option* const option : line.app().get_options()) {
        const auto found = variables.extract(variable_of(*option));
        if (!found || option->count() > 0 || is_replaced(line, found.key())) continue;
        const std::string& value = found.mapped();
        const bool is_flag = option->get_expected_max() == 0;
        if (is_flag && value == "0") continue;
        if (is_flag && value != "1")
            throw UsageError(concat(found.key(), " wants 0 or 1, not '", value, "'"));
        used.push_back(concat(found.key(), "=", value));
        option->add_result(is_flag ? "true" : value);
        option->run_callback();
    }
}

void check_nodes(const MinirunLine& line, const Options& options) {
    if (options.nodes > 1 && !line.given("--node-rank"))
        throw UsageError(
            concat("--nnodes ", options.nodes,
                   " needs --node-rank: 0 on the node of rank 0, and another "
                   "number on each other node"));
    if (options.node_rank >= options.nodes)
        throw UsageError(concat("--node-rank is ", options.node_rank,
                                ", but --nnodes is ", options.nodes));
    if (options.nodes == 1) return;
    if (line.standalone)
        throw UsageError(
            concat("--standalone means one node, but --nnodes is ", options.nodes));
    if (options.master_port == 0 ||
        !(line.given("--rdzv-endpoint") || line.given("--master-addr")))
        throw UsageError(concat("--nnodes ", options.nodes,
                                " needs --rdzv-endpoint HOST:PORT, an address of node 0 "
                                "that all nodes reach"));
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

Options parse_options(int argc, const char* const* argv) {
    Options options;
    MinirunLine line(options);
    dist::Environment variables = pet_variables();
    std::vector<std::string> used;  // texts "PET_NNODES=2"
    try {
        line.app().parse(argc, argv);
        options.command = program_and_arguments(line.app());
        use_variables(line, variables, used);
        fill(line, options);
    } catch (const CLI::CallForHelp&) {
        options.answer = wrapped(line.app().help());
        return options;
    } catch (const std::exception& error) {  // CLI11's or ours
        const std::string source =
            used.empty() ? "" : concat(" (the environment has ", join(used), ")");
        throw UsageError(error.what() + source);
    }
    std::vector<std::string> unknown;
    for (const auto& [name, value] : variables) unknown.push_back(name);
    if (!unknown.empty())
        options.notes.push_back(
            concat("warning: minirun has no options for ", join(unknown), "; ignored"));
    return options;
}

}  // namespace mini::tools
