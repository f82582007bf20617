#include "libmini/parallel/scatter_gather.hpp"

#include <algorithm>

#include "libmini/autograd/functions.hpp"
#include "libmini/parallel/device_worker.hpp"
#include "libmini/tensor/ops.hpp"

// [lab13 file]
namespace mini::parallel {
namespace {

int64_t moved_bytes(const Tensor& x, Device from, Device to) {
    return from == to ? 0 : static_cast<int64_t>(x.bytes());
}

// Returns a copy of the chunk `x` on device `to`, recorded as computed from x, and counts
// it; x itself if `from` equals `to`. Backward copies and counts the gradient.
Tensor to_device(const Tensor& x, Device from, Device to, const SharedStats& stats) {
    // [lab13.1] Copy the chunk to its device; in backward copy its gradient back.
    if (from == to) return x;
    stats->bytes_scattered += moved_bytes(x, from, to);
    return record("scatter", copy_between(x, from, to), {x},
                  [from, to, stats](const Tensor& g, const Node&) -> Grads {
                      stats->bytes_gathered += moved_bytes(g, to, from);
                      return {copy_between(g, to, from)};
                  });
    // [lab13.1]
}

// Returns the number of rows of an output in the result of gather; 1 for a scalar.
int64_t rows_of(const Shape& shape) { return shape.empty() ? 1 : shape[0]; }

// Returns the result of gather, without values.
Tensor empty_result(const std::vector<Tensor>& outputs, Device to) {
    Shape shape = outputs.front().dim() == 0 ? Shape{0} : outputs.front().shape();
    shape[0] = 0;
    for (const Tensor& output : outputs) shape[0] += rows_of(output.shape());
    return Tensor::empty(shape, outputs.front().dtype(), to);
}

void check_same_rows(const std::vector<Tensor>& outputs,
                     const std::vector<Device>& devices) {
    // [lab13.2] Throw if another output differs from the first one in more than its rows.
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
    // [lab13.2]
}

}  // namespace

std::vector<int64_t> chunk_sizes(int64_t size, int64_t chunks) {
    if (chunks < 1)
        throw UsageError("chunk: there must be 1 chunk or more, not ", chunks);
    // [lab13.1] Give each chunk ceil(size / chunks) rows, and the last chunk the rest.
    if (size == 0) return std::vector<int64_t>(static_cast<size_t>(chunks), 0);
    const int64_t most = (size + chunks - 1) / chunks;
    std::vector<int64_t> sizes;
    for (int64_t start = 0; start < size; start += most)
        sizes.push_back(std::min(most, size - start));
    return sizes;
    // [lab13.1]
}

std::vector<Tensor> scatter(const Tensor& x, const std::vector<Device>& devices,
                            const SharedStats& stats) {
    check_shape(x.dim() > 0, "scatter: a scalar has no rows to distribute");
    // [lab13.1] Cut x into chunks of rows, and send each to its device.
    std::vector<Tensor> chunks;
    int64_t start = 0;
    for (const int64_t rows :
         chunk_sizes(x.size(0), static_cast<int64_t>(devices.size()))) {
        const Tensor chunk = narrow(x, 0, start, rows);
        chunks.push_back(to_device(chunk, x.device(), devices[chunks.size()], stats));
        start += rows;
    }
    return chunks;
    // [lab13.1]
}

Tensor gather(const std::vector<Tensor>& outputs, const std::vector<Device>& devices,
              Device to, const SharedStats& stats) {
    check_same_rows(outputs, devices);
    Tensor result = empty_result(outputs, to);
    std::vector<Shape> shapes;
    for (const Tensor& output : outputs) shapes.push_back(output.shape());

    // [lab13.2] Copy every output to its rows of the result.
    int64_t start = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
        Tensor part = ops::narrow(result, 0, start, rows_of(shapes[i]));
        ops::copy_(part, ops::reshape(outputs[i], part.shape()));
        stats->bytes_gathered += moved_bytes(outputs[i], devices[i], to);
        start += rows_of(shapes[i]);
    }
    // [lab13.2]

    const Backward backward = [shapes, devices, to, stats](const Tensor& g,
                                                           const Node& node) {
        Grads grads(shapes.size());
        // [lab13.2] Copy the rows of the gradient back to the device of their output.
        int64_t start = 0;
        for (size_t i = 0; i < shapes.size(); ++i) {
            const Tensor rows = ops::narrow(g, 0, start, rows_of(shapes[i]));
            start += rows_of(shapes[i]);
            if (!node.needs_input_grad(i)) continue;
            grads[i] = ops::reshape(copy_between(rows, to, devices[i]), shapes[i]);
            stats->bytes_scattered += moved_bytes(rows, to, devices[i]);
        }
        // [lab13.2]
        return grads;
    };
    return record("gather", result, outputs, backward);
}

}  // namespace mini::parallel
// [lab13 file]
