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

/// Splits `x` along dimension 0 into chunks, with the numbers of rows that chunk_sizes()
/// returns, and copies chunk i to devices[i] (`torch.nn.parallel.scatter`). The result
/// may have fewer chunks than devices. Backward copies the gradient of each chunk to the
/// device of x. Throws ShapeError for a scalar.
std::vector<Tensor> scatter(const Tensor& x, const std::vector<Device>& devices,
                            const SharedStats& stats);

/// Concatenates the outputs along dimension 0 on device `to`; outputs[i] is on devices[i]
/// (`torch.nn.parallel.gather`). Scalars become a vector. Backward copies, for each
/// outputs[i] that needs a gradient, the rows of the gradient that belong to outputs[i]
/// to devices[i], in the shape of outputs[i]. Throws ShapeError, naming two devices, when
/// their outputs differ in dtype or in a dimension other than 0.
Tensor gather(const std::vector<Tensor>& outputs, const std::vector<Device>& devices,
              Device to, const SharedStats& stats);

}  // namespace mini::parallel
