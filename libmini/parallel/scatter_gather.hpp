// Scatter and gather: split a batch into chunks, one per device, and join the outputs.
//
//     x (10, 3)  --scatter-->  (4, 3) cpu   (4, 3) cpu:1   (2, 3) cpu:2
//                                 |             |              |
//     y (10, 2)  <--gather---  (4, 2)        (4, 2)         (2, 2)
//
// Both are differentiable, and each is the backward of the other: backward() scatters
// dL/dy and gathers dL/dx.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// The bytes moved between devices. A tensor that stays on its device does not count.
struct DataParallelStats {
    int64_t bytes_scattered = 0;   // chunks of the input, gradients of the outputs
    int64_t bytes_replicated = 0;  // parameters and buffers
    int64_t bytes_gathered = 0;    // outputs, gradients of the input
    int64_t bytes_reduced = 0;     // gradients of the parameters

    int64_t total() const {
        return bytes_scattered + bytes_replicated + bytes_gathered + bytes_reduced;
    }
};

/// Shared with the autograd graph, which may outlive the DataParallel that created it.
using SharedStats = std::shared_ptr<DataParallelStats>;

/// Returns the number of rows of each chunk, when `size` rows are split into `chunks`
/// chunks (`torch.chunk`): ceil(size / chunks) rows each, and the remaining rows in the
/// last chunk. Leaves out empty chunks; but if `size` is 0, returns `chunks` zeros.
/// Throws UsageError when `chunks` is below 1.
std::vector<int64_t> chunk_sizes(int64_t size, int64_t chunks);

/// Splits `x`, of any dtype, along dimension 0 into consecutive chunks with the numbers
/// of rows that chunk_sizes() returns, and copies chunk i to devices[i]
/// (`torch.nn.parallel.scatter`). So the result may have fewer chunks than devices. A
/// chunk for the device of x is a view of x, and is not copied. Backward copies the
/// gradient of chunk i from devices[i] to the device of x, to the rows of the chunk.
/// Copies between different devices count: of chunks in bytes_scattered, of their
/// gradients, during backward, in bytes_gathered. Throws ShapeError for a scalar.
std::vector<Tensor> scatter(const Tensor& x, const std::vector<Device>& devices,
                            const SharedStats& stats);

/// Concatenates the outputs along dimension 0 on device `to`, which need not be one of
/// `devices` (`torch.nn.parallel.gather`). outputs[i] is on devices[i], even where
/// outputs[i].device() is another: a result on the CPU does not record which CPU device
/// computed it. Scalars become a vector. Backward copies, for each outputs[i] that needs
/// a gradient and for no other, its rows of the gradient from `to` to devices[i], in the
/// shape of outputs[i]. Copies between different devices count: of outputs in
/// bytes_gathered, of gradients in bytes_scattered. Throws ShapeError, naming both
/// devices, when outputs[0] and another output differ in dtype or in a dimension other
/// than 0. REQUIRES: at least one output, and a device for each.
Tensor gather(const std::vector<Tensor>& outputs, const std::vector<Device>& devices,
              Device to, const SharedStats& stats);

}  // namespace mini::parallel
