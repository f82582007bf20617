// mini_ddp: distributed data-parallel training, DDP, in one file, with Eigen and POSIX.
//
// P processes, the ranks, each have a copy of one network. In every step each rank
// computes the gradient of the loss of its own images by all weights. The ranks average
// these gradients, and all take the same step, so the copies stay equal.
//
//     1 images   2 sampler   3 network   4 ranks   5 all-reduce   6 DDP   7 training
//
//     g++ -std=c++20 -O2 -march=native -I/usr/include/eigen3 mini_ddp.cpp -o mini_ddp
//     ./mini_ddp ranks=2 epochs=5        # MNIST, if its four files are in mnist/
//     ./mini_ddp link=1000 overlap=0     # as if 1000 Mbit/s were between two ranks

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::VectorXf, Eigen::VectorXi;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// The options and their default values; 1 is yes, 0 is no.
std::map<std::string, double> options = {
    {"ranks", 2},    // processes
    {"epochs", 5},   // passes over all images
    {"batch", 256},  // images in one step, of all ranks together
    {"lr", 0.04},    // the learning rate
    {"overlap", 1},  // 0: average the gradients only after the backward pass
    {"link", 0},     // Mbit/s between two ranks; 0: as fast as it is
};

// Prints a message and ends this process, with all its threads.
[[noreturn]] void fail(const std::string& message) {
    std::fprintf(stderr, "%s\n", message.c_str());
    std::_Exit(1);
}

// ---- 1. Images -----------------------------------------------------------------------

constexpr int kSide = 28, kPixels = kSide * kSide, kDigits = 10;

struct Images {
    Matrix pixels;    // (N, 784), from 0 to 1
    VectorXi labels;  // (N), the digits
};

// Reads a file of MNIST, which has a header, and then one byte for each number.
Matrix read_bytes(const std::string& name, size_t header, int columns) {
    const std::string command = "gzip -dc mnist/" + name + "-ubyte.gz";
    FILE* const file = popen(command.c_str(), "r");
    std::vector<unsigned char> bytes(64 << 20);
    const size_t count = std::fread(bytes.data(), 1, bytes.size(), file);
    if (pclose(file) != 0 || count < header) fail("cannot run: " + command);
    Matrix numbers((count - header) / columns, columns);
    std::copy_n(bytes.begin() + header, numbers.size(), numbers.data());
    return numbers;
}

Images read_mnist(const std::string& name) {
    return {read_bytes(name + "-images-idx3", 16, kPixels) / 255,
            read_bytes(name + "-labels-idx1", 8, 1).cast<int>()};
}

// Draws digits as a calculator shows them, each at another place, with noise.
Images draw_digits(int count, unsigned seed) {
    struct Stroke {
        int y, x, height, width;  // in pixels
        std::string digits;       // that have the stroke
    };
    const std::vector<Stroke> strokes = {
        {4, 8, 2, 12, "02356789"},   {13, 8, 2, 12, "2345689"},
        {22, 8, 2, 12, "0235689"},   {4, 8, 11, 2, "045689"},
        {4, 18, 11, 2, "01234789"},  {13, 8, 11, 2, "0268"},
        {13, 18, 11, 2, "013456789"}};
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> noise(0, 0.3f);
    std::uniform_int_distribution shift(-4, 4);
    Images images{Matrix(count, kPixels), VectorXi(count)};
    for (int i = 0; i < count; ++i) {
        images.labels[i] = i % kDigits;
        Eigen::Map<Matrix> picture(&images.pixels(i, 0), kSide, kSide);
        picture = picture.unaryExpr([&](float) { return noise(random); });
        const int down = shift(random), right = shift(random);
        for (const auto& [y, x, height, width, digits] : strokes)
            if (digits.find(char('0' + i % kDigits)) != std::string::npos)
                picture.block(y + down, x + right, height, width).setOnes();
    }
    return images;
}

// ---- 2. Sampler ----------------------------------------------------------------------

// Returns the images that a rank takes in an epoch. All ranks shuffle with the same seed,
// so all have the same order, and rank r takes the entries r, r + P, r + 2P, ... All
// ranks take equally many, count / P rounded up, or all would wait for the rank that makes
// a step less: if P does not divide the count, the last come from the order's start.
std::vector<int> sample(int count, int rank, int P, int epoch) {
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(epoch));
    std::vector<int> own;
    for (int i = rank; i < count + rank; i += P) own.push_back(order[i % count]);
    return own;
}

// ---- 3. Network ----------------------------------------------------------------------

// Returns the mean of -log p[label], with p = exp(scores) / its sum, and the gradient.
auto cross_entropy(const Matrix& scores, const VectorXi& labels) {
    const int N = labels.size();
    float loss = 0;
    Matrix gradient = scores;
    for (int i = 0; i < N; ++i) {
        const VectorXf shifted = scores.row(i).array() - scores.row(i).maxCoeff();
        const VectorXf exponential = shifted.array().exp();
        loss += std::log(exponential.sum()) - shifted[labels[i]];
        gradient.row(i) = exponential / exponential.sum();
        gradient(i, labels[i]) -= 1;
    }
    return std::pair<float, Matrix>(loss / N, gradient / N);
}

// Four layers. Each multiplies by its weights; all but the last are followed by a ReLU,
// which replaces negative numbers by 0.
constexpr std::array kWidths = {kPixels, 192, 192, 192, kDigits};
constexpr int kLayers = kWidths.size() - 1;

struct Network {
    VectorXf weights, gradients;  // of all layers, one layer after the other
    std::array<size_t, kLayers + 1> begin = {};  // of each layer in these two
    std::array<Matrix, kLayers + 1> values;      // values[k]: the input of layer k

    explicit Network(unsigned seed) {
        for (int k = 0; k < kLayers; ++k)
            begin[k + 1] = begin[k] + kWidths[k] * kWidths[k + 1];
        weights = gradients = VectorXf(begin[kLayers]);
        std::mt19937 random(seed);
        for (int k = 0; k < kLayers; ++k) {
            std::normal_distribution<float> normal(0, std::sqrt(2.0f / kWidths[k]));
            layer(weights, k) =
                layer(weights, k).unaryExpr([&](float) { return normal(random); });
        }
    }

    // Returns the part of `all` that belongs to layer k, as a matrix.
    Eigen::Map<Matrix> layer(VectorXf& all, int k) const {
        return {all.data() + begin[k], kWidths[k], kWidths[k + 1]};
    }

    // Returns ten numbers for each image: the largest is at the digit the network sees.
    const Matrix& forward(const Matrix& images) {
        values[0] = images;
        for (int k = 0; k < kLayers; ++k) {
            values[k + 1].noalias() = values[k] * layer(weights, k);
            if (k + 1 < kLayers) values[k + 1] = values[k + 1].cwiseMax(0);
        }
        return values[kLayers];
    }

    // Computes the gradients of the mean loss, and returns the mean loss. The last layer
    // comes first; calls ready(k) as soon as layer k's gradient is complete.
    float backward(const VectorXi& labels, const std::function<void(int)>& ready) {
        // delta: the gradient of the loss by layer k's product, before its ReLU
        auto [loss, delta] = cross_entropy(values[kLayers], labels);
        for (int k = kLayers - 1; k >= 0; --k) {
            layer(gradients, k).noalias() = values[k].transpose() * delta;
            ready(k);
            if (k == 0) break;
            const Matrix before = delta * layer(weights, k).transpose();
            delta = (values[k].array() > 0).select(before, 0);  // 0 where the ReLU gave 0
        }
        return loss;
    }
};

// ---- 4. Ranks ------------------------------------------------------------------------

// A rank's neighbours in the ring: rank 0 sends to 1, 1 sends to 2, ..., P-1 sends to 0.
struct Ring {
    int rank, P;
    int right, left;  // the connections to rank + 1 and from rank - 1
};

// Runs body(ring) in P processes, and waits for them. Returns the exit code of the whole:
// if a rank fails, names the first that ends, ends all others, and returns 1.
int run_ranks(int P, const std::function<void(const Ring&)>& body) {
    std::vector<std::array<int, 2>> connections(P);  // r sends by [r][0], r+1 has [r][1]
    for (auto& ends : connections)
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) fail("no socket pair");
    std::vector<pid_t> processes;
    for (int rank = 0; rank < P; ++rank) {
        const pid_t process = fork();
        if (process < 0) fail("cannot start another process");
        if (process == 0) {
            body({rank, P, connections[rank][0], connections[(rank + P - 1) % P][1]});
            std::exit(0);
        }
        std::printf("rank %d is process %d\n", rank, process);
        processes.push_back(process);
    }
    for (int status, running = P; running > 0; --running) {
        const pid_t ended = wait(&status);
        if (status == 0) continue;
        const auto rank = std::ranges::find(processes, ended) - processes.begin();
        std::fprintf(stderr, "rank %d (process %d): %s; all ranks end\n", int(rank),
                     ended, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "failed");
        for (const pid_t process : processes) kill(process, SIGKILL);
        while (wait(nullptr) > 0) continue;
        return 1;
    }
    return 0;
}

// ---- 5. All-reduce -------------------------------------------------------------------

// Sends to the right and receives from the left, both at the same time. If every rank
// sent everything first, no rank would receive, and all would wait as soon as the
// connections are full (some 200 KB).
void exchange(const Ring& ring, std::span<const float> give, std::span<float> take) {
    auto out = std::as_bytes(give);
    auto in = std::as_writable_bytes(take);
    const double rate = options.at("link") * 1e6 / 8;  // bytes a second
    const auto arrival = Clock::now() + Seconds(rate > 0 ? out.size() / rate : 0);
    while (!out.empty() || !in.empty()) {
        pollfd wanted[] = {{out.empty() ? -1 : ring.right, POLLOUT, 0},  // -1: ignored
                           {in.empty() ? -1 : ring.left, POLLIN, 0}};
        if (poll(wanted, 2, 10'000 /* ms */) == 0) {
            const int awaited = ring.rank + (in.empty() ? 1 : ring.P - 1);
            fail("rank " + std::to_string(ring.rank) + " has waited too long for rank " +
                 std::to_string(awaited % ring.P));
        }
        // Move as many bytes as possible without waiting; -1: none can move.
        const ssize_t sent = send(ring.right, out.data(), out.size(), MSG_DONTWAIT);
        const ssize_t got = recv(ring.left, in.data(), in.size(), MSG_DONTWAIT);
        out = out.subspan(std::max<ssize_t>(sent, 0));
        in = in.subspan(std::max<ssize_t>(got, 0));
    }
    std::this_thread::sleep_until(arrival);
}

// Replaces `data` by the sum over all ranks. The data are cut into P chunks. First every
// chunk travels around the ring, and each rank adds its own numbers to it: the last one has
// the sum. Then the sums travel around, and the others copy them, so all ranks have the
// same bits. Each rank sends 2 (P-1)/P times the data.
void all_reduce(const Ring& ring, std::span<float> data) {
    const int P = ring.P;
    const auto chunk = [&](int k) {  // k counts modulo P
        const size_t i = (k + P) % P, first = data.size() * i / P;
        return data.subspan(first, data.size() * (i + 1) / P - first);
    };
    std::vector<float> arrived(data.size() / P + 1);
    for (int step = 0; step < P - 1; ++step) {
        const std::span<float> own = chunk(ring.rank - step - 1);
        exchange(ring, chunk(ring.rank - step), std::span(arrived).first(own.size()));
        for (size_t i = 0; i < own.size(); ++i) own[i] += arrived[i];
    }
    for (int step = 0; step < P - 1; ++step)
        exchange(ring, chunk(ring.rank + 1 - step), chunk(ring.rank - step));
}

// ---- 6. DDP --------------------------------------------------------------------------

// Averages the gradients of all ranks. Neighbouring layers share a bucket, which is
// all-reduced as soon as it is complete, while backward computes the next layers:
//
//     this thread      | layer 3 | layer 2 | layer 1 | layer 0 |                  | step
//     another thread   |                   [ bucket 0 ]  [ 1 ] [     bucket 2     ] |
//
// All ranks send the buckets in the same order: the numbers carry no name.
struct Ddp {
    struct Bucket {
        std::span<float> gradients;
        int layers;  // complete after so many layers of backward
    };
    const Ring& ring;
    Network& network;
    std::vector<Bucket> buckets;
    Seconds communicated{0}, waited{0};  // in all-reduces; for them, after backward

    // Buckets of at least `size` numbers (the last of any), the last layer in the first.
    // Then a broadcast by an all-reduce: rank 0 adds its weights, and all others add 0.
    Ddp(const Ring& its_ring, Network& its_network, size_t size = 32 << 10)
        : ring(its_ring), network(its_network) {
        size_t end = network.begin[kLayers];
        for (int k = kLayers - 1; k >= 0; --k) {
            const size_t begin = network.begin[k];
            if (end - begin < size && k > 0) continue;
            buckets.push_back(
                {{network.gradients.data() + begin, end - begin}, kLayers - k});
            end = begin;
        }
        if (ring.rank > 0) network.weights.setZero();
        all_reduce(ring, {network.weights.data(), network.begin[kLayers]});
    }

    // Calls network.backward() and averages the gradients; returns this rank's loss.
    float backward(const VectorXi& labels) {
        std::atomic<int> complete = 0;  // layers
        std::thread thread([&] {
            for (const Bucket& bucket : buckets) {
                // Wait for the bucket's layers: wait(n) returns when `complete` is not n.
                for (int n = complete; n < bucket.layers; n = complete) complete.wait(n);
                const auto start = Clock::now();
                all_reduce(ring, bucket.gradients);
                communicated += Clock::now() - start;
            }
        });
        const float loss = network.backward(labels, [&](int k) {
            if (options.at("overlap") == 0 && k > 0) return;
            complete = kLayers - k;
            complete.notify_one();
        });
        const auto start = Clock::now();
        thread.join();
        waited += Clock::now() - start;
        network.gradients /= ring.P;
        return loss;
    }
};

// ---- 7. Training ---------------------------------------------------------------------

// Returns the percentage of the images for which the network finds the digit.
float accuracy(Network& network, const Images& test) {
    const Matrix& scores = network.forward(test.pixels);
    int found = 0;
    for (int i = 0; i < scores.rows(); ++i)
        found += scores(i, test.labels[i]) == scores.row(i).maxCoeff();
    return 100.0f * found / scores.rows();
}

// What one rank does.
void train(const Ring& ring, const Images& images, const Images& test) {
    Network network(ring.rank);  // other weights on each rank, until Ddp makes them equal
    Ddp ddp(ring, network);
    VectorXf velocity = VectorXf::Zero(network.weights.size());
    const size_t batch = options["batch"] / ring.P;
    const auto start = Clock::now();
    for (int epoch = 1; epoch <= options["epochs"]; ++epoch) {
        const auto own = sample(images.labels.size(), ring.rank, ring.P, epoch);
        float loss = 0;
        for (size_t i = 0; i < own.size(); i += batch) {
            const size_t end = std::min(i + batch, own.size());
            const std::vector<int> indices(own.begin() + i, own.begin() + end);
            network.forward(images.pixels(indices, Eigen::seqN(0, kPixels)));
            loss += ddp.backward(images.labels(indices)) * indices.size() / own.size();
            velocity = 0.9f * velocity + network.gradients;  // 0.9: the momentum
            network.weights -= float(options["lr"]) * velocity;
        }
        const float found = ring.rank == 0 ? accuracy(network, test) : 0;
        if (ring.rank == 0)
            std::printf("epoch %2d   loss %.4f   accuracy %.2f %%   %.2f s\n", epoch,
                        loss, found, Seconds(Clock::now() - start).count());
    }
    unsigned checksum = 0;
    for (const float weight : network.weights)
        checksum = checksum * 31 + std::bit_cast<unsigned>(weight);
    std::printf("rank %d: checksum %08x, %.2f s in all-reduces, %.2f s after backward\n",
                ring.rank, checksum, ddp.communicated.count(), ddp.waited.count());
}

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // at once: a fork copies unwritten text
    for (const std::string word : std::span(argv, argc).subspan(1)) {
        const std::string name = word.substr(0, word.find('='));
        if (!options.contains(name) || name == word) fail("no option " + word);
        char* end;
        options[name] = std::strtod(word.c_str() + name.size() + 1, &end);
        if (*end != 0) fail("not a number: " + word);
    }
    const int P = options["ranks"];
    if (P < 1 || P > options["batch"]) fail("ranks must be from 1 to batch");
    // The ranks share this memory: they are forked after it is written, and change nothing.
    const bool have_mnist = access("mnist/train-images-idx3-ubyte.gz", R_OK) == 0;
    const Images images = have_mnist ? read_mnist("train") : draw_digits(20000, 1);
    const Images test = have_mnist ? read_mnist("t10k") : draw_digits(2000, 2);
    std::printf("%s, %d ranks\n", have_mnist ? "MNIST" : "drawn digits", P);
    return run_ranks(P, [&](const Ring& ring) { train(ring, images, test); });
}
