#include "libmini/extras/cudasim/driver/driver.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini::sim {
namespace {

namespace fs = std::filesystem;

// Becomes mini_cuda.py, which finds the simulator beside an installed mini, else in the build.
void run(const std::vector<std::string>& words) {
    const std::string script = "libmini/extras/cudasim/driver/mini_cuda.py";
    std::error_code unknown;
    const fs::path prefix =
        fs::read_symlink("/proc/self/exe", unknown).parent_path().parent_path();
    const bool installed = fs::exists(prefix / "include" / script);
    const std::string headers = installed ? prefix / "include" : MINI_SOURCE_FOLDER;
    std::vector<std::string> command = {
        "python3",
        "-B",
        concat(headers, "/", script),
        headers,
        concat(installed ? concat("-L", (prefix / MINI_LIBRARY_FOLDER).string())
                         : MINI_BUILT_FOLDERS,
               " ", MINI_CUDASIM_LINKED),
        MINI_CXX_COMPILER,
        MINI_LINKER_NAME};
    command.insert(command.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (std::string& each : command) arguments.push_back(each.data());
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    throw Error("mini cuda needs python3: ", system_message("execvp", errno));
}

}  // namespace

void add_cuda(Command& mini) {
    static std::vector<std::string> words;
    Command cuda =
        mini.add_command("cuda", "Compile and check CUDA programs without a GPU");
    cuda.take_all(words);
    cuda.on_parsed([] { run(words); });
}

}  // namespace mini::sim
