#include "libmini/data/mnist.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/data/idx.hpp"

namespace mini::data {
namespace {

constexpr int64_t kSide = 28;
constexpr int kClasses = 10;

std::string images_name(bool train) {
    return train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte";
}

std::string labels_name(bool train) {
    return train ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte";
}

// The file `name` of `folder` under any of its spellings, or "" when there is none.
std::string find_file(const std::string& folder, const std::string& name) {
    std::string dotted = name;  // train-images.idx3-ubyte, as some archives unpack
    dotted[dotted.find("-idx")] = '.';

    for (const std::string& spelling : {name, dotted, name + ".gz", dotted + ".gz"}) {
        const std::filesystem::path path = std::filesystem::path(folder) / spelling;
        std::error_code unreadable;
        if (std::filesystem::exists(path, unreadable)) return path.string();
    }
    return "";
}

std::string require_file(const std::string& folder, const std::string& name) {
    const std::string path = find_file(folder, name);
    if (path.empty())
        throw BadFile(concat(folder, ": expected the file ", name,
                             ", plain or .gz, found none; ",
                             "run data/fetch_mnist --out ", folder, " to get it"));
    return path;
}

void check_images(const std::string& path, const std::vector<int64_t>& sizes) {
    if (sizes[0] < 1 || sizes[1] != kSide || sizes[2] != kSide)
        throw BadFile(concat(path, ": expected one or more images of 28 x 28, found ",
                             sizes[0], " of ", sizes[1], " x ", sizes[2],
                             "; run data/fetch_mnist to get MNIST's"));
}

void check_labels(const std::string& path, const std::vector<uint8_t>& labels) {
    const auto bad = std::find_if(labels.begin(), labels.end(),
                                  [](uint8_t label) { return label >= kClasses; });
    if (bad != labels.end())
        throw BadFile(concat(path, ": expected labels 0 to 9, found ", int{*bad},
                             " at position ", bad - labels.begin(),
                             "; run data/fetch_mnist to get MNIST's"));
}

}  // namespace

ImageDataset::ImageDataset(std::vector<uint8_t> pixels, std::vector<uint8_t> labels,
                           int64_t height, int64_t width, Normalize normalize)
    : pixels_(std::move(pixels)),
      labels_(std::move(labels)),
      height_(height),
      width_(width) {
    check_shape(
        height > 0 && width > 0 &&
            pixels_.size() == labels_.size() * static_cast<size_t>(height * width),
        "ImageDataset: ", pixels_.size(), " pixels are not ", labels_.size(),
        " images (one a label) of ", height, " x ", width);
    if (!(normalize.std > 0))
        throw UsageError(
            concat("ImageDataset: std is ", normalize.std, " but must be positive"));

    // Normalise each byte once, in float32 and in PyTorch's order of operations.
    for (size_t byte = 0; byte < value_.size(); ++byte)
        value_[byte] =
            (static_cast<float>(byte) / 255.0f - normalize.mean) / normalize.std;
}

int64_t ImageDataset::size() const { return static_cast<int64_t>(labels_.size()); }

void ImageDataset::check_index(int64_t index) const {
    MINI_CHECK(index >= 0 && index < size(), "sample ", index,
               ": there is none; the dataset has ", size());
}

int64_t ImageDataset::label(int64_t index) const {
    check_index(index);
    return labels_[static_cast<size_t>(index)];
}

const uint8_t* ImageDataset::pixels(int64_t index) const {
    check_index(index);
    return pixels_.data() + index * height_ * width_;
}

void ImageDataset::normalize_into(float* out, int64_t index) const {
    const uint8_t* in = pixels(index);
    for (int64_t i = 0; i < height_ * width_; ++i) out[i] = value_[in[i]];
}

Example ImageDataset::get(int64_t index) const {
    const int64_t target = label(index);
    Example example{Tensor::empty({1, height_, width_}), target};
    normalize_into(example.data.data<float>(), index);
    return example;
}

Batch ImageDataset::get_batch(std::span<const int64_t> indices) const {
    const int64_t N = static_cast<int64_t>(indices.size());
    Batch batch{Tensor::empty({N, 1, height_, width_}),
                Tensor::empty({N}, DType::kInt64)};

    // Write every image straight into its row of the batch.
    float* image = batch.data.data<float>();
    int64_t* target = batch.target.data<int64_t>();
    for (const int64_t index : indices) {
        *target++ = label(index);
        normalize_into(image, index);
        image += height_ * width_;
    }
    return batch;
}

std::vector<std::string> missing_mnist_files(const std::string& folder) {
    std::vector<std::string> missing;
    for (const bool train : {true, false})
        for (const std::string& name : {images_name(train), labels_name(train)})
            if (find_file(folder, name).empty()) missing.push_back(name);
    return missing;
}

bool has_mnist(const std::string& folder) { return missing_mnist_files(folder).empty(); }

int64_t count_mnist(const std::string& folder, bool train) {
    const std::string path = require_file(folder, images_name(train));
    const std::vector<int64_t> sizes = read_idx_sizes(path, 3);
    check_images(path, sizes);
    return sizes[0];
}

std::shared_ptr<ImageDataset> load_mnist(const std::string& folder, bool train) {
    // Check both headers before reading anything long.
    const std::string images_path = require_file(folder, images_name(train));
    const std::string labels_path = require_file(folder, labels_name(train));
    const std::vector<int64_t> sizes = read_idx_sizes(images_path, 3);
    check_images(images_path, sizes);
    const int64_t label_count = read_idx_sizes(labels_path, 1)[0];
    if (label_count != sizes[0])
        throw BadFile(concat(labels_path, ": expected ", sizes[0],
                             " labels, one for each image of ", images_path, ", found ",
                             label_count,
                             "; both must come from the same set: run data/fetch_mnist"));

    // Read them.
    IdxFile images = read_idx(images_path, 3);
    IdxFile labels = read_idx(labels_path, 1);
    check_labels(labels_path, labels.bytes);
    return std::make_shared<ImageDataset>(std::move(images.bytes),
                                          std::move(labels.bytes), kSide, kSide,
                                          ImageDataset::Normalize{});
}

}  // namespace mini::data
