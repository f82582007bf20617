// Variables: variables of the environment that are set for one scope.

#pragma once

#include <stdlib.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mini::test {

/// Sets variables: `const Variables variables{{"TMPDIR", "/tmp"}}`. The destructor restores
/// what they were before.
class Variables {
  public:
    Variables(std::initializer_list<std::pair<const char*, std::string>> variables) {
        for (const auto& [name, value] : variables) {
            const char* const before = getenv(name);
            before_.emplace_back(name, before == nullptr
                                           ? std::nullopt
                                           : std::optional<std::string>(before));
            setenv(name, value.c_str(), 1);
        }
    }
    ~Variables() {
        for (const auto& [name, value] : before_)
            value ? setenv(name, value->c_str(), 1) : unsetenv(name);
    }
    Variables(const Variables&) = delete;
    Variables& operator=(const Variables&) = delete;

  private:
    std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

}  // namespace mini::test
