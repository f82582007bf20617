#include "libmini/datasets/cifar10.hpp"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/io/file.hpp"

namespace mini::data {
namespace {

using io::bad_file;

constexpr int64_t kImageBytes = 3 * 32 * 32;
constexpr int64_t kRecordBytes = 1 + kImageBytes;
constexpr int64_t kMaxFileBytes = 20000 * kRecordBytes;  // twice that of CIFAR-10's files
constexpr const char* kDownload =
    "download cifar-10-binary.tar.gz (not the Python version) from "
    "https://www.cs.toronto.edu/~kriz/cifar.html and unpack it there";

std::vector<std::string> file_names(bool train) {
    if (!train) return {"test_batch.bin"};
    std::vector<std::string> names;
    for (int i = 1; i <= 5; ++i) names.push_back(concat("data_batch_", i, ".bin"));
    return names;
}

std::vector<std::string> missing_in(const std::filesystem::path& folder, bool train) {
    std::vector<std::string> missing;
    for (const std::string& name : file_names(train)) {
        std::error_code unreadable;
        if (!std::filesystem::exists(folder / name, unreadable)) missing.push_back(name);
    }
    return missing;
}

// Returns the folder that has all files of the part: `folder` or its subfolder. Throws
// BadFile, naming the missing files of the folder that lacks fewer, if neither has them.
std::filesystem::path folder_of_files(const std::string& folder, bool train) {
    std::vector<std::string> missing;
    for (const std::filesystem::path& location :
         {std::filesystem::path(folder),
          std::filesystem::path(folder) / "cifar-10-batches-bin"}) {
        const std::vector<std::string> here = missing_in(location, train);
        if (here.empty()) return location;
        if (missing.empty() || here.size() < missing.size()) missing = here;
    }
    bad_file(folder, concat("CIFAR-10's ", train ? "train" : "test", " files"),
             concat("no ", join(missing)), kDownload);
}

// Opens a file and checks its size.
std::unique_ptr<io::InputFile> open_checked(const std::string& path) {
    auto file = std::make_unique<io::InputFile>(path, kDownload);
    const auto size = static_cast<int64_t>(file->size());
    if (size == 0 || size % kRecordBytes != 0)
        bad_file(path, concat("one or more records of ", kRecordBytes, " bytes"),
                 concat(size, " bytes (", size / kRecordBytes, " records and ",
                        size % kRecordBytes, " bytes)"),
                 kDownload);
    file->check_size(kMaxFileBytes, kDownload);
    return file;
}

// Appends the labels and pixels of one file.
void append_records(const io::InputFile& file, std::vector<uint8_t>& labels,
                    std::vector<uint8_t>& pixels) {
    const std::vector<uint8_t> bytes = file.read_all(kMaxFileBytes, kDownload);
    for (int64_t i = 0; i < std::ssize(bytes); i += kRecordBytes) {
        const uint8_t* const record = bytes.data() + i;
        if (*record >= kCifar10Classes.size())
            bad_file(file.path(), "labels 0 to 9",
                     concat(int{*record}, " in record ", i / kRecordBytes, ", byte ", i),
                     kDownload);
        labels.push_back(*record);
        pixels.insert(pixels.end(), record + 1, record + kRecordBytes);
    }
}

}  // namespace

const std::array<const char*, 10> kCifar10Classes = {
    "airplane", "automobile", "bird",  "cat",  "deer",
    "dog",      "frog",       "horse", "ship", "truck"};

ImageDataset::Normalize cifar10_normalize() {
    return {.mean = {0.4914f, 0.4822f, 0.4465f}, .std = {0.2470f, 0.2435f, 0.2616f}};
}

std::shared_ptr<ImageDataset> load_cifar10(
    const std::string& folder, bool train,
    std::optional<ImageDataset::Normalize> normalize) {
    // Open every file and check its size before reading anything.
    const std::filesystem::path location = folder_of_files(folder, train);
    std::vector<std::unique_ptr<io::InputFile>> files;
    size_t bytes = 0;
    for (const std::string& name : file_names(train)) {
        files.push_back(open_checked((location / name).string()));
        bytes += files.back()->size();
    }

    // Read the files in the order of their numbers.
    std::vector<uint8_t> labels, pixels;
    pixels.reserve(bytes);
    for (const auto& file : files) append_records(*file, labels, pixels);
    return std::make_shared<ImageDataset>(std::move(pixels), std::move(labels),
                                          Shape{3, 32, 32}, std::move(normalize));
}

}  // namespace mini::data
