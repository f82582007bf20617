#include "libmini/report/page.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/data/tensor_dataset.hpp"
#include "libmini/datasets/image_stb.hpp"
#include "libmini/report/evaluation.hpp"
#include "libmini/report/overlap.hpp"
#include "libmini/report/png.hpp"
#include "libmini/report/samples.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using report::Lane, report::Slice;
using test::contains;

namespace {

// The bytes that libmini's own reader finds in a PNG, as RGB.
std::vector<uint8_t> decoded(const std::string& png) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(png.data());
    const auto pixels = data::decode_with_stb({bytes, png.size()}, 3, 1 << 24);
    REQUIRE(pixels.error.empty());
    return pixels.bytes;
}

// Its output is its input, so the data choose the predictions.
class Echo : public nn::Module {
  public:
    Tensor forward(const Tensor& x) override {
        CHECK_FALSE(is_training());
        return x;
    }
};

Slice part(const char* name, int64_t begin, int64_t end) {
    return {.name = name, .begin = begin, .end = end};
}

Slice bucket(int64_t index, int64_t begin, int64_t end) {
    return {.name = concat("all_reduce bucket ", index),
            .lane = Lane::kCommunication,
            .begin = begin,
            .end = end,
            .bucket = index,
            .bytes = 400,
            .sequence = index};
}

// A step with one bucket that is hidden, and one of which a third is hidden.
report::RankTrace traced(int rank) {
    report::RankTrace trace{.rank = rank, .clock = {}, .slices = {}, .moments = {}};
    trace.slices = {part("step", 0, 1000),       part("forward", 100, 300),
                    part("backward", 300, 900),  part("waiting", 700, 900),
                    part("optimizer", 900, 990), bucket(0, 400, 600),
                    bucket(1, 600, 900)};
    trace.slices[0].step = 5;
    trace.moments = {{.name = "gradient ready fc2.bias", .time = 340},
                     {.name = "bucket 0 launched", .time = 350, .bucket = 0},
                     {.name = "bucket 1 launched", .time = 590, .bucket = 1},
                     {.name = "bucket 0 launched", .time = 1350, .bucket = 0}};
    return trace;
}

report::RunFolder run_named(const std::string& name) {
    report::RunFolder run{.name = name,
                          .metrics = {.run = {.program = "train_mnist",
                                              .options = {{"lr", "<b>0.5"}},
                                              .world_size = 2,
                                              .backend = "ring"},
                                      .steps = {},
                                      .epochs = {}},
                          .trace = {},
                          .evaluation = {},
                          .samples = {}};
    return run;
}

report::RunFolder whole_run(const std::string& name) {
    report::RunFolder run = run_named(name);
    for (int64_t step = 0; step < 1000; ++step)
        for (const int rank : {0, 1})
            run.metrics.steps.push_back(
                {.rank = rank,
                 .step = step,
                 .loss = step == 7 ? std::numeric_limits<double>::quiet_NaN() : 1.0});
    run.metrics.epochs = {{.epoch = 0, .steps = 1000, .test_accuracy = 0.75}};
    run.trace = {traced(0), traced(1)};
    run.evaluation = report::Evaluation{.confusion = {{3, 1}, {0, 4}},
                                        .mistakes = {{.label = 0,
                                                      .predicted = 1,
                                                      .confidence = 0.9,
                                                      .size = {.width = 2, .height = 1},
                                                      .pixels = {0, 255}}}};
    run.samples =
        report::Samples{.size = 4,
                        .repeated = 1,
                        .ranks = {2, 3},
                        .png = report::samples_png({{1, 1, 0, 0}, {0, 1, 1, 1}})};
    return run;
}

}  // namespace

TEST_CASE("a PNG has the pixels that were put into it") {
    const std::vector<uint8_t> rgb{255, 0, 0, 0, 255, 0, 0, 0, 255,
                                   9,   8, 7, 1, 2,   3, 4, 5, 6};
    CHECK(decoded(report::png_of({.width = 3, .height = 2, .channels = 3}, rgb)) == rgb);
    CHECK(decoded(
              report::png_of({.width = 1, .height = 2}, std::array<uint8_t, 2>{7, 9})) ==
          std::vector<uint8_t>{7, 7, 7, 9, 9, 9});
    CHECK_THROWS_AS(report::png_of({.width = 2, .height = 2}, std::array<uint8_t, 3>{}),
                    ShapeError);
}

TEST_CASE("a data URL is the base64 of RFC 4648") {
    const auto digits = [](const std::string& text) {
        return report::data_url(text).substr(22);
    };
    CHECK(report::data_url("").ends_with("base64,"));
    CHECK(digits("f") == "Zg==");
    CHECK(digits("fo") == "Zm8=");
    CHECK(digits("foo") == "Zm9v");
    CHECK(digits("foob") == "Zm9vYg==");
}

TEST_CASE("an evaluation counts pairs of classes and keeps the most confident mistakes") {
    // Sample i predicts class 1 with a confidence that grows with i; all labels are 0,
    // except that of sample 3.
    constexpr int64_t kSamples = 40;
    std::vector<float> outputs;
    std::vector<int64_t> labels(kSamples), indices;
    for (int64_t i = 0; i < kSamples; ++i) {
        outputs.insert(outputs.end(), {0.0f, 0.1f * static_cast<float>(1 + i)});
        indices.push_back(100 + i);
    }
    labels[3] = 1;
    data::DataLoader loader(
        std::make_shared<data::TensorDataset>(Tensor::from(outputs, {kSamples, 2}),
                                              Tensor::from(labels)),
        {.batch_size = 7});
    Echo model;
    const auto evaluation = report::evaluate(model, loader, indices);
    CHECK(model.is_training());
    CHECK(evaluation.confusion ==
          std::vector<std::vector<int64_t>>{{0, kSamples - 1}, {0, 1}});
    CHECK(evaluation.correct() == 1);
    CHECK(evaluation.seen() == kSamples);
    REQUIRE(evaluation.mistakes.size() == report::kMistakes);
    for (size_t i = 0; i < report::kMistakes; ++i)
        CHECK(evaluation.mistakes[i].index == indices[kSamples - 1 - i]);

    // What two ranks have found, merged, is what one would have found.
    report::Evaluation all = report::evaluation_of(report::json_of(evaluation));
    report::merge(all, evaluation);
    CHECK(all.seen() == 2 * kSamples);
    CHECK(all.mistakes.size() == report::kMistakes);
}

TEST_CASE("an evaluation of a model that has diverged has no mistakes, and can be read") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    data::DataLoader loader(std::make_shared<data::TensorDataset>(
                                Tensor::from(std::vector<float>(8, nan), {4, 2}),
                                Tensor::from(std::vector<int64_t>{0, 1, 0, 1})),
                            {.batch_size = 4});
    Echo model;
    const auto evaluation = report::evaluate(model, loader, {0, 1, 2, 3});
    CHECK(evaluation.seen() == 4);
    CHECK(evaluation.mistakes.empty());
    const std::string text = report::json_of(evaluation).dump();
    CHECK(report::evaluation_of(nlohmann::ordered_json::parse(text)).seen() == 4);
}

TEST_CASE("the accuracy of one epoch is on an axis that ends at 1") {
    report::RunFolder run = run_named("first");
    run.metrics.epochs = {{.epoch = 0, .steps = 10, .test_accuracy = 0.99}};
    const std::string page = report::page_of({run});
    CHECK(contains(page, ">0.8</text>"));
    CHECK(contains(page, ">1</text>"));
    for (const char* tick :
         {">1.02</text>", ">1.05</text>", ">1.1</text>", ">1.2</text>"})
        CHECK_FALSE(contains(page, tick));
}

TEST_CASE("the picture of samples shows ranks, repeated samples and unseen samples") {
    const report::SampleCounts counts{{1, 1, 0, 0}, {0, 1, 2, 0}};
    const auto pixels = decoded(report::samples_png(counts));
    const auto is_at = [&](size_t i, std::array<uint8_t, 3> colour) {
        return std::equal(colour.begin(), colour.end(),
                          pixels.begin() + 3 * static_cast<ptrdiff_t>(i));
    };
    CHECK(is_at(0, report::rank_colour(0)));
    CHECK(is_at(1, report::kRepeatedColour));
    CHECK(is_at(2, report::kRepeatedColour));
    CHECK(is_at(3, report::kUnseenColour));
    const auto json = report::samples_json(counts);
    CHECK(json["ranks"] == std::vector<int64_t>{2, 3});
    CHECK(json["repeated"] == 2);
    CHECK(json["unseen"] == 1);
    CHECK(report::samples_png({}).empty());
}

TEST_CASE("communication is hidden until backward ends") {
    const auto steps = report::steps_of(traced(0));
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].backward_end == 700);
    REQUIRE(steps[0].launches.size() == 2);
    CHECK(steps[0].launches[1].time == 590);
    const report::Overlap overlap = report::overlap_of(steps);
    CHECK(overlap.communication == Approx(500e-9));
    CHECK(overlap.hidden == Approx(300e-9));
    CHECK(overlap.waiting == Approx(200e-9));
    CHECK(overlap.share() == Approx(0.6));
    const auto rows = report::bucket_rows(steps);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].begin == Approx(100e-9));
    CHECK(rows[0].hidden == Approx(200e-9));
    CHECK(rows[1].end == Approx(600e-9));
    CHECK(rows[1].hidden == Approx(100e-9));
}

TEST_CASE("a page has all parts, is small and needs no network") {
    const std::string page = report::page_of({whole_run("first")});
    for (const char* heading :
         {"Loss and accuracy", "Step time by phase and rank", "One step",
          "Communication hidden under backward", "Buckets", "Confusion matrix",
          "The most confident mistakes", "Who saw which sample"})
        CHECK(contains(page, concat("<h2>", heading, "</h2>")));
    CHECK(page.size() < 3000000);
    CHECK(contains(page, "&lt;b&gt;0.5"));
    CHECK_FALSE(contains(page, "<b>0.5"));
    for (const char* loads :
         {"<script", "src=\"http", "href=\"http", "@import", "url(http"})
        CHECK_FALSE(contains(page, loads));
}

TEST_CASE("a page shows two runs, and a run that has only begun") {
    const std::string page = report::page_of({whole_run("first"), run_named("second")});
    CHECK(contains(page, "<b>first</b>"));
    CHECK(contains(page, "<b>second</b>"));
    const std::string begun = report::page_of({run_named("begun")});
    CHECK(contains(begun, "<b>begun</b>"));
    CHECK_FALSE(contains(begun, "<h2>"));
}
