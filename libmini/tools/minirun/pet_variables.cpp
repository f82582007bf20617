#include "libmini/tools/minirun/pet_variables.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <map>

#include "libmini/core/error.hpp"
#include "libmini/distributed/rendezvous/rank_environment.hpp"

namespace mini::tools {
namespace {

const std::string kPrefix = "PET_";

// Returns "PET_NODE_RANK" for the option --node-rank.
std::string variable_of(const CLI::Option& option) {
    std::string name = option.get_lnames().front();
    for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
    return kPrefix + name;
}

// Options that replace others: an option on the left is on the command line, so the
// variables on the right are skipped.
const std::map<std::string, std::vector<std::string>>& replaced() {
    static const std::map<std::string, std::vector<std::string>> table = {
        {"--rdzv-endpoint", {"PET_MASTER_ADDR", "PET_MASTER_PORT"}},
        {"--master-addr", {"PET_RDZV_ENDPOINT"}},
        {"--master-port", {"PET_RDZV_ENDPOINT"}},
        {"--nnodes", {"PET_STANDALONE"}},
        {"--standalone",
         {"PET_NNODES", "PET_NODE_RANK", "PET_RDZV_ENDPOINT", "PET_MASTER_ADDR",
          "PET_MASTER_PORT"}},
    };
    return table;
}

bool is_given(const CLI::App& app, const std::string& name) {
    return app.get_option(name)->count() > 0;
}

// Removes the variables that have no meaning beside the options on the command line, and
// those that another variable replaces, as in torchrun.
void remove_replaced(const CLI::App& app, dist::Environment& variables) {
    if (variables.contains("PET_RDZV_ENDPOINT") && !is_given(app, "--master-addr") &&
        !is_given(app, "--master-port"))
        for (const char* name : {"PET_MASTER_ADDR", "PET_MASTER_PORT"})
            variables.erase(name);
    for (const auto& [option, names] : replaced())
        if (is_given(app, option))
            for (const std::string& name : names) variables.erase(name);
    if (is_given(app, "--nnodes") && app.get_option("--nnodes")->as<std::string>() == "1")
        variables.erase("PET_NODE_RANK");
}

void set_option(CLI::Option& option, const std::string& name, const std::string& value) {
    const bool is_flag = option.get_expected_max() == 0;
    if (is_flag && value != "0" && value != "1")
        throw UsageError(concat(name, " wants 0 or 1, not '", value, "'"));
    if (is_flag && value == "0") return;
    option.add_result(is_flag ? "true" : value);
    option.run_callback();
}

}  // namespace

PetVariables read_pet_variables(CLI::App& app) {
    dist::Environment variables = dist::current_environment();
    std::erase_if(variables, [](const auto& variable) {
        return !variable.first.starts_with(kPrefix) || variable.second.empty();
    });
    remove_replaced(app, variables);

    PetVariables result;
    for (CLI::Option* const option : app.get_options()) {
        const std::string name = variable_of(*option);
        const auto variable = variables.find(name);
        if (variable == variables.end()) continue;
        if (option->count() == 0) {
            set_option(*option, name, variable->second);
            result.used.push_back(concat(name, "=", variable->second));
        }
        variables.erase(variable);
    }
    for (const auto& [name, value] : variables) result.unknown.push_back(name);
    return result;
}

}  // namespace mini::tools
