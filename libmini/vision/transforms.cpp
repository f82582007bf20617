#include "libmini/vision/transforms.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::data {
namespace {

void check_image(const char* who, const Tensor& image) {
    if (!image.defined()) throw UsageError(concat(who, ": no image was given"));
    check_shape(image.dim() == 3, who, ": expected an image (channels, height, width), ",
                "got a tensor of shape ", image.shape());
}

// Copies the rows of `from` (C, h, w) into `to` (C, H, W): row y of a channel becomes
// row y - top, and column x becomes column x - left. Pixels outside of either image
// are skipped.
void copy_window(const Tensor& from, Tensor& to, int64_t top, int64_t left) {
    const int64_t C = from.size(0), h = from.size(1), w = from.size(2);
    const int64_t H = to.size(1), W = to.size(2);
    const int64_t first_x = std::max<int64_t>(left, 0), last_x = std::min(w, left + W);
    const int64_t first_y = std::max<int64_t>(top, 0), last_y = std::min(h, top + H);
    if (first_x >= last_x) return;

    const size_t item = item_size(from.dtype());
    for (int64_t c = 0; c < C; ++c)
        for (int64_t y = first_y; y < last_y; ++y) {
            const int64_t source = (c * h + y) * w + first_x;
            const int64_t target = (c * H + y - top) * W + first_x - left;
            std::memcpy(to.raw_data() + static_cast<size_t>(target) * item,
                        from.raw_data() + static_cast<size_t>(source) * item,
                        static_cast<size_t>(last_x - first_x) * item);
        }
}

// Reverses the pixels of each row, whatever their dtype.
void mirror_rows(Tensor& image) {
    const auto item = static_cast<int64_t>(item_size(image.dtype()));
    const int64_t w = image.size(2);
    std::byte* row = image.raw_data();
    for (int64_t y = 0; y < image.size(0) * image.size(1); ++y, row += w * item)
        for (int64_t left = 0, right = w - 1; left < right; ++left, --right)
            std::swap_ranges(row + left * item, row + (left + 1) * item,
                             row + right * item);
}

}  // namespace

Compose::Compose(std::vector<Transform> transforms) : transforms_(std::move(transforms)) {
    for (size_t i = 0; i < transforms_.size(); ++i)
        if (!transforms_[i])
            throw UsageError(concat("Compose: transform ", i, " of ", transforms_.size(),
                                    " is empty"));
}

Tensor Compose::operator()(const Tensor& image) const {
    Tensor result = image;
    for (const Transform& transform : transforms_) result = transform(result);
    return result;
}

Tensor ToTensor::operator()(const Tensor& image) const {
    check_image("ToTensor", image);
    if (image.dtype() == DType::kFloat32) return image;
    check_shape(image.dtype() == DType::kUInt8,
                "ToTensor: expected an image of uint8 or float32, got ", image.dtype(),
                " ", image.shape());

    const Tensor bytes = ops::contiguous(image);
    Tensor scaled = Tensor::empty(image.shape(), DType::kFloat32, Device::cpu());
    std::ranges::transform(bytes.span<uint8_t>(), scaled.data<float>(),
                           [](uint8_t x) { return static_cast<float>(x) / 255.0f; });
    return scaled;
}

Normalize::Normalize(std::vector<float> mean, std::vector<float> std)
    : mean_(std::move(mean)), std_(std::move(std)) {
    if (mean_.empty() || mean_.size() != std_.size())
        throw UsageError(concat("Normalize: there are ", mean_.size(), " means and ",
                                std_.size(),
                                " stds, but each channel needs one of each"));
    for (size_t c = 0; c < mean_.size(); ++c)
        if (!std::isfinite(mean_[c]) || !std::isfinite(std_[c]) || std_[c] <= 0)
            throw UsageError(concat("Normalize: channel ", c, " has mean ", mean_[c],
                                    " and std ", std_[c],
                                    "; a std must be positive, and both finite"));
}

Tensor Normalize::operator()(const Tensor& image) const {
    check_image("Normalize", image);
    const auto channels = static_cast<size_t>(image.size(0));
    check_shape(mean_.size() == 1 || mean_.size() == channels, "Normalize: the image is ",
                image.shape(), " with ", image.size(0), " channels, but there are ",
                mean_.size(), " means and stds");
    check_shape(image.dtype() == DType::kFloat32,
                "Normalize: expected an image of float32, got ", image.dtype(), " ",
                image.shape(), "; put ToTensor before it");

    const Tensor pixels = ops::contiguous(image);
    Tensor normalised = Tensor::empty(image.shape(), DType::kFloat32, Device::cpu());
    const float* from = pixels.data<float>();
    float* to = normalised.data<float>();
    const int64_t channel_size = image.size(1) * image.size(2);
    for (size_t c = 0; c < channels; ++c) {
        const size_t k = mean_.size() == 1 ? 0 : c;
        const float mean = mean_[k], std = std_[k];
        const auto normalise = [mean, std](float x) { return (x - mean) / std; };
        to = std::transform(from, from + channel_size, to, normalise);
        from += channel_size;
    }
    return normalised;
}

RandomCrop::RandomCrop(int64_t size, int64_t padding) : RandomCrop(size, size, padding) {}

RandomCrop::RandomCrop(int64_t height, int64_t width, int64_t padding)
    : height_(height), width_(width), padding_(padding) {
    if (height < 1 || width < 1)
        throw UsageError(concat("RandomCrop: the window is ", height, " x ", width,
                                " but needs at least one row and one column"));
    if (padding < 0)
        throw UsageError(
            concat("RandomCrop: padding is ", padding, " but must be at least 0"));
}

Tensor RandomCrop::operator()(const Tensor& image) const {
    check_image("RandomCrop", image);
    const int64_t h = image.size(1) + 2 * padding_, w = image.size(2) + 2 * padding_;
    check_shape(height_ <= h && width_ <= w, "RandomCrop: the window is ", height_, " x ",
                width_, " but the image ", image.shape(), " has only ", h, " x ", w,
                " pixels, its border of ", padding_, " included; crop less, or pad more");

    // Draw the window's position in the padded image.
    int64_t top = 0, left = 0;
    if (height_ != h || width_ != w) {
        Generator& generator = default_generator();
        top = generator.randint(0, h - height_ + 1);
        left = generator.randint(0, w - width_ + 1);
    }

    // Copy the window from the unpadded image; pixels beyond the edge stay 0.
    Tensor window =
        Tensor::zeros({image.size(0), height_, width_}, image.dtype(), Device::cpu());
    copy_window(ops::contiguous(image), window, top - padding_, left - padding_);
    return window;
}

RandomHorizontalFlip::RandomHorizontalFlip(double p) : p_(static_cast<float>(p)) {
    if (!(p >= 0 && p <= 1))
        throw UsageError(
            concat("RandomHorizontalFlip: p is ", p, " but must be between 0 and 1"));
}

Tensor RandomHorizontalFlip::operator()(const Tensor& image) const {
    check_image("RandomHorizontalFlip", image);
    if (default_generator().uniform_float() >= p_) return image;

    Tensor mirrored = ops::clone(image);
    mirror_rows(mirrored);
    return mirrored;
}

}  // namespace mini::data
