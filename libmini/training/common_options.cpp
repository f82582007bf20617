#include "libmini/training/common_options.hpp"

#include <cstddef>
#include <filesystem>
#include <system_error>

#include "libmini/core/error.hpp"
#include "libmini/io/file.hpp"
#include "libmini/tensor/device.hpp"

namespace mini::training {

void add_common(CommandLine& line, double& lr, uint64_t& seed, bool& json) {
    line.add("--lr", lr, "learning rate of SGD").type_name("X").at_least(0);
    line.add("--seed", seed, "of initial weights and order").type_name("N");
    line.add_flag("--json", json, "print the results as one JSON object, on one line");
}

Option add_device(CommandLine& line, std::string& value) {
    const auto device_name = [](const std::string& text) -> std::string {
        if (text.starts_with("cpu:")) return "the CPU has no index here; use cpu";
        try {
            Device::parse(text);
            return "";
        } catch (const UsageError& error) {
            return error.what();
        }
    };
    return line
        .add("--device", value,
             "where to compute; cuda gives each rank of a machine its own, in turn")
        .type_name("cpu|cuda|cuda:N")
        .check(device_name);
}

Option add_logdir(CommandLine& line, std::string& folder) {
    return line
        .add("--logdir", folder,
             "record the run here: a page, metrics, event files for TensorBoard, a trace")
        .type_name("DIR");
}

void check_batch_size(int64_t batch_size, int world_size) {
    if (batch_size % world_size == 0) return;
    const int64_t below = batch_size / world_size * world_size;
    throw UsageError("--batch-size ", batch_size, " cannot be divided among ", world_size,
                     " ranks; try ", below > 0 ? below : world_size);
}

void check_space(const std::string& path, const NamedTensors& tensors) {
    size_t bytes = 1;
    for (const auto& [name, tensor] : tensors) bytes += tensor.bytes();
    io::check_can_save(path, bytes);
}

void check_save(const std::string& file) {
    if (file.empty()) return;
    const auto folder = std::filesystem::path(file).parent_path();
    std::error_code unreadable;
    if (!folder.empty() && !std::filesystem::is_directory(folder, unreadable))
        throw UsageError("--save ", file, ": the folder ", folder.string(),
                         " does not exist; create it first");
    if (std::filesystem::is_directory(file, unreadable))
        throw UsageError("--save ", file, " is a folder; name a file");
    try {
        io::check_can_save(file);
    } catch (const BadFile& error) {
        throw UsageError("--save ", error.what(), "; name another file");
    }
}

}  // namespace mini::training
