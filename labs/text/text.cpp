#include "labs/text/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "libmini/autograd/functions.hpp"
#include "libmini/core/error.hpp"
#include "libmini/random/multinomial.hpp"
#include "libmini/tensor/autograd_meta.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::text {
namespace {

// Returns the index of a token, drawn by the weights exp(scores / temperature).
int64_t draw(const std::vector<float>& scores, double temperature, Generator& generator) {
    const double greatest = *std::ranges::max_element(scores);
    std::vector<double> weights;
    for (const float score : scores)
        weights.push_back(std::exp((score - greatest) / temperature));
    return multinomial(weights, 1, /*replacement=*/false, generator)[0];
}

}  // namespace

Tokens encode(const std::string& text) {
    Tokens tokens;
    for (const char c : text)
        if (c == '\n' || (c >= ' ' && c <= '~')) tokens.push_back(c == '\n' ? 0 : c - 31);
    return tokens;
}

std::string decode(const Tokens& tokens) {
    std::string text;
    for (const int64_t token : tokens)
        text += token == 0 ? '\n' : static_cast<char>(token + 31);
    return text;
}

Split read_pages(const std::string& folder, int64_t least) {
    std::vector<std::filesystem::path> paths;
    std::error_code missing;
    for (const auto& each : std::filesystem::directory_iterator(folder, missing))
        if (exists(each.path() / "README.md")) paths.push_back(each.path() / "README.md");
    std::ranges::sort(paths);

    Tokens all;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        const Tokens page = encode({std::istreambuf_iterator<char>(file), {}});
        all.insert(all.end(), page.begin(), page.end());
    }
    if (std::ssize(all) < least)
        throw UsageError(concat(folder, "/*/README.md have ", all.size(),
                                " characters, but ", least,
                                " are needed; run in the repository's root"));
    const auto end = all.begin() + std::ssize(all) * 9 / 10;
    return {{all.begin(), end}, {end, all.end()}};
}

data::Batch windows(const Tokens& tokens, const std::vector<int64_t>& begins, int64_t T) {
    const auto shifted = [&](int64_t shift) {
        Tokens all;
        for (const int64_t begin : begins) {
            const auto first = tokens.begin() + begin + shift;
            all.insert(all.end(), first, first + T);
        }
        return Tensor::from(all, {std::ssize(begins), T});
    };
    return {shifted(0), shifted(1)};
}

Tensor loss_of(nn::Module& model, const data::Batch& batch) {
    const Tensor scores = model(batch.data);  // (N, T, vocab_size)
    return cross_entropy(view(scores, {-1, scores.size(-1)}), view(batch.target, {-1}));
}

Tokens continue_text(nn::Module& model, Tokens prompt, int64_t count, int64_t T,
                     double temperature, Generator& generator) {
    const NoGradGuard no_grad;
    const auto length = std::ssize(prompt);
    for (int64_t i = 0; i < count; ++i) {
        const auto seen = std::min(T, std::ssize(prompt));
        const Tokens last(prompt.end() - seen, prompt.end());
        const Tensor scores = model(Tensor::from(last, {1, seen}));
        prompt.push_back(draw(ops::select(scores, 1, seen - 1).to_vector<float>(),
                              temperature, generator));
    }
    return {prompt.begin() + length, prompt.end()};
}

}  // namespace mini::text
