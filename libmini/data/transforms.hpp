// Transforms of images (C, H, W), with torchvision's names, values and draws.
//
//     const Transform augment = Compose({RandomCrop(32, 4), RandomHorizontalFlip(),
//                                        ToTensor(), Normalize({0.1307f}, {0.3081f})});
//
// Each is a small object that is called with an image and returns another, leaving the
// image it was given as it is; each fits Transform. Errors name the image's shape.
//
// Reference: torchvision/transforms/transforms.py.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/data/transform.hpp"

namespace mini::data {

/// One transform after the other (`transforms.Compose`); with none, the image as it is.
class Compose {
  public:
    /// Throws UsageError naming the place of an empty transform.
    explicit Compose(std::vector<Transform> transforms);
    Tensor operator()(const Tensor& image) const;

  private:
    std::vector<Transform> transforms_;
};

/// Bytes (C, H, W) to float32 in [0, 1], x / 255; float32 images pass as they are
/// (`transforms.ToTensor`, but that our images have their channels first already). Throws
/// ShapeError for what is no image or of a different dtype.
struct ToTensor {
    Tensor operator()(const Tensor& image) const;
};

/// (x - mean) / std, with one mean and one std a channel (`transforms.Normalize`).
class Normalize {
  public:
    /// Throws UsageError unless there are as many means as stds, at least one, means
    /// finite, stds finite and positive.
    Normalize(std::vector<float> mean, std::vector<float> std);

    /// Throws ShapeError for an image of other channels, or not float32.
    Tensor operator()(const Tensor& image) const;

  private:
    std::vector<float> mean_;
    std::vector<float> std_;
};

/// A window of the image at a random place, after a border of `padding` zeros was put
/// around it (`transforms.RandomCrop`). Draws the top row, then the left column, one
/// randint each, from the calling thread's default generator; nothing when the window is
/// the whole image.
class RandomCrop {
  public:
    /// A square window. Throws UsageError unless size is positive and padding at least 0.
    explicit RandomCrop(int64_t size, int64_t padding = 0);

    /// A window of height x width.
    RandomCrop(int64_t height, int64_t width, int64_t padding);

    /// Throws ShapeError for an image that is smaller than the window, border included.
    Tensor operator()(const Tensor& image) const;

  private:
    int64_t height_;
    int64_t width_;
    int64_t padding_;
};

/// Mirrors the image, left to right, with probability p
/// (`transforms.RandomHorizontalFlip`). Draws one uniform float from the calling thread's
/// default generator, and mirrors when it is below p.
class RandomHorizontalFlip {
  public:
    /// Throws UsageError unless p is in [0, 1].
    explicit RandomHorizontalFlip(double p = 0.5);
    Tensor operator()(const Tensor& image) const;

  private:
    float p_;  // in float32, as PyTorch compares it with the draw
};

}  // namespace mini::data
