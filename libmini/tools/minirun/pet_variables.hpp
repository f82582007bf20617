// The variables by which torchrun reads its options from the environment, as Kubeflow
// sets them: PET_NNODES is the default of --nnodes, PET_STANDALONE=1 means --standalone.

#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mini::tools {

struct PetVariables {
    std::vector<std::string> used;     // "PET_NNODES=2"
    std::vector<std::string> unknown;  // "PET_RDZV_CONF": minirun has no such option
};

/// Gives each option that is not on the command line the value of its PET_ variable, if
/// the variable is not empty. Skips a variable that an option on the command line makes
/// meaningless: --rdzv-endpoint replaces PET_MASTER_ADDR. Throws UsageError if the value
/// of a flag's variable is not 0 or 1. REQUIRES: `app` has parsed the command line.
PetVariables read_pet_variables(CLI::App& app);

}  // namespace mini::tools
