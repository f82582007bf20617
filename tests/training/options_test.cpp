// The command line of train_mnist: each error is one line that names the option.

#include "libmini/training/options.hpp"

#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using test::contains;

namespace {

using Words = std::vector<const char*>;

std::string error_of(Words words) {
    words.insert(words.begin(), "train_mnist");
    return test::message_of<UsageError>([&] {
        training::parse_options(static_cast<int>(words.size()),
                                const_cast<char**>(words.data()));
    });
}

}  // namespace

TEST_CASE("an invalid option of train_mnist is a UsageError of one line that names it") {
    const std::vector<std::pair<Words, std::string>> cases{
        {{"--bogus"}, "--bogus"},
        {{"--sync", "maybe"}, "maybe not in {none,average,flat,overlap,ddp}"},
        {{"--optimizer", "lion"}, "lion not in {sgd,adam,adamw}"},
        {{"--epochs", "0"}, "--epochs"},
        {{"--epochs", "two"}, "two"},
        {{"--batch-size", "-1"}, "--batch-size"},
        {{"--lr", "nan"}, "--lr: must be at least 0, but is nan"},
        {{"--lr", "-1"}, "--lr: must be at least 0, but is -1"},
        {{"--momentum", "inf"}, "--momentum: must be at most 1099511627776, but is inf"},
        {{"--bucket-cap-mb", "0"}, "--bucket-cap-mb"},
        {{"--timeout", "0"}, "--timeout: must be from 0.001 to 1000000, but is 0"},
        {{"--timeout", "inf"}, "but is inf"},
        {{"--device", "cuda:99"}, "there is no cuda:99"},
        {{"--device", "cpu:1"}, "the CPU has no index here"},
        {{"--device", "tpu"}, "'tpu' is not a device"},
        {{"--save", "/no/such/folder/file"}, "the folder /no/such/folder does not exist"},
        {{"--save", "/tmp"}, "is a folder"},
        {{"--save", ""}, "--save: has an empty value"},
        {{"--every", "3"}, "--every requires --checkpoint"},
        {{"--keep", "3"}, "--keep requires --checkpoint"},
        {{"--fresh"}, "--fresh requires --checkpoint"},
        {{"--checkpoint", "run", "--keep", "0"}, "--keep"},
        {{"--checkpoint", "run", "--every", "0"}, "--every"},
        {{"--checkpoint", "run", "--sync", "none"}, "each rank has its own"},
        {{"--checkpoint", "run", "--compress", "powersgd"}, "powersgd feeds back"},
        {{"--checkpoint", "run", "--compress", "topk"}, "topk feeds back"},
        {{"--compress", "bf16", "--sync", "flat"}, "--compress bf16 is for --sync ddp"},
        {{"--compress-ratio", "0.1"},
         "--compress-ratio is for --compress topk, not none"},
        {{"--compress", "topk", "--compress-ratio", "1.5"}, "to 1, but is 1.5"},
        {{"--compress", "topk", "--matrix-approximation-rank", "1"},
         "--matrix-approximation-rank is for --compress powersgd, not topk"},
        {{"--compress", "fp16", "--no-error-feedback"}, "not fp16"},
        {{"--zero", "--sync", "none"}, "--sync none does not average"},
        {{"--optimizer", "adam", "--momentum", "0.9"},
         "--momentum is for --optimizer sgd"},
    };
    for (const auto& [words, message] : cases) {
        const std::string error = error_of(words);
        CAPTURE(words, error);
        CHECK(contains(error, message));
        CHECK_FALSE(contains(error, "\n"));
    }
}
