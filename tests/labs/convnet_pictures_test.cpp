// convnet_pictures draws a network that train_mnist has saved.

#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "tests/labs/program_job.hpp"
#include "tests/support/folder.hpp"

using namespace mini::test;

namespace {

size_t count(const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos;
         at = text.find(part, at + 1))
        ++found;
    return found;
}

}  // namespace

TEST_CASE("convnet_pictures draws ten filters and the most confident mistakes") {
    const Folder folder;
    const std::string model = folder / "net.safetensors";
    const std::string svg = folder / "net.svg";
    const ProcessResult trained = run_alone(
        "train_mnist", {"--data", "digits", "--steps", "20", "--save", model, "--json"});
    REQUIRE(trained.code == 0);
    const auto accuracy =
        nlohmann::json::parse(trained.out).at("test_accuracy").back().get<double>();

    const ProcessResult drawn = run_alone(
        "convnet_pictures", {model, "--data", "digits", "--mistakes", "5", "--svg", svg});
    INFO(drawn.err);
    REQUIRE(drawn.code == 0);

    // Both programs count the same mistakes: the sum of the table.
    int images = 0, correct = 0;
    std::string word;
    std::istringstream(lines(drawn.out)[0]) >> word >> correct >> word >> images;
    REQUIRE(images == 10000);
    CHECK(std::abs(static_cast<double>(correct) / images - accuracy) < 1e-9);
    int mistakes = 0;
    for (size_t label = 0; label < 10; ++label) {
        std::istringstream row(lines(drawn.out)[2 + label]);
        size_t name = 10;
        row >> name;
        CHECK(name == label);
        for (size_t predicted = 0; predicted < 10; ++predicted) {
            int times = -1;
            row >> times;
            if (predicted == label) CHECK(times == 0);
            mistakes += times;
        }
    }
    CHECK(mistakes == images - correct);

    std::ifstream file(svg);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    CHECK(count(text, "<g transform") == 10 + 5);
    CHECK(count(text, "fill-opacity") == 250);
    CHECK(contains(text, "5 of " + std::to_string(mistakes) + " mistakes"));
    CHECK(text.ends_with("</svg>\n"));
}

TEST_CASE("convnet_pictures names a file that does not exist") {
    const ProcessResult ended = run_alone("convnet_pictures", {"no.safetensors"});
    CHECK(ended.code == 1);
    CHECK(contains(ended.err, "no.safetensors"));
    check_help("convnet_pictures", {"--data", "--svg", "--mistakes"});
}
