#include "libmini/training/program.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <vector>

#include "libmini/core/terminal.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/distributed/launch/default_group.hpp"

namespace mini::training {
namespace {

// The outcome of a rank. It is sent as one byte for the kind and the error message, which
// is padded with zeros to kLongestText bytes.
enum class Outcome : uint8_t { kFine, kUsageError, kOtherError };
constexpr size_t kLongestText = 1000;

std::vector<uint8_t> packed(Outcome outcome, const std::string& text) {
    std::vector<uint8_t> bytes(1 + kLongestText);
    bytes[0] = static_cast<uint8_t>(outcome);
    std::ranges::copy(text.substr(0, kLongestText), bytes.begin() + 1);
    return bytes;
}

std::vector<uint8_t> outcome_of(const std::function<void()>& body) {
    try {
        body();
        return packed(Outcome::kFine, "");
    } catch (const UsageError& error) {
        return packed(Outcome::kUsageError, error.what());
    } catch (const std::exception& error) {
        return packed(Outcome::kOtherError, error.what());
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

std::optional<dist::RankVariables> launcher() {
    return dist::read_rank_variables(dist::environment_variable);
}

bool is_restart() {
    const auto count =
        dist::environment_variable("TORCHELASTIC_RESTART_COUNT").value_or("0");
    return count != "0";
}

std::shared_ptr<dist::ProcessGroup> join_group() {
    dist::InitOptions init;
    if (!launcher())
        init = {.init_method = "tcp://127.0.0.1:0", .rank = 0, .world_size = 1};
    return dist::init_process_group(init);
}

void on_all_ranks(dist::ProcessGroup& group, const std::function<void()>& body) {
    const auto outcomes = dist::all_gather_values(group, outcome_of(body));
    for (size_t rank = 0; rank < outcomes.size(); ++rank) {
        const auto outcome = static_cast<Outcome>(outcomes[rank][0]);
        if (outcome == Outcome::kFine) continue;
        const auto text = outcomes[rank].begin() + 1;
        const std::string message(text, std::find(text, outcomes[rank].end(), 0));
        const std::string shared =
            rank == 0 ? message : concat("on rank ", rank, ": ", message);
        if (outcome == Outcome::kUsageError) throw UsageError(shared);
        throw SharedError(shared);
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
