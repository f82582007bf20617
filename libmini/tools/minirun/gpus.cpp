#include "libmini/tools/minirun/gpus.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace mini::tools {
namespace {

// Returns whether the name is "nvidia" and a number; nvidiactl is no GPU.
bool is_gpu(const std::string& name) {
    constexpr size_t kLength = 6;
    return name.starts_with("nvidia") && name.size() > kLength &&
           name.find_first_not_of("0123456789", kLength) == std::string::npos;
}

}  // namespace

int count_gpus(const std::string& devices) {
    int count = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(devices, ignored))
        count += is_gpu(entry.path().filename().string());
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (count == 0 || visible == nullptr) return count;

    count = 0;
    std::istringstream entries(visible);
    for (std::string entry;
         std::getline(entries, entry, ',') && !entry.empty() && entry != "-1";)
        ++count;
    return count;
}

}  // namespace mini::tools
