#include "libmini/parallel/scatter_gather.hpp"

#include <algorithm>

#include "libmini/autograd/functions.hpp"
#include "libmini/parallel/data_parallel_lane.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

int64_t moved_bytes(const Tensor& x, Device from, Device to) {
    return from == to ? 0 : static_cast<int64_t>(x.bytes());
}

// Copies a chunk to its device; backward copies its gradient back.
Tensor to_device(const Tensor& x, Device from, Device to, const SharedStats& stats) {
    if (from == to) return x;
    stats->bytes_scattered += moved_bytes(x, from, to);
    return record("scatter", copy_between(x, from, to), {x},
                  [from, to, stats](const Tensor& g, const Node&) -> Grads {
                      stats->bytes_gathered += moved_bytes(g, to, from);
                      return {copy_between(g, to, from)};
                  });
}

void check_same_rows(const std::vector<Tensor>& outputs,
                     const std::vector<Device>& devices) {
    const auto row = [](const Tensor& x) {
        return x.dim() == 0 ? Shape{} : Shape(x.shape().begin() + 1, x.shape().end());
    };
    const Tensor& first = outputs.front();
    for (size_t i = 1; i < outputs.size(); ++i)
        check_shape(outputs[i].dim() == first.dim() && row(outputs[i]) == row(first) &&
                        outputs[i].dtype() == first.dtype(),
                    "gather: the output of device ", devices[0], " is ", first.dtype(),
                    " ", first.shape(), ", but that of device ", devices[i], " is ",
                    outputs[i].dtype(), " ", outputs[i].shape(),
                    "; they may differ in dimension 0 only");
}

}  // namespace

std::vector<int64_t> chunk_sizes(int64_t size, int64_t chunks) {
    if (chunks < 1)
        throw UsageError(concat("chunk: there must be 1 chunk or more, not ", chunks));
    if (size == 0) return std::vector<int64_t>(static_cast<size_t>(chunks), 0);
    const int64_t most = (size + chunks - 1) / chunks;
    std::vector<int64_t> sizes;
    for (int64_t start = 0; start < size; start += most)
        sizes.push_back(std::min(most, size - start));
    return sizes;
}

std::vector<Tensor> scatter(const Tensor& x, const std::vector<Device>& devices,
                            const SharedStats& stats) {
    check_shape(x.dim() > 0, "scatter: a scalar has no rows to distribute");
    std::vector<Tensor> chunks;
    int64_t start = 0;
    for (const int64_t rows :
         chunk_sizes(x.size(0), static_cast<int64_t>(devices.size()))) {
        const Tensor chunk = narrow(x, 0, start, rows);
        chunks.push_back(to_device(chunk, x.device(), devices[chunks.size()], stats));
        start += rows;
    }
    return chunks;
}

Tensor gather(const std::vector<Tensor>& outputs, const std::vector<Device>& devices,
              Device to, const SharedStats& stats) {
    check_same_rows(outputs, devices);
    const bool are_scalars = outputs.front().dim() == 0;
    const auto rows_of = [&](const Tensor& x) { return are_scalars ? 1 : x.size(0); };

    // Copy every output to its rows of the result.
    Shape shape = are_scalars ? Shape{0} : outputs.front().shape();
    shape[0] = 0;
    for (const Tensor& output : outputs) shape[0] += rows_of(output);
    Tensor result = Tensor::empty(shape, outputs.front().dtype(), to);
    std::vector<Shape> shapes;
    int64_t start = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
        const int64_t rows = rows_of(outputs[i]);
        Tensor part = ops::narrow(result, 0, start, rows);
        ops::copy_(part, ops::reshape(outputs[i], part.shape()));
        stats->bytes_gathered += moved_bytes(outputs[i], devices[i], to);
        shapes.push_back(outputs[i].shape());
        start += rows;
    }

    // Backward copies each part of the gradient back to the device of its output.
    return record("gather", result, outputs,
                  [shapes, devices, to, stats](const Tensor& g, const Node& node) {
                      Grads shares(shapes.size());
                      int64_t start = 0;
                      for (size_t i = 0; i < shapes.size(); ++i) {
                          const int64_t rows = shapes[i].empty() ? 1 : shapes[i][0];
                          const Tensor share = ops::narrow(g, 0, start, rows);
                          start += rows;
                          if (!node.needs(i)) continue;
                          shares[i] = ops::reshape(copy_between(share, to, devices[i]),
                                                   shapes[i]);
                          stats->bytes_scattered += moved_bytes(share, to, devices[i]);
                      }
                      return shares;
                  });
}

}  // namespace mini::parallel
