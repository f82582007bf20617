#include "libmini/tools/minirun/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/program/wrap.hpp"
#include "libmini/tools/minirun/option_values.hpp"
#include "libmini/tools/minirun/pet_variables.hpp"

namespace mini::tools {
namespace {

const char kDescription[] =
    R"(Runs PROGRAM once for each rank and ends the ranks together.

  minirun -n 2 build/release/bin/train_mnist --epochs 3

Each rank finds RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and torchrun's other variables
in its environment. Rank 0's output passes unchanged; lines of the others begin with
"[rank 1]". When a rank fails, minirun ends the others, says which failed and why, and
exits with its code (128 + the signal's number when a signal killed it).
Exit codes of minirun itself: 2 usage, 1 failure, 127 PROGRAM cannot be started.

A variable PET_NNODES is the default of --nnodes, and so for each option, as in torchrun.

Several nodes: start minirun on each, with the same -n, --nnodes, --rdzv-endpoint (an
address of node 0) and secret: MINI_STORE_COOKIE (32 hexadecimal digits, made once by
openssl rand -hex 16), or --rdzv-id, which ps shows to other users.

  export MINI_STORE_COOKIE=...
  minirun -n 2 --nnodes 2 --node-rank 0 --rdzv-endpoint node0:29500 \
    PROGRAM   # on the other node: --node-rank 1)";

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

// The option values as texts; "" if an option was not given and has no default.
struct Texts {
    std::string ranks, nodes = "1", node_rank, endpoint, port, restarts = "0";
    std::string redirects = "0", tee = "0", filter, grace = "1", addr, ignored;
    bool standalone = false, no_prefix = false, no_effect = false;
};

class Declaration {
  public:
    Declaration(CLI::App& app, Texts& texts, Options& options) : app_(app) {
        declare_job(texts, options);
        declare_output(texts, options);
        flag("--no-python", texts.no_effect,
             "Ignored, for compatibility with torchrun: always on");
        value("--rdzv-backend", texts.ignored, "NAME",
              "Ignored, for compatibility with torchrun");
        value("--monitor-interval", texts.ignored, "SECONDS",
              "Ignored, for compatibility with torchrun: ends are seen immediately");
    }

  private:
    void declare_job(Texts& texts, Options& options) {
        value("-n,--nproc-per-node", texts.ranks, "N",
              "Ranks to start here; \"gpu\": one for each GPU; \"cpu\": one for each "
              "core; \"auto\": gpu if there is a GPU, else cpu");
        flag("--standalone", texts.standalone,
             "One node, with the store on a free port of loopback: the default");
        value("--nnodes", texts.nodes, "N", "Number of nodes of the job (1)");
        value("--node-rank", texts.node_rank, "R",
              "Index of this node: 0 on the node of rank 0");
        value("--rdzv-endpoint", texts.endpoint, "HOST:PORT",
              "Where rank 0 serves the store: an address of node 0");
        value("--rdzv-id", options.rdzv_id, "ID",
              "The job's name, the same on all nodes; keep it secret");
        value("--master-addr", texts.addr, "ADDR",
              "Address where rank 0 serves the store (127.0.0.1)");
        value("--master-port", texts.port, "PORT", "Its port (default: a free one)");
        value("--max-restarts", texts.restarts, "K",
              "Start all ranks again when one fails, K times at most (0)");
        value("--role", options.role, "NAME", "ROLE_NAME of the ranks (default)");
        value("--grace", texts.grace, "SECONDS",
              "Time between SIGTERM and SIGKILL when a rank is stopped (1)");
        flag("--dry-run", options.dry_run,
             "Print each rank's variables and command, and start nothing");
    }

    void declare_output(Texts& texts, Options& options) {
        value("--log-dir", options.log_dir, "DIR",
              "Folder of the ranks' logs (a new private one); without -t and -r, implies "
              "--tee 3");
        value("-t,--tee", texts.tee, "WHICH",
              "Log and show: 0 none, 1 stdout, 2 stderr, 3 both; or 0:1,1:2 by rank");
        value("-r,--redirects", texts.redirects, "WHICH",
              "Log and do not show: same values as --tee");
        value("--local-ranks-filter", texts.filter, "RANKS",
              "Show only these of this node's ranks: 0,2");
        value("--flight-dir", options.flight_dir, "DIR",
              "Folder of the flight recorder's boxes (see mini flight)");
        flag("--no-prefix", texts.no_prefix, "Leave \"[rank 1]\" out");
    }

    void value(const std::string& names, std::string& target, const char* type,
               const char* text) {
        app_.add_option(either_spelling(names), target, text)->type_name(type);
    }
    void flag(const std::string& names, bool& target, const char* text) {
        app_.add_flag(either_spelling(names), target, text);
    }

    CLI::App& app_;
};

// Returns what to use instead of an option that only torchrun has; "" for other options.
std::string instead_of(const std::string& word) {
    static const std::map<std::string, std::string> table = {
        {"-m", "write minirun -n N python3 -m MODULE"},
        {"--module", "write minirun -n N python3 -m MODULE"},
        {"--run-path", "write minirun -n N python3 FILE"},
        {"--local-addr", "set MINI_ADVERTISE_ADDR to an address of this node"},
        {"--rdzv-conf", "leave it out; the timeout is the program's"},
        {"--start-method", "leave it out; each rank is a new process"},
        {"--event-log-handler", "leave it out; the events are on stderr"},
        {"--logs-specs", "use --tee and --redirects"},
        {"--log-line-prefix-template", "--no-prefix leaves the prefix out"},
        {"--signals-to-handle", "leave it out; minirun handles all signals"},
        {"--numa-binding", "write minirun -n N numactl ... PROGRAM"},
        {"--virtual-local-rank", "choose the GPU by LOCAL_RANK in the program"},
    };
    std::string name = word.substr(0, word.find('='));
    std::replace(name.begin(), name.end(), '_', '-');
    const auto found = table.find(name);
    return found == table.end() ? "" : found->second;
}

// Returns the words after minirun's own options, without a leading "--".
std::vector<std::string> program_and_arguments(const CLI::App& app) {
    std::vector<std::string> rest = app.remaining();
    const bool separated = !rest.empty() && rest.front() == "--";
    if (separated) rest.erase(rest.begin());
    if (rest.empty() || rest.front().empty()) throw UsageError("no program given");
    if (separated || rest.front().front() != '-') return rest;

    if (const std::string instead = instead_of(rest.front()); !instead.empty())
        throw UsageError(concat("minirun has no ", rest.front(), ": ", instead));
    throw UsageError(concat("unknown option ", rest.front(),
                            " (options of PROGRAM come after PROGRAM)"));
}

void fill_rendezvous(const Texts& texts, Options& options) {
    options.nodes = count_nodes(texts.nodes);
    if (options.nodes > 1 && texts.node_rank.empty())
        throw UsageError(
            concat("--nnodes ", options.nodes,
                   " needs --node-rank: 0 on the node of rank 0, and another "
                   "number on each other node"));
    if (!texts.node_rank.empty())
        options.node_rank =
            whole_number("--node-rank", texts.node_rank, 0, options.nodes - 1);
    if (!texts.addr.empty()) options.master_addr = texts.addr;
    if (!texts.port.empty())
        options.master_port = whole_number("--master-port", texts.port, 1, 65535);
    if (!texts.endpoint.empty()) {
        if (!texts.addr.empty() || !texts.port.empty())
            throw UsageError(
                "--rdzv-endpoint means the same as --master-addr and --master-port: "
                "give one or the other");
        const Endpoint address = endpoint("--rdzv-endpoint", texts.endpoint);
        options.master_addr = address.host;
        options.master_port = address.port;
    }
    if (options.nodes == 1) return;
    if (texts.standalone)
        throw UsageError(
            concat("--standalone means one node, but --nnodes is ", options.nodes));
    if (options.master_port == 0 || (texts.endpoint.empty() && texts.addr.empty()))
        throw UsageError(concat("--nnodes ", options.nodes,
                                " needs --rdzv-endpoint HOST:PORT, an address of node 0 "
                                "that all nodes reach"));
}

void fill(const Texts& texts, Options& options) {
    if (texts.ranks.empty())
        throw UsageError("the number of ranks is missing: give -n N, or -n auto");
    options.ranks = count_ranks(texts.ranks);
    fill_rendezvous(texts, options);
    options.max_restarts = whole_number("--max-restarts", texts.restarts, 0, 1'000'000);
    if (options.nodes > 1 && options.max_restarts > 0)
        throw UsageError(
            "--max-restarts works only on one node: with --nnodes, restart all "
            "nodes by hand");
    options.redirects = stream_choice("--redirects", texts.redirects);
    options.tee = stream_choice("--tee", texts.tee);
    if (!options.log_dir.empty() && options.tee.empty() && options.redirects.empty())
        options.tee.all = 3;
    if (!texts.filter.empty())
        options.shown_ranks = rank_set("--local-ranks-filter", texts.filter);
    options.grace = seconds_value("--grace", texts.grace);
    options.prefix = !texts.no_prefix;
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
    Options options;
    Texts texts;

    // Declare the options; prefix_command() stops reading at the program's name.
    CLI::App app(kDescription, "minirun");
    app.prefix_command();
    app.formatter(std::make_shared<Help>());
    const Declaration declaration(app, texts, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        options.answer = wrapped(app.help());
        return options;
    } catch (const CLI::ParseError& error) {
        throw UsageError(error.what());
    }

    options.command = program_and_arguments(app);
    const PetVariables variables = read_pet_variables(app);
    try {
        fill(texts, options);
    } catch (const UsageError& error) {
        if (variables.used.empty()) throw;
        throw UsageError(
            concat(error.what(), " (the environment has ", join(variables.used), ")"));
    }
    if (!variables.unknown.empty())
        options.notes.push_back(concat("warning: minirun has no options for ",
                                       join(variables.unknown), "; ignored"));
    return options;
}

}  // namespace mini::tools
