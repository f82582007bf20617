// ImageDataset: images of the same size, stored in memory as bytes, such as MNIST and
// CIFAR-10.
//
// Bytes take a quarter of the memory of floats. A byte is normalised by a lookup in its
// channel's table of 256 floats, so a batch is filled in a single pass:
//
//     byte 0 .. 255   ->   (byte / 255 - mean[c]) / std[c]   -> float32 (C, H, W)

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libmini/data/dataset.hpp"

namespace mini::data {

/// N images of C channels, H rows and W columns, each with its class.
class ImageDataset : public Dataset {
  public:
    /// The normalisation of torchvision's ToTensor and Normalize: one mean and one std
    /// per channel.
    struct Normalize {
        std::vector<float> mean;
        std::vector<float> std;
    };

    /// Takes `pixels` (N, C, H, W), one byte each; `labels` (N); `image` is (C, H, W).
    /// With `normalize`, the data of a sample are float32, (x / 255 - mean) / std.
    /// Without `normalize`, the data are uint8, the unchanged bytes. Throws ShapeError
    /// unless `pixels` has one image of shape `image` per label, UsageError unless each
    /// channel has a mean and a positive std.
    ImageDataset(std::vector<uint8_t> pixels, std::vector<uint8_t> labels, Shape image,
                 std::optional<Normalize> normalize = std::nullopt);

    int64_t size() const override;
    Example get(int64_t index) const override;

    /// Returns the images `indices`; writes each image directly into the batch.
    Batch get_batch(std::span<const int64_t> indices) const override;

    /// Returns the class of image `index`.
    int64_t label(int64_t index) const;

    /// Returns the bytes of image `index`: channel by channel, row by row. A derived
    /// class may make the image in the first call.
    virtual const uint8_t* pixels(int64_t index) const;

    int64_t channels() const { return image_[0]; }
    int64_t height() const { return image_[1]; }
    int64_t width() const { return image_[2]; }

  protected:
    /// For a derived class that overrides pixels().
    ImageDataset(std::vector<uint8_t> labels, Shape image,
                 std::optional<Normalize> normalize);

  private:
    using Table = std::array<float, 256>;  // index: a byte; entry: its normalised value

    void write_image(std::byte* out, int64_t index) const;  // out (C, H, W)

    std::vector<uint8_t> pixels_;  // empty if pixels() is overridden
    std::vector<uint8_t> labels_;
    Shape image_;
    int64_t image_bytes_ = 0;    // C * H * W
    std::vector<Table> tables_;  // one per channel; empty for images as bytes
    DType dtype_ = DType::kUInt8;
};

}  // namespace mini::data
