// minirun: starts the ranks of a job on this machine, like PyTorch's torchrun.

#include <fmt/core.h>

#include <exception>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/core/terminal.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/tools/minirun/child.hpp"
#include "libmini/tools/minirun/launcher.hpp"
#include "libmini/tools/minirun/options.hpp"

namespace mini::tools {
namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;
constexpr int kCannotStart = 127;  // the code of a shell

// Prints an error message and returns `code`.
int fail(int code, const std::string& message) {
    fmt::print(stderr, "minirun: {}\n", message);
    return code;
}

}  // namespace
}  // namespace mini::tools

int main(int argc, char** argv) {
    using namespace mini::tools;
    mini::open_standard_files();
    mini::extras::use_all();
    try {
        if (const auto options = parse_options(argc, argv)) return launch(*options);
        mini::finish_stdout();
        return 0;
    } catch (const mini::UsageError& error) {
        return fail(kUsage, error.what());
    } catch (const CannotStart& error) {
        return fail(kCannotStart, error.what());
    } catch (const std::exception& error) {
        return fail(kFailure, error.what());
    }
}
