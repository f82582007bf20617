#include "labs/check/schemata.hpp"

#include <cstdlib>
#include <string>

namespace mini::schemata {
namespace {

// Returns the value of an environment variable with a comma before and after it.
std::string list_in(const char* variable) {
    const char* const value = std::getenv(variable);
    return value == nullptr ? "" : std::string(",") + value + ",";
}

// Returns whether the comma-separated list has `name`.
bool has(const std::string& list, const char* name) {
    return !list.empty() && list.find(std::string(",") + name + ",") != std::string::npos;
}

}  // namespace

bool stubbed(const char* task) {
    static const std::string stubs = list_in("MINI_STUB");
    return has(stubs, task);
}

bool mutated(const char* name) {
    static const std::string mutants = list_in("MINI_MUTANT");
    return has(mutants, name);
}

}  // namespace mini::schemata
