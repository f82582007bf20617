#include "libmini/datasets/image_folder.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/datasets/image_file.hpp"

namespace mini::data {
namespace {

namespace fs = std::filesystem;

// Returns whether an operating system or an editor has left the file or folder.
bool is_litter(const std::string& name) {
    constexpr std::array<std::string_view, 4> kLitter = {
        "__MACOSX", "@eaDir", "$RECYCLE.BIN", "System Volume Information"};
    return name.starts_with('.') || std::ranges::find(kLitter, name) != kLitter.end();
}

// Returns whether the name ends with one of `extensions`, in upper or lower case.
template <typename Extensions>
bool has_extension(std::string name, const Extensions& extensions) {
    for (char& letter : name)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter | 32);
    return std::ranges::any_of(
        extensions, [&](const auto& extension) { return name.ends_with(extension); });
}

// The sorted names in a folder: subfolders (and links to folders), and all other entries.
struct Listing {
    std::vector<std::string> folders, files;
};

Listing list(const fs::path& folder) {
    Listing listing;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        std::string name = entry->path().filename().string();
        if (is_litter(name)) continue;
        std::error_code broken_link;  // counts as a file; reading it reports the error
        const bool is_folder = entry->is_directory(broken_link);
        (is_folder ? listing.folders : listing.files).push_back(std::move(name));
    }
    if (error)
        throw BadFile(concat(folder.string(), ": expected a folder of pictures, but ",
                             "listing it failed: ", error.message(),
                             "; check the path and its permissions"));
    std::sort(listing.folders.begin(), listing.folders.end());
    std::sort(listing.files.begin(), listing.files.end());
    return listing;
}

// Finds the pictures of one class.
class FolderWalk {
  public:
    explicit FolderWalk(const std::vector<std::string>& extensions)
        : extensions_(extensions) {}

    /// Returns the paths of all pictures in `folder` and its subfolders, sorted by the
    /// path of their folder.
    std::vector<std::string> pictures(const fs::path& folder) {
        visit(folder);
        std::vector<std::string> paths;
        for (const auto& [path, files] : files_of_)
            paths.insert(paths.end(), files.begin(), files.end());
        return paths;
    }

  private:
    void visit(const fs::path& folder) {
        struct stat info {};
        if (::stat(folder.c_str(), &info) == 0 &&
            !seen_.insert({info.st_dev, info.st_ino}).second)
            return;  // already visited, through a link
        const Listing listing = list(folder);
        std::vector<std::string>& files = files_of_[folder.string()];
        for (const std::string& name : listing.files)
            if (has_extension(name, extensions_))
                files.push_back((folder / name).string());
        for (const std::string& name : listing.folders) visit(folder / name);
    }

    const std::vector<std::string>& extensions_;
    std::set<std::pair<dev_t, ino_t>> seen_;
    std::map<std::string, std::vector<std::string>> files_of_;
};

// Throws BadFile for a picture of a format that torchvision reads and libmini does not.
void check_format(const std::string& path) {
    constexpr std::array<std::string_view, 6> kOtherFormats = {".ppm", ".bmp",  ".pgm",
                                                               ".tif", ".tiff", ".webp"};
    if (has_extension(path, kOtherFormats)) check_image_format(path);
}

}  // namespace

ImageFolder::ImageFolder(const std::string& root, ImageFolderOptions options)
    : options_(std::move(options)) {
    if (options_.extensions.empty())
        throw UsageError("ImageFolder: extensions is empty; give at least one");

    // Number the classes.
    classes_ = list(root).folders;
    if (classes_.empty())
        throw BadFile(concat(root, ": expected a folder for each class, found none; put ",
                             "the pictures of class cat into ", root, "/cat"));
    for (const std::string& name : classes_)
        class_to_idx_[name] = static_cast<int64_t>(class_to_idx_.size());

    // Find the pictures of each class.
    std::vector<std::string> empty;
    for (const auto& [name, label] : class_to_idx_) {
        const size_t before = samples_.size();
        for (std::string& path :
             FolderWalk(options_.extensions).pictures(fs::path(root) / name))
            samples_.push_back({std::move(path), label});
        if (samples_.size() == before) empty.push_back(name);
    }
    for (const Sample& sample : samples_) check_format(sample.path);
    if (!empty.empty())
        throw BadFile(concat(root, ": expected pictures (", join(options_.extensions),
                             ") of every class, found none of ", join(empty),
                             "; add some, or remove ",
                             empty.size() == 1 ? "the folder" : "the folders"));
}

Example ImageFolder::get(int64_t index) const {
    check_index(index);
    const Sample& sample = samples_[static_cast<size_t>(index)];
    Tensor image = decode_image(sample.path);
    if (!options_.transform) return {std::move(image), sample.label};
    try {
        return {options_.transform(image), sample.label};
    } catch (const std::exception& e) {
        std::throw_with_nested(Error(concat(sample.path, ": transform: ", e.what())));
    }
}

}  // namespace mini::data
