#include "libmini/datasets/mnist.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/datasets/idx.hpp"
#include "libmini/io/file.hpp"

namespace mini::data {
namespace {

namespace fs = std::filesystem;
using io::bad_file;

constexpr int64_t kSide = 28;
constexpr int kClasses = 10;

std::string images_name(bool train) {
    return train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte";
}

std::string labels_name(bool train) {
    return train ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte";
}

// Returns 0 to 3 for the spellings of the file `name`, in the order in which they are
// tried, and 4 for another file. Upper and lower case are the same.
size_t spelling_of(const std::string& name, std::string found) {
    for (char& letter : found)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter | 32);
    std::string dotted = name;  // train-images.idx3-ubyte, as in some archives
    dotted[dotted.find("-idx")] = '.';
    const std::array<std::string, 4> spellings = {name, dotted, name + ".gz",
                                                  dotted + ".gz"};
    return static_cast<size_t>(std::ranges::find(spellings, found) - spellings.begin());
}

// Returns the path of the regular file `name` in `folder`, in any of its spellings, or ""
// if it is missing. Some archives unpack to a folder of each file's name, with the file
// in it: looks into these folders after all files.
std::string find_in(const fs::path& folder, const std::string& name,
                    bool in_subfolders = true) {
    using Found = std::tuple<bool, size_t, std::string>;  // is a folder, spelling, path
    std::vector<Found> found;
    std::error_code error, dangling_link;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        const size_t spelling = spelling_of(name, entry->path().filename().string());
        if (spelling < 4)
            found.emplace_back(entry->is_directory(dangling_link), spelling,
                               entry->path().string());
    }
    std::ranges::sort(found);
    for (const auto& [is_folder, spelling, path] : found) {
        if (fs::is_regular_file(path, dangling_link)) return path;
        if (!is_folder || !in_subfolders) continue;
        const std::string below = find_in(path, name, /*in_subfolders=*/false);
        if (!below.empty()) return below;
    }
    return "";
}

// Looks into `folder`, then where torchvision puts the files of its root `folder`.
std::string find_file(const fs::path& folder, const std::string& name) {
    const std::string path = find_in(folder, name);
    return path.empty() ? find_in(folder / "MNIST/raw", name) : path;
}

std::string require_file(const std::string& folder, const std::string& name) {
    const std::string path = find_file(folder, name);
    if (!path.empty()) return path;
    std::error_code unreadable;
    const fs::path plain = fs::path(folder) / name;
    bad_file(folder, concat("MNIST's file ", name, ", plain or .gz"),
             fs::is_directory(plain, unreadable) ? "a directory without it"
             : fs::exists(plain, unreadable)     ? "a pipe, socket or device"
                                                 : "none",
             concat(kFetchMnist, " --out ", folder, " to get it"));
}

void check_images(const std::string& path, const std::vector<int64_t>& sizes) {
    if (sizes[0] < 1 || sizes[1] != kSide || sizes[2] != kSide)
        bad_file(path, "one or more images of 28 x 28",
                 concat(sizes[0], " of ", sizes[1], " x ", sizes[2]),
                 concat(kFetchMnist, " to get MNIST's"));
}

void check_labels(const std::string& path, const std::vector<uint8_t>& labels) {
    const auto bad = std::find_if(labels.begin(), labels.end(),
                                  [](uint8_t label) { return label >= kClasses; });
    if (bad != labels.end())
        bad_file(path, "labels 0 to 9",
                 concat(int{*bad}, " at position ", bad - labels.begin()),
                 concat(kFetchMnist, " to get MNIST's"));
}

}  // namespace

std::vector<std::string> missing_mnist_files(const std::string& folder) {
    std::vector<std::string> missing;
    for (const bool train : {true, false})
        for (const std::string& name : {images_name(train), labels_name(train)})
            if (find_file(folder, name).empty()) missing.push_back(name);
    return missing;
}

int64_t count_mnist(const std::string& folder, bool train) {
    const std::string path = require_file(folder, images_name(train));
    const std::vector<int64_t> sizes = read_idx_sizes(path, 3);
    check_images(path, sizes);
    return sizes[0];
}

ImageDataset::Normalize mnist_normalize() { return {{0.1307f}, {0.3081f}}; }

std::shared_ptr<ImageDataset> load_mnist(
    const std::string& folder, bool train,
    std::optional<ImageDataset::Normalize> normalize) {
    const std::string images_path = require_file(folder, images_name(train));
    const std::string labels_path = require_file(folder, labels_name(train));
    IdxFile images = read_idx(images_path, 3);
    check_images(images_path, images.sizes);
    IdxFile labels = read_idx(labels_path, 1);
    if (labels.sizes[0] != images.sizes[0])
        bad_file(labels_path,
                 concat(images.sizes[0], " labels, one for each image of ", images_path),
                 concat(labels.sizes[0]),
                 concat("both must come from the same set: ", kFetchMnist));
    check_labels(labels_path, labels.bytes);
    return std::make_shared<ImageDataset>(std::move(images.bytes),
                                          std::move(labels.bytes), Shape{1, kSide, kSide},
                                          std::move(normalize));
}

}  // namespace mini::data
