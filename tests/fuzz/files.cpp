// Targets that read data files: data sets, tensors, checkpoints. For images:
// pictures.cpp.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "libmini/datasets/cifar10.hpp"
#include "libmini/datasets/idx.hpp"
#include "libmini/io/checkpoint.hpp"
#include "libmini/io/safetensors.hpp"
#include "tests/data/support.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/read_file.hpp"

namespace mini::fuzz {
namespace {

namespace fs = std::filesystem;

MemoryFile& memory_file() {
    static MemoryFile file;
    return file;
}

// ---- IDX: one byte for the number of expected dimensions, then the file

void run_idx(Input input) {
    Taker taker(input);
    const int dimensions = taker.take<uint8_t>() % 4 + 1;
    memory_file().set(taker.rest());
    const std::string& path = memory_file().path();
    const std::vector<int64_t> sizes = data::read_idx_sizes(path, dimensions);
    require(data::read_idx(path, dimensions).sizes == sizes, "two readings, two headers");
}

Seeds idx_seeds() {
    const Bytes images = idx_header({2, 3, 4}) + ramp(24, 251);
    const Bytes labels = idx_header({5}) + ramp(5, 10);
    return {"\2" + text_of(images), std::string(1, '\0') + text_of(labels),
            "\2" + text_of(gzipped(images)), "\2" + text_of(idx_header({0, 3, 4}))};
}

// ---- CIFAR-10: a folder with a file of records

constexpr size_t kRecordBytes = 1 + 3 * 32 * 32;

void run_cifar10(Input input) {
    static const Folder folder;
    static const bool linked = [] {
        fs::create_symlink(memory_file().path(), folder / "test_batch.bin");
        return true;
    }();
    memory_file().set(input);
    const auto images = data::load_cifar10(folder.path(), /*train=*/false, std::nullopt);
    require(linked && images->size() > 0, "a data set without images");
}

void round_to_records(std::string& bytes) {
    const size_t records = (bytes.size() + kRecordBytes - 1) / kRecordBytes;
    bytes.resize(std::max(records, size_t{1}) * kRecordBytes);
}

// ---- safetensors

void run_safetensors(Input input) {
    memory_file().set(input);
    io::load_safetensors(memory_file().path());
}

Seeds safetensors_seeds() {
    const Folder folder;
    const std::string path = folder / "seed";
    Seeds seeds;
    const auto add = [&](const io::NamedTensors& tensors,
                         const std::map<std::string, std::string>& metadata) {
        io::save_safetensors(path, tensors, metadata);
        seeds.push_back(test::read_file(path));
    };
    const Tensor weight = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    const Tensor steps = Tensor::from(std::vector<int64_t>{7}, {1});
    const Tensor pixels = Tensor::from(std::vector<uint8_t>{0, 9, 255}, {3, 1});
    add({{"weight", weight}, {"steps", steps}, {"pixels", pixels}}, {{"step", "100"}});
    add({{"w", weight}, {"empty", Tensor::from(std::vector<float>{}, {0, 3})}}, {});
    add({}, {{"a", "b"}});
    return seeds;
}

// Returns the end of the JSON object that starts at `begin`.
size_t end_of_object(const std::string& text, size_t begin) {
    int depth = 0;
    for (size_t i = begin; i < text.size(); ++i) {
        depth += (text[i] == '{') - (text[i] == '}');
        if (depth == 0) return i + 1;
    }
    return text.size();
}

// Returns the largest end offset of a tensor; ignores offsets above kLongest.
size_t end_of_data(const std::string& header) {
    constexpr size_t kLongest = 1 << 12;
    const std::string key = "\"data_offsets\":[";
    size_t largest = 0;
    for (size_t at = header.find(key); at != std::string::npos;
         at = header.find(key, at)) {
        at += key.size();
        const size_t comma = std::min(header.find(',', at), header.size() - 1);
        size_t end = 0;
        std::from_chars(header.data() + comma + 1, header.data() + header.size(), end);
        if (end <= kLongest) largest = std::max(largest, end);
    }
    return largest;
}

// Corrects the header's length, and the number of data bytes after the header.
void repair_safetensors(std::string& bytes) {
    uint64_t length = 0;
    if (bytes.size() < sizeof length) return;
    const size_t end = end_of_object(bytes, sizeof length);
    length = end - sizeof length;
    std::memcpy(bytes.data(), &length, sizeof length);
    bytes.resize(end + end_of_data(bytes.substr(sizeof length, length)));
}

// ---- checkpoints: the name of a file in the folder, a new line, the file

void run_checkpoint(Input input) {
    static const Folder folder;
    const std::string text = text_of(input);
    const size_t line = std::min(text.find('\n'), text.size());
    memory_file().set(input.subspan(std::min(line + 1, text.size())));
    const fs::path link = folder / text.substr(0, line);
    std::error_code unusable;
    if (link.parent_path() != folder.path()) return;
    fs::create_symlink(memory_file().path(), link, unusable);
    if (unusable) return;
    struct Removal {
        const fs::path& path;
        ~Removal() {
            std::error_code ignored;
            fs::remove(path, ignored);
        }
    } const removal{link};

    const io::CheckpointFolder checkpoints(folder.path());
    const auto latest = checkpoints.latest();
    require(latest.has_value() == !checkpoints.list().empty(),
            "list and latest disagree");
}

Seeds checkpoint_seeds() {
    Seeds seeds;
    for (const std::string& contents : safetensors_seeds()) {
        seeds.push_back("checkpoint-00000420.safetensors\n" + contents);
        seeds.push_back("checkpoint-00000440.safetensors.tmp-2147483647-0\n" + contents);
    }
    return seeds;
}

void repair_checkpoint(std::string& bytes) {
    const size_t line = bytes.find('\n');
    if (line == std::string::npos) return;
    std::string contents = bytes.substr(line + 1);
    repair_safetensors(contents);
    bytes.replace(line + 1, std::string::npos, contents);
}

}  // namespace

std::vector<Target> file_targets() {
    return {{"idx", run_idx, idx_seeds()},
            {"cifar10",
             run_cifar10,
             {std::string(kRecordBytes, '\1'), std::string(2 * kRecordBytes, '\0')},
             round_to_records},
            {"safetensors", run_safetensors, safetensors_seeds(), repair_safetensors},
            {"checkpoint", run_checkpoint, checkpoint_seeds(), repair_checkpoint}};
}

}  // namespace mini::fuzz
