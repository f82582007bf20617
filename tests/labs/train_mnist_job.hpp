// Runs train_mnist under minirun, with ranks as processes, on files.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/datasets/mnist.hpp"
#include "tests/labs/program_job.hpp"

namespace mini::test {

namespace fs = std::filesystem;

inline const std::string kProgram = MINI_BIN_DIR "/train_mnist";

// Runs `minirun -n ranks train_mnist OPTIONS...` to its end.
inline ProcessResult train(int ranks, const Words& options) {
    return run_ranks(ranks, "train_mnist", options);
}

// Runs the job with --json and returns its JSON object.
inline nlohmann::json results(int ranks, const Words& options) {
    return last_json(train(ranks, options + Words{"--json"}));
}

// Returns whether MINI_DATA_DIR/mnist is not the real MNIST, and then prints a warning.
inline bool lacks_mnist() {
    const char* const folder = std::getenv("MINI_DATA_DIR");
    if (folder != nullptr &&
        data::missing_mnist_files(std::string(folder) + "/mnist").empty())
        return false;
    WARN("left out: MINI_DATA_DIR names no folder with mnist/");
    return true;
}

inline void write_idx(const fs::path& path, const std::vector<uint8_t>& header,
                      const std::vector<uint8_t>& body) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(header.data()),
               static_cast<std::streamsize>(header.size()));
    file.write(reinterpret_cast<const char*>(body.data()),
               static_cast<std::streamsize>(body.size()));
}

// Writes a tiny MNIST with `count` training and `count` test images.
inline void write_tiny_mnist(const fs::path& folder, uint8_t count) {
    for (const std::string part : {"train", "t10k"}) {
        std::vector<uint8_t> pixels(size_t{784} * count);
        for (size_t i = 0; i < pixels.size(); ++i)
            pixels[i] = static_cast<uint8_t>(7919 * i);
        std::vector<uint8_t> labels(count);
        for (size_t i = 0; i < count; ++i) labels[i] = static_cast<uint8_t>(i % 10);
        write_idx(folder / (part + "-images-idx3-ubyte"),
                  {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 28, 0, 0, 0, 28}, pixels);
        write_idx(folder / (part + "-labels-idx1-ubyte"), {0, 0, 8, 1, 0, 0, 0, count},
                  labels);
    }
}

// A folder with a tiny MNIST.
struct TinyMnist : Folder {
    explicit TinyMnist(uint8_t count) { write_tiny_mnist(path(), count); }
};

}  // namespace mini::test
