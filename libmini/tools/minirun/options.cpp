#include "libmini/tools/minirun/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <thread>

#include "libmini/core/error.hpp"

namespace mini::tools {
namespace {

constexpr double kMaxGrace = 3600;

const char kDescription[] =
    "Runs PROGRAM once for each rank, on this machine, and ends them together.\n"
    "\n"
    "  minirun -n 2 build/release/bin/train_mnist --epochs 3\n"
    "\n"
    "Each rank finds RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and torchrun's other "
    "variables\n"
    "in its environment. Rank 0's output passes unchanged; lines of the others begin "
    "with\n"
    "\"[rank 1]\". When a rank fails, minirun ends the others, says which failed and "
    "why, and\n"
    "exits with its code (128 + the signal's number when a signal killed it).\n"
    "Exit codes of minirun itself: 2 usage, 1 failure, 127 PROGRAM cannot be started.";

// CLI11 does not know that PROGRAM and its arguments follow.
class UsageLine : public CLI::Formatter {
  public:
    std::string make_usage(const CLI::App*, std::string) const override {
        return "Usage: minirun -n N [OPTIONS] [--] PROGRAM [ARGS...]\n";
    }
};

// The whole text as a number between `low` and `high`, else a UsageError.
int number(const std::string& option, const std::string& text, int low, int high,
           const std::string& alternative = "") {
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, value);
    if (failure != std::errc() || stop != end || value < low || value > high)
        throw UsageError(concat(option, " wants a whole number from ", low, " to ", high,
                                alternative, ", not '", text, "'"));
    return value;
}

int count_ranks(const std::string& text) {
    if (text != "auto") return number("-n", text, 1, kMaxRanks, " or \"auto\"");
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    return std::clamp(cores, 1, kMaxRanks);
}

std::chrono::milliseconds milliseconds(const std::string& text) {
    double seconds = 0;
    const char* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, seconds);
    if (failure != std::errc() || stop != end || !(seconds >= 0 && seconds <= kMaxGrace))
        throw UsageError(
            concat("--grace wants seconds from 0 to ", kMaxGrace, ", not '", text, "'"));
    return std::chrono::milliseconds(std::llround(seconds * 1000));
}

// What stands after minirun's own options, less the "--" that may lead it.
std::vector<std::string> program_and_arguments(std::vector<std::string> rest) {
    const bool separated = !rest.empty() && rest.front() == "--";
    if (separated) rest.erase(rest.begin());
    if (rest.empty() || rest.front().empty()) throw UsageError("no program given");
    if (!separated && rest.front().front() == '-')
        throw UsageError(concat("unknown option ", rest.front(),
                                " (options of PROGRAM come after PROGRAM)"));
    return rest;
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
    Options options;
    std::string ranks, port, grace;
    bool no_prefix = false;

    // Declare the options; prefix_command() stops reading at the program's name.
    CLI::App app(kDescription, "minirun");
    app.prefix_command();
    app.formatter(std::make_shared<UsageLine>());
    app.add_option("-n,--nproc-per-node", ranks,
                   "Ranks to start, or \"auto\": one for each core")
        ->type_name("N");
    app.add_option("--master-addr", options.master_addr,
                   "Address of this machine where rank 0 serves the store (127.0.0.1)")
        ->type_name("ADDR");
    app.add_option("--master-port", port, "Its port (default: one that is free)")
        ->type_name("PORT");
    app.add_option("--grace", grace,
                   "Time between asking a rank to end and killing it (1)")
        ->type_name("SECONDS");
    app.add_flag("--no-prefix", no_prefix, "Leave \"[rank 1]\" out");

    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        options.help = app.help();
        return options;
    } catch (const CLI::ParseError& error) {
        throw UsageError(error.what());
    }

    // Turn texts into values.
    options.command = program_and_arguments(app.remaining());
    if (ranks.empty()) throw UsageError("how many ranks? Give -n N, or -n auto");
    options.ranks = count_ranks(ranks);
    if (!port.empty()) options.master_port = number("--master-port", port, 1, 65535);
    if (!grace.empty()) options.grace = milliseconds(grace);
    options.prefix = !no_prefix;
    return options;
}

}  // namespace mini::tools
