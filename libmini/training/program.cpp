#include "libmini/training/program.hpp"

#include <cstddef>
#include <exception>
#include <iostream>

#include "libmini/core/terminal.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/distributed/launch/default_group.hpp"

namespace mini::training {
namespace {

constexpr char kUsageError = 'U', kOtherError = 'E';

// Calls `body`; returns "" if it returns, else the kind of its error and its message.
std::string error_of(const std::function<void()>& body) {
    try {
        body();
        return "";
    } catch (const UsageError& error) {
        return concat(kUsageError, error.what());
    } catch (const std::exception& error) {
        return concat(kOtherError, error.what());
    }
}

// Returns whether this process is rank 0, or its rank is unknown.
bool is_reporting_rank() {
    try {
        const auto variables = launcher();
        return !variables || variables->rank <= 0;
    } catch (const UsageError&) {
        return true;  // the launcher's variables are invalid: every rank reports that
    }
}

}  // namespace

std::optional<dist::RankVariables> launcher() { return dist::read_rank_variables(); }

bool is_restart() {
    const std::string count = environment("TORCHELASTIC_RESTART_COUNT");
    return !count.empty() && count != "0";
}

std::shared_ptr<dist::ProcessGroup> join_group() {
    dist::InitOptions init;
    if (!launcher())
        init = {.init_method = "tcp://127.0.0.1:0", .rank = 0, .world_size = 1};
    return dist::init_process_group(init);
}

void on_all_ranks(dist::ProcessGroup& group, const std::function<void()>& body) {
    const auto errors = dist::all_gather_texts(group, error_of(body));
    for (size_t rank = 0; rank < errors.size(); ++rank) {
        if (errors[rank].empty()) continue;
        const std::string message = concat(
            rank == 0 ? "" : concat("on rank ", rank, ": "), errors[rank].substr(1));
        if (errors[rank].front() == kUsageError) throw UsageError(message);
        throw SharedError(message);
    }
}

int run(const std::string& name, const std::function<void()>& body) {
    const auto print = [&](const std::exception& error) {
        std::cerr << name << ": " << error.what() << '\n';
    };
    open_standard_files();
    try {
        body();
        finish_stdout();
        return 0;
    } catch (const UsageError& error) {
        if (is_reporting_rank()) print(error);
        return 2;
    } catch (const SharedError& error) {
        if (is_reporting_rank()) print(error);
        return 1;
    } catch (const std::exception& error) {
        print(error);
        return 1;
    }
}

}  // namespace mini::training
