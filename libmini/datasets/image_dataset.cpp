#include "libmini/datasets/image_dataset.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini::data {
namespace {

void check_normalize(const ImageDataset::Normalize& normalize, int64_t channels) {
    const auto count = static_cast<size_t>(channels);
    if (normalize.mean.size() != count || normalize.std.size() != count)
        throw UsageError("ImageDataset: there are ", normalize.mean.size(), " means and ",
                         normalize.std.size(), " stds for ", channels,
                         " channels; give one of each per channel");
    for (const float std : normalize.std)
        if (!(std > 0))
            throw UsageError("ImageDataset: std is ", std, " but must be positive");
}

// Returns C * H * W, or 0 if `image` is not a valid (C, H, W).
int64_t bytes_of(const Shape& image) {
    const bool positive =
        std::all_of(image.begin(), image.end(), [](int64_t size) { return size > 0; });
    return image.size() == 3 && positive ? element_count(image) : 0;
}

}  // namespace

ImageDataset::ImageDataset(std::vector<uint8_t> pixels, std::vector<uint8_t> labels,
                           Shape image, std::optional<Normalize> normalize)
    : ImageDataset(std::move(labels), std::move(image), std::move(normalize)) {
    pixels_ = std::move(pixels);
    const auto image_bytes = static_cast<size_t>(image_bytes_);
    check_shape(pixels_.size() % image_bytes == 0 &&
                    pixels_.size() / image_bytes == labels_.size(),
                "ImageDataset: ", pixels_.size(), " pixels are not ", labels_.size(),
                " images (one per label) of (C, H, W) = ", image_);
}

ImageDataset::ImageDataset(std::vector<uint8_t> labels, Shape image,
                           std::optional<Normalize> normalize)
    : labels_(std::move(labels)),
      image_(std::move(image)),
      image_bytes_(bytes_of(image_)) {
    check_shape(image_bytes_ > 0, "ImageDataset: ", image_,
                " is not the shape (C, H, W) of an image");
    if (!normalize) return;
    check_normalize(*normalize, channels());

    // Normalise each byte once per channel, in float32 and PyTorch's order of operations.
    dtype_ = DType::kFloat32;
    tables_.resize(normalize->mean.size());
    for (size_t c = 0; c < tables_.size(); ++c)
        for (size_t byte = 0; byte < tables_[c].size(); ++byte)
            tables_[c][byte] = (static_cast<float>(byte) / 255.0f - normalize->mean[c]) /
                               normalize->std[c];
}

int64_t ImageDataset::size() const { return static_cast<int64_t>(labels_.size()); }

int64_t ImageDataset::label(int64_t index) const {
    check_index(index);
    return labels_[static_cast<size_t>(index)];
}

const uint8_t* ImageDataset::pixels(int64_t index) const {
    check_index(index);
    return pixels_.data() + index * image_bytes_;
}

void ImageDataset::write_image(std::byte* out, int64_t index) const {
    const uint8_t* in = pixels(index);
    if (tables_.empty()) {
        std::memcpy(out, in, static_cast<size_t>(image_bytes_));
        return;
    }
    const int64_t plane = height() * width();
    auto* value = reinterpret_cast<float*>(out);
    for (const Table& table : tables_)  // channel by channel
        for (int64_t i = 0; i < plane; ++i) *value++ = table[*in++];
}

Example ImageDataset::get(int64_t index) const {
    Example example(Tensor::empty(image_, dtype_, Device::cpu()), label(index));
    write_image(example.data.raw_data(), index);
    return example;
}

Batch ImageDataset::get_batch(std::span<const int64_t> indices) const {
    const int64_t N = static_cast<int64_t>(indices.size());
    Batch batch{Tensor::empty({N, channels(), height(), width()}, dtype_, Device::cpu()),
                Tensor::empty({N}, DType::kInt64, Device::cpu())};

    // Write every image directly into its row of the batch.
    std::byte* image = batch.data.raw_data();
    int64_t* target = batch.target.data<int64_t>();
    for (const int64_t index : indices) {
        *target++ = label(index);
        write_image(image, index);
        image += image_bytes_ * static_cast<int64_t>(item_size(dtype_));
    }
    return batch;
}

}  // namespace mini::data
