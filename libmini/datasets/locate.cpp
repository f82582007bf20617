#include "libmini/datasets/locate.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/datasets/digits.hpp"

namespace mini::data {
namespace {

DataChoice mnist_in(const std::string& folder) {
    return {.folder = folder,
            .name = "mnist",
            .description =
                concat("MNIST, ", with_commas(count_mnist(folder, true)), " + ",
                       with_commas(count_mnist(folder, false)), " images from ", folder)};
}

DataChoice digits(const std::string& remark) {
    return {
        .folder = "",
        .name = "digits",
        .description = concat("the embedded digits, ", with_commas(kDigitsTrain), " + ",
                              with_commas(kDigitsTest),
                              " images (drawn by a program; run data/fetch_mnist for the "
                              "real MNIST",
                              remark, ")")};
}

DataChoice named_folder(const std::string& folder) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored))
        throw BadFile(folder, ": expected a folder with MNIST's four files, found ",
                      std::filesystem::exists(folder, ignored) ? "a file" : "nothing",
                      "; run data/fetch_mnist --out ", folder,
                      ", or choose the embedded digits with \"digits\"");
    const std::vector<std::string> missing = missing_mnist_files(folder);
    if (!missing.empty())
        throw BadFile(folder, ": expected MNIST's four files, plain or .gz, found no ",
                      join(missing), "; run data/fetch_mnist --out ", folder);
    return mnist_in(folder);
}

std::vector<std::string> usual_folders() {
    std::vector<std::string> folders;
    const char* data_dir = std::getenv("MINI_DATA_DIR");
    if (data_dir && *data_dir) folders.push_back(std::string(data_dir) + "/mnist");
    folders.push_back("data/mnist");
    return folders;
}

}  // namespace

DataChoice find_data(const std::string& data_option) {
    if (data_option == "digits") return digits("");
    if (!data_option.empty()) return named_folder(data_option);

    // Look for MNIST in the usual folders; the remark names folders with only some files,
    // and that of MINI_DATA_DIR.
    std::string remark;
    const std::vector<std::string> folders = usual_folders();
    for (const std::string& folder : folders) {
        const std::vector<std::string> missing = missing_mnist_files(folder);
        if (missing.empty()) return mnist_in(folder);
        if (missing.size() < 4 || &folder != &folders.back())
            remark += concat("; ", folder, " lacks ", join(missing));
    }
    return digits(remark);
}

std::shared_ptr<ImageDataset> load_data(const DataChoice& choice, bool train) {
    if (!choice.folder.empty()) return load_mnist(choice.folder, train);
    return make_digits(train, train ? kDigitsTrain : kDigitsTest);
}

}  // namespace mini::data
