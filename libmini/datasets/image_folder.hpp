// ImageFolder: one folder of pictures per class (`torchvision.datasets.ImageFolder`).
//
//     root/cat/tom.jpg              class 0, cat
//     root/cat/wild/lynx.png        class 0, cat: subfolders are included
//     root/dog/rex.png              class 1, dog
//
// The constructor reads only the names; get() decodes the picture on each call.
// TransformedDataset applies a transform to each. What
// operating systems and editors leave in folders is skipped, unlike in torchvision: names
// that begin with a dot (.ipynb_checkpoints, ._rex.png), __MACOSX, @eaDir, $RECYCLE.BIN
// and System Volume Information. All other classes and samples are torchvision's.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/data/dataset.hpp"

namespace mini::data {

/// A dataset of picture files. Thread-safe.
class ImageFolder : public Dataset {
  public:
    /// The file of one picture, and the index of its class.
    struct Sample {
        std::string path;
        int64_t label;
    };

    /// Lists the pictures: files whose names end, in upper or lower case, like those of
    /// torchvision's list. The classes are the folders in `root`, sorted by name; the
    /// samples of a class are sorted by the path of their folder, then by name. Names
    /// compare byte by byte, as in Python.
    ///
    /// Links to files and folders are followed, but each folder is visited only once per
    /// class, so cycles of links end. Throws BadFile when `root` or a folder below it
    /// cannot be listed, when `root` has no class folder, when a class has no picture
    /// (the error names all such classes), or when a file .ppm, .bmp, .pgm, .tif, .tiff
    /// or .webp is neither PNG nor JPEG: skipping it would give the samples other indices
    /// than torchvision's.
    explicit ImageFolder(const std::string& root);

    int64_t size() const override { return static_cast<int64_t>(samples_.size()); }

    /// Returns picture `index`, uint8 (3, H, W), and its class. Throws BadFile as
    /// decode_image does.
    Example get(int64_t index) const override;

    const std::vector<std::string>& classes() const { return classes_; }
    const std::vector<Sample>& samples() const { return samples_; }

  private:
    std::vector<std::string> classes_;
    std::vector<Sample> samples_;
};

}  // namespace mini::data
