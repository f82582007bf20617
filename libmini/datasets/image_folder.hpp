// ImageFolder: a folder for each class, with its pictures (`torchvision.datasets.ImageFolder`).
//
//     root/cat/tom.jpg              class 0, cat
//     root/cat/wild/lynx.png        class 0, cat: folders below count too
//     root/dog/rex.png              class 1, dog
//
// Only the names are read at first; a picture is decoded each time that it is asked for.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libmini/data/transform.hpp"

namespace mini::data {

struct ImageFolderOptions {
    Transform transform =
        {};  // of each picture, uint8 (3, H, W); none: it stays as it is
    std::vector<std::string> extensions = {".png", ".jpg", ".jpeg"};  // in any case
};

/// Safe to read from several threads at once, if the transform is.
class ImageFolder : public Dataset {
  public:
    /// One picture's file, and the number of its class.
    struct Sample {
        std::string path;
        int64_t label;
    };

    /// Lists the pictures. The classes are the folders in `root` in the order of their
    /// names; the samples of a class follow the order of their folders' paths, then of
    /// their names. Names compare byte by byte, as Python's do.
    ///
    /// Links to files and folders are followed, but a class has each folder once, however
    /// many links lead there: links in a circle end. Throws BadFile when `root` or a
    /// folder below cannot be listed, has no class folder, or has classes without a
    /// picture (all named); UsageError without extensions.
    explicit ImageFolder(const std::string& root, ImageFolderOptions options = {});

    int64_t size() const override { return static_cast<int64_t>(samples_.size()); }

    /// Picture `index`, decoded by decode_image and transformed, and its class. Throws
    /// BadFile as decode_image does; what the transform throws becomes an Error that
    /// names the file and has the exception nested in it.
    Example get(int64_t index) const override;

    const std::vector<std::string>& classes() const { return classes_; }
    const std::map<std::string, int64_t>& class_to_idx() const { return class_to_idx_; }
    const std::vector<Sample>& samples() const { return samples_; }

  private:
    ImageFolderOptions options_;
    std::vector<std::string> classes_;
    std::map<std::string, int64_t> class_to_idx_;
    std::vector<Sample> samples_;
};

}  // namespace mini::data
