// Scatter and gather: a batch cut into chunks, one per device, and put together again.
//
//     x (10, 3)  --scatter-->  (4, 3) cpu   (4, 3) cpu:1   (2, 3) cpu:2
//                                 |             |              |
//     y (10, 2)  <--gather---  (4, 2)        (4, 2)         (2, 2)
//
// Both are differentiable, and each is the other's gradient: backward() scatters dL/dy
// and gathers dL/dx.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// The bytes that went from one device to another. A part that stays where it is costs
/// nothing.
struct DataParallelStats {
    int64_t bytes_scattered = 0;   // chunks of the input, gradients of the outputs
    int64_t bytes_replicated = 0;  // parameters and buffers
    int64_t bytes_gathered = 0;    // outputs, gradients of the input
    int64_t bytes_reduced = 0;     // gradients of the parameters

    int64_t total() const {
        return bytes_scattered + bytes_replicated + bytes_gathered + bytes_reduced;
    }
};

/// Where to count; kept by the graph, which may outlive the DataParallel that made it.
using SharedStats = std::shared_ptr<DataParallelStats>;

/// The sizes of the parts of `size` rows: ceil(size / chunks) each, the last one what is
/// left, and none that would be empty; but `chunks` empty ones of no rows
/// (`torch.chunk`). Throws UsageError when `chunks` is below 1.
std::vector<int64_t> chunk_sizes(int64_t size, int64_t chunks);

/// Chunk i of `x`, cut along dimension 0, on devices[i] (`torch.nn.parallel.scatter`).
/// There may be fewer chunks than devices. Throws ShapeError for a scalar.
std::vector<Tensor> scatter(const Tensor& x, const std::vector<Device>& devices,
                            const SharedStats& stats);

/// The outputs one below the other on device `to`; outputs[i] is on devices[i]
/// (`torch.nn.parallel.gather`). Scalars become a vector. Throws ShapeError, naming two
/// devices, for outputs of other dtypes or of shapes that differ not only in dimension 0.
Tensor gather(const std::vector<Tensor>& outputs, const std::vector<Device>& devices,
              Device to, const SharedStats& stats);

}  // namespace mini::parallel
