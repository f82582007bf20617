// Transforms of images (C, H, W), with torchvision's names, values and random draws.
//
//     const Transform augment = Compose({RandomCrop(32, 4), RandomHorizontalFlip(),
//                                        ToTensor(), Normalize({0.1307f}, {0.3081f})});
//
// Each transform is a callable that takes an image and returns an image, and does not
// change its input. Each converts to the type Transform. Errors name the image's shape.
//
// Reference: torchvision/transforms/transforms.py.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/data/transform.hpp"

namespace mini::data {

/// Applies transforms one after the other (`transforms.Compose`); an empty list returns
/// the image unchanged.
class Compose {
  public:
    /// Throws UsageError naming the index of an empty transform.
    explicit Compose(std::vector<Transform> transforms);
    Tensor operator()(const Tensor& image) const;

  private:
    std::vector<Transform> transforms_;
};

/// Converts bytes (C, H, W) to float32 in [0, 1], x / 255; returns float32 images
/// unchanged (`transforms.ToTensor`, except that our images are already channels-first).
/// Throws ShapeError for a tensor that is not an image or has another dtype.
struct ToTensor {
    Tensor operator()(const Tensor& image) const;
};

/// Computes (x - mean) / std, with one mean and one std per channel, or one of each for all
/// channels (`transforms.Normalize`).
class Normalize {
  public:
    /// Throws UsageError unless there are as many means as stds, at least one of each,
    /// all means are finite, and all stds are finite and positive.
    Normalize(std::vector<float> mean, std::vector<float> std);

    /// Returns the normalised image. Throws ShapeError unless the image is float32, and
    /// there is one mean, or as many as the image has channels.
    Tensor operator()(const Tensor& image) const;

  private:
    std::vector<float> mean_;
    std::vector<float> std_;
};

/// Crops a window at a random position, after padding the image with `padding` zeros on
/// each side (`transforms.RandomCrop`). Draws the top row, then the left column, one
/// randint each, from the calling thread's default generator. Draws no numbers if the
/// window is the whole padded image.
class RandomCrop {
  public:
    /// Sets a window of size x size pixels. Throws UsageError unless size is positive and
    /// padding is at least 0.
    explicit RandomCrop(int64_t size, int64_t padding = 0);

    /// Sets a window of height x width pixels. Throws UsageError unless both are positive
    /// and padding is at least 0.
    RandomCrop(int64_t height, int64_t width, int64_t padding);

    /// Returns the window (C, height, width). Throws ShapeError if the padded image is
    /// smaller than the window.
    Tensor operator()(const Tensor& image) const;

  private:
    int64_t height_;
    int64_t width_;
    int64_t padding_;
};

/// Flips the image horizontally with probability p (`transforms.RandomHorizontalFlip`).
/// Draws one uniform float from the calling thread's default generator, and flips the
/// image if this number is below p.
class RandomHorizontalFlip {
  public:
    /// Throws UsageError unless p is in [0, 1].
    explicit RandomHorizontalFlip(double p = 0.5);
    Tensor operator()(const Tensor& image) const;

  private:
    float p_;  // PyTorch compares p with the draw in float32
};

}  // namespace mini::data
