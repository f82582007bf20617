#include "libmini/vision/transforms.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::data {
namespace {

void check_image(const char* who, const Tensor& image) {
    if (!image.defined()) throw UsageError(who, ": no image was given");
    check_shape(image.dim() == 3, who, ": expected an image (channels, height, width), ",
                "got a tensor of shape ", image.shape());
}

// Copies the rows of `from` (C, h, w) into `to` (C, H, W): row y of a channel becomes
// row y - top, and column x becomes column x - left. Pixels outside of either image
// are skipped.
void copy_window(const Tensor& from, const Tensor& to, int64_t top, int64_t left) {
    const int64_t x = std::max<int64_t>(left, 0), y = std::max<int64_t>(top, 0);
    const int64_t width = std::min(from.size(2), left + to.size(2)) - x;
    const int64_t height = std::min(from.size(1), top + to.size(1)) - y;
    if (width <= 0 || height <= 0) return;
    const auto part = [&](const Tensor& image, int64_t first_y, int64_t first_x) {
        return ops::narrow(ops::narrow(image, 1, first_y, height), 2, first_x, width);
    };
    Tensor copied = part(to, y - top, x - left);
    ops::copy_(copied, part(from, y, x));
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
            throw UsageError("Compose: transform ", i, " of ", transforms_.size(),
                             " is empty");
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
    return ops::div(ops::to(image, DType::kFloat32), cpu_tensor<float>({255}));
}

Normalize::Normalize(std::vector<float> mean, std::vector<float> std)
    : mean_(std::move(mean)), std_(std::move(std)) {
    if (mean_.empty() || mean_.size() != std_.size())
        throw UsageError("Normalize: there are ", mean_.size(), " means and ",
                         std_.size(), " stds, but each channel needs one of each");
    for (size_t c = 0; c < mean_.size(); ++c)
        if (!std::isfinite(mean_[c]) || !std::isfinite(std_[c]) || std_[c] <= 0)
            throw UsageError("Normalize: channel ", c, " has mean ", mean_[c],
                             " and std ", std_[c],
                             "; a std must be positive, and both finite");
}

Tensor Normalize::operator()(const Tensor& image) const {
    check_image("Normalize", image);
    const auto count = static_cast<int64_t>(mean_.size());
    check_shape(count == 1 || count == image.size(0), "Normalize: the image is ",
                image.shape(), " with ", image.size(0), " channels, but there are ",
                count, " means and stds");
    check_shape(image.dtype() == DType::kFloat32,
                "Normalize: expected an image of float32, got ", image.dtype(), " ",
                image.shape(), "; put ToTensor before it");
    const Shape shape{count, 1, 1};
    return ops::div(ops::sub(image, Tensor::from(mean_, shape, image.device())),
                    Tensor::from(std_, shape, image.device()));
}

RandomCrop::RandomCrop(int64_t size, int64_t padding) : RandomCrop(size, size, padding) {}

RandomCrop::RandomCrop(int64_t height, int64_t width, int64_t padding)
    : height_(height), width_(width), padding_(padding) {
    if (height < 1 || width < 1)
        throw UsageError("RandomCrop: the window is ", height, " x ", width,
                         " but needs at least one row and one column");
    if (padding < 0)
        throw UsageError("RandomCrop: padding is ", padding, " but must be at least 0");
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
        throw UsageError("RandomHorizontalFlip: p is ", p,
                         " but must be between 0 and 1");
}

Tensor RandomHorizontalFlip::operator()(const Tensor& image) const {
    check_image("RandomHorizontalFlip", image);
    if (default_generator().uniform_float() >= p_) return image;

    Tensor mirrored = ops::clone(image);
    mirror_rows(mirrored);
    return mirrored;
}

}  // namespace mini::data
