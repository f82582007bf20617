#include "libmini/datasets/image_folder.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
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

// torchvision's list; the first kDecoded are names of PNGs and JPEGs.
constexpr std::array<std::string_view, 9> kExtensions = {
    ".png", ".jpg", ".jpeg", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"};
constexpr size_t kDecoded = 3;

// Returns whether an operating system or an editor has left the file or folder.
bool is_litter(const std::string& name) {
    constexpr std::array<std::string_view, 4> kLitter = {
        "__MACOSX", "@eaDir", "$RECYCLE.BIN", "System Volume Information"};
    return name.starts_with('.') || std::ranges::find(kLitter, name) != kLitter.end();
}

// Returns the position in kExtensions of what a name ends with, in upper or lower case;
// the number of extensions for another name.
size_t extension_of(std::string name) {
    for (char& letter : name)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter | 32);
    const auto found = std::ranges::find_if(kExtensions, [&](std::string_view extension) {
        return name.ends_with(extension);
    });
    return static_cast<size_t>(found - kExtensions.begin());
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
        throw BadFile(folder.string(), ": expected a folder of pictures, but ",
                      "listing it failed: ", error.message(),
                      "; check the path and its permissions");
    std::sort(listing.folders.begin(), listing.folders.end());
    std::sort(listing.files.begin(), listing.files.end());
    return listing;
}

// Finds the pictures of one class.
class FolderWalk {
  public:
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
            if (extension_of(name) < kExtensions.size())
                files.push_back((folder / name).string());
        for (const std::string& name : listing.folders) visit(folder / name);
    }

    std::set<std::pair<dev_t, ino_t>> seen_;
    std::map<std::string, std::vector<std::string>> files_of_;
};

}  // namespace

ImageFolder::ImageFolder(const std::string& root) : classes_(list(root).folders) {
    if (classes_.empty())
        throw BadFile(root, ": expected a folder for each class, found none; put ",
                      "the pictures of class cat into ", root, "/cat");

    // Find the pictures of each class.
    std::vector<std::string> empty;
    for (size_t label = 0; label < classes_.size(); ++label) {
        const size_t before = samples_.size();
        for (std::string& path : FolderWalk().pictures(fs::path(root) / classes_[label]))
            samples_.push_back({std::move(path), static_cast<int64_t>(label)});
        if (samples_.size() == before) empty.push_back(classes_[label]);
    }
    for (const Sample& sample : samples_)
        if (extension_of(sample.path) >= kDecoded) check_image_format(sample.path);
    if (!empty.empty())
        throw BadFile(
            root, ": expected pictures (", join({kExtensions.begin(), kExtensions.end()}),
            ") of every class, found none of ", join(empty), "; add some, or remove ",
            empty.size() == 1 ? "the folder" : "the folders");
}

Example ImageFolder::get(int64_t index) const {
    check_index(index);
    const Sample& sample = samples_[static_cast<size_t>(index)];
    return {decode_image(sample.path), sample.label};
}

}  // namespace mini::data
