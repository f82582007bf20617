// MNIST and its look-alikes: images (1, 28, 28) of the digits 0 to 9, stored as IDX
// files.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libmini/data/dataset.hpp"

namespace mini::data {

/// Images kept as bytes, given out as float32 (1, H, W) scaled to [0, 1] and normalised:
/// (x / 255 - mean) / std, as ToTensor and Normalize do it.
class ImageDataset : public Dataset {
  public:
    struct Normalize {
        float mean = 0.1307f;
        float std = 0.3081f;
    };

    /// `pixels` (N, H, W), one byte each; `labels` (N). Throws ShapeError when they do
    /// not fit together, UsageError unless normalize.std is positive.
    ImageDataset(std::vector<uint8_t> pixels, std::vector<uint8_t> labels, int64_t height,
                 int64_t width, Normalize normalize);

    int64_t size() const override;
    Example get(int64_t index) const override;
    Batch get_batch(std::span<const int64_t> indices) const override;

    /// The class of image `index`.
    int64_t label(int64_t index) const;

    /// The bytes of image `index`, row by row.
    const uint8_t* pixels(int64_t index) const;

    int64_t height() const { return height_; }
    int64_t width() const { return width_; }

  private:
    void check_index(int64_t index) const;
    void normalize_into(float* out, int64_t index) const;  // out (H, W)

    std::vector<uint8_t> pixels_;
    std::vector<uint8_t> labels_;
    int64_t height_;
    int64_t width_;
    std::array<float, 256> value_;  // of each byte, normalised
};

/// The four files of MNIST that `folder` lacks, by name; empty when it has them all. Each
/// may be plain or .gz, and named train-images-idx3-ubyte or train-images.idx3-ubyte.
std::vector<std::string> missing_mnist_files(const std::string& folder);

/// Whether `folder` has MNIST's four files.
bool has_mnist(const std::string& folder);

/// How many images the train or test part in `folder` has, by the header of its file.
/// Throws as load_mnist does.
int64_t count_mnist(const std::string& folder, bool train);

/// Reads the train (60,000) or test (10,000) part of MNIST, or of another set of its
/// format, from `folder`. Throws BadFile naming file, what was expected and what was
/// found, before anything is allocated for a file that lies about its size: missing or
/// damaged files, images that are not 28 x 28, labels above 9, more or fewer labels than
/// images.
std::shared_ptr<ImageDataset> load_mnist(const std::string& folder, bool train);

}  // namespace mini::data
