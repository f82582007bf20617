// The kinds of stores that store_suite_test.cpp tests: those of the core, or of the extra
// "launchers". Each program that compiles the suite defines the functions.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/store/store.hpp"

namespace mini::dist::test {

/// Returns the names of the kinds.
std::vector<std::string> store_kinds();

/// One store of a kind, with as many clients as a test needs.
class SharedStore {
  public:
    explicit SharedStore(const std::string& kind);
    ~SharedStore();

    std::shared_ptr<Store> client();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace mini::dist::test
