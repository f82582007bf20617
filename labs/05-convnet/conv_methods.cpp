// conv_methods: the speed of a convolution by its definition, lowered to a product of
// matrices (im2col), and computed directly, compared with the peak of one core.
//
//     conv_methods [--images 64]      prints the table that measure.py reads
//
// Each time is the quickest of many trials: other programs disturbed it least.

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <vector>

#include "labs/measure/machine_limits.hpp"
#include "libmini/extras/fast/conv_direct.hpp"
#include "libmini/kernels/cpu/conv_im2col.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/random/random.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/program.hpp"

namespace {

using namespace mini;
using kernels::ImageExtents, kernels::Window;
namespace cpu = kernels::cpu;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Returns the time of one call: of many trials the quickest.
template <typename Body>
double quickest(const Body& body) {
    double best = 1e18;
    const auto end = Clock::now() + std::chrono::milliseconds(800);
    do {
        const auto start = Clock::now();
        body();
        best = std::min(best, Seconds(Clock::now() - start).count());
    } while (Clock::now() < end);
    return best;
}

// Returns the operations per second of one core: of many trials the best.
double peak() {
    constexpr int kTrials = 40;
    double best = 0;
    for (int trial = 0; trial < kTrials; ++trial)
        best = std::max(best, peak_flops(1, 0.01));
    return best;
}

// A layer of the ConvNet, and its arrays.
struct Layer {
    const char* name;
    ImageExtents in;
    int64_t O;
    Window window;
    std::vector<float> x, w, y, dx, dw;

    Layer(const char* layer, ImageExtents extents, int64_t channels, Window of)
        : name(layer), in(extents), O(channels), window(of) {
        const int64_t outputs = O * window.output(in.H) * window.output(in.W);
        w.resize(static_cast<size_t>(O * in.C * window.kernel * window.kernel));
        x.resize(static_cast<size_t>(in.N * in.C * in.H * in.W));
        y.resize(static_cast<size_t>(in.N * outputs));
        dx = x;
        dw = w;
        Generator generator(1);
        for (std::vector<float>* values : {&x, &w, &y})
            fill_normal(*values, 0, 1, generator);
    }

    // Multiplications and additions of a pass.
    double operations() const {
        return 2.0 * static_cast<double>(y.size()) * static_cast<double>(w.size()) /
               static_cast<double>(O);
    }
};

// The definition: a sum for each output, one product after another.
void definition(Layer& layer) {
    const auto& [name, in, O, window, x, w, y, dx, dw] = layer;
    const int64_t Ho = window.output(in.H), Wo = window.output(in.W), k = window.kernel;
    float* out = layer.y.data();
    for (int64_t n = 0; n < in.N; ++n)
        for (int64_t o = 0; o < O; ++o)
            for (int64_t i = 0; i < Ho; ++i)
                for (int64_t j = 0; j < Wo; ++j) {
                    float sum = 0;
                    for (int64_t c = 0; c < in.C; ++c)
                        for (int64_t p = 0; p < k; ++p)
                            for (int64_t q = 0; q < k; ++q)
                                sum += x[((n * in.C + c) * in.H + i + p) * in.W + j + q] *
                                       w[((o * in.C + c) * k + p) * k + q];
                    *out++ = sum;
                }
}

// Only the copies of im2col, without the products.
void only_copies(Layer& layer) {
    const auto& [name, in, O, window, x, w, y, dx, dw] = layer;
    std::vector<float> col(
        static_cast<size_t>(in.C * window.kernel * window.kernel * window.output(in.H) *
                            window.output(in.W)));
    for (int64_t n = 0; n < in.N; ++n)
        cpu::im2col::im2col(col.data(), x.data() + n * in.C * in.H * in.W, in, window);
}

void print(const Layer& layer, const char* pass, const char* method, double time,
           double peak) {
    const double speed = layer.operations() / time;
    std::cout << fmt::format("{:6} {:14} {:12} {:9.2f} us {:8.1f} GFLOP/s {:5.0f} %\n",
                             layer.name, pass, method,
                             1e6 * time / static_cast<double>(layer.in.N), speed / 1e9,
                             100 * speed / peak);
}

// Measures all passes of a layer, one pass with one method after another.
void measure(Layer& layer, double peak) {
    print(layer, "forward", "definition", quickest([&] { definition(layer); }), peak);
    std::cout << fmt::format(
        "{:6} {:14} {:12} {:9.2f} us\n", layer.name, "the copies", "im2col",
        1e6 * quickest([&] { only_copies(layer); }) / static_cast<double>(layer.in.N));
    const float *x = layer.x.data(), *w = layer.w.data(), *g = layer.y.data();
    const ImageExtents in = layer.in;
    const int64_t O = layer.O;
    const Window window = layer.window;
    float *y = layer.y.data(), *dx = layer.dx.data(), *dw = layer.dw.data();
    const auto forward = [&](auto method) {
        return quickest([&] { method(y, x, w, nullptr, in, O, window); });
    };
    const auto input = [&](auto method) {
        return quickest([&] { method(dx, g, w, in, O, window); });
    };
    const auto weight = [&](auto method) {
        return quickest([&] { method(dw, g, x, in, O, window); });
    };
    print(layer, "forward", "im2col", forward(cpu::im2col::conv2d), peak);
    print(layer, "forward", "direct", forward(cpu::direct::conv2d), peak);
    print(layer, "gradient of x", "im2col", input(cpu::im2col::backward_input), peak);
    print(layer, "gradient of x", "direct", input(cpu::direct::backward_input), peak);
    print(layer, "gradient of w", "im2col", weight(cpu::im2col::backward_weight), peak);
    print(layer, "gradient of w", "direct", weight(cpu::direct::backward_weight), peak);
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("conv_methods", [&] {
        int64_t images = 64;
        CommandLine line("Measures the methods of a convolution.", "conv_methods");
        training::add_count(line, "--images", images, "images per call");
        if (!line.parse(argc, argv)) return;
        const double top = peak();
        std::cout
            << fmt::format("peak of one core: {:.1f} GFLOP/s\n\n", top / 1e9)
            << "layer  pass           method       per image      speed          of "
               "the peak\n";
        Layer conv1("conv1", {images, 1, 28, 28}, 10, {5, 1, 0});
        Layer conv2("conv2", {images, 10, 12, 12}, 20, {5, 1, 0});
        measure(conv1, top);
        measure(conv2, top);
    });
}
