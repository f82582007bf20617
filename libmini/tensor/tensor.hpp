// Tensor: a shape and strides over shared storage, and a place in the graph of autograd.
//
//     storage   [ 0 1 2 3 4 5 ]
//     x         shape (2, 3), strides (3, 1)      0 1 2
//                                                 3 4 5
//     x's transpose, no copy:
//               shape (3, 2), strides (1, 3)      0 3
//                                                 1 4
//                                                 2 5
//
// A Tensor is a handle: copying it copies no numbers. Element (i, j) lies at offset + i *
// strides[0] + j * strides[1], counted in elements. A stride of 0 repeats a row without
// storing it twice; that is how broadcasting reads.
//
// Arithmetic is in functions: mini::ops (tensor/ops.hpp) computes and nothing else, mini
// (autograd/functions.hpp) computes and records, so that gradients can flow back.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/tensor/device.hpp"
#include "libmini/tensor/dtype.hpp"
#include "libmini/tensor/storage.hpp"

namespace mini {

/// Sizes of the dimensions, outermost first; () is a scalar.
using Shape = std::vector<int64_t>;

/// The number of elements of a shape. Throws ShapeError for a negative size or an overflow.
int64_t element_count(const Shape& shape);

/// The strides of a shape laid out row by row without gaps. Throws ShapeError for an overflow,
/// which a shape may have even though a size of 0 makes it empty.
Shape contiguous_strides(const Shape& shape);

struct AutogradMeta;     // autograd/node.hpp
struct BackwardOptions;  // below

class Tensor {
  public:
    /// No tensor at all: defined() is false, and every other member throws or must not be called.
    Tensor() = default;

    /// Contents unspecified (`torch.empty`).
    static Tensor empty(Shape shape, DType dtype = DType::kFloat32,
                        Device device = default_device());

    /// Contents unspecified, on the CPU in pinned memory (`torch.empty(pin_memory=True)`).
    static Tensor empty_pinned(Shape shape, DType dtype = DType::kFloat32);

    /// Contents unspecified, dtype and device this tensor's (`Tensor.new_empty`).
    Tensor new_empty(Shape shape) const {
        return empty(std::move(shape), dtype(), device());
    }

    /// All zero, dtype and device this tensor's (`Tensor.new_zeros`).
    Tensor new_zeros(Shape shape) const {
        return zeros(std::move(shape), dtype(), device());
    }

    /// All zero, all one, all `value` (`torch.zeros`, `torch.ones`, `torch.full`).
    static Tensor zeros(Shape shape, DType dtype = DType::kFloat32,
                        Device device = default_device());
    static Tensor ones(Shape shape, DType dtype = DType::kFloat32,
                       Device device = default_device());
    static Tensor full(Shape shape, double value, DType dtype = DType::kFloat32,
                       Device device = default_device());

    /// A copy of `values`, row by row. Throws ShapeError unless they fill `shape` exactly.
    template <Element T>
    static Tensor from(const std::vector<T>& values, Shape shape,
                       Device device = default_device());
    template <Element T>
    static Tensor from(const std::vector<T>& values) {
        return from(values, {static_cast<int64_t>(values.size())});
    }

    /// A scalar, shape ().
    static Tensor scalar(float value) { return from(std::vector<float>{value}, {}); }

    bool defined() const { return impl_ != nullptr; }
    const Shape& shape() const { return impl_->shape; }
    const Shape& strides() const { return impl_->strides; }
    DType dtype() const { return impl_->dtype; }
    Device device() const { return impl_->storage->device(); }
    int64_t dim() const { return static_cast<int64_t>(impl_->shape.size()); }
    int64_t numel() const { return impl_->numel; }
    size_t bytes() const { return static_cast<size_t>(numel()) * item_size(dtype()); }

    /// The size of dimension `d`; -1 is the last one. Throws ShapeError when there is none.
    int64_t size(int64_t d) const;

    /// Whether the elements lie row by row without gaps.
    bool is_contiguous() const;

    /// The first element, an address of the device's memory. Throws ShapeError when T is
    /// not the dtype.
    template <Element T>
    T* data();
    template <Element T>
    const T* data() const;
    std::byte* raw_data() const;

    /// The same. Throws ShapeError unless the tensor is contiguous.
    template <Element T>
    T* contiguous_data();
    template <Element T>
    const T* contiguous_data() const;

    /// All elements as one span. Throws ShapeError unless it is contiguous and on the CPU.
    template <Element T>
    std::span<T> span();
    template <Element T>
    std::span<const T> span() const;

    /// The same elements on another device, this tensor itself when it is there already.
    /// No gradient flows back: mini::to (autograd/functions.hpp) records.
    Tensor to(Device device) const;

    /// Makes this tensor, and every handle to it, hold the shape and storage of `other`,
    /// its place in the graph unchanged (`x.data = other`). The dtype must be the same.
    void set_data(const Tensor& other);

    /// The only element, as a double. Throws ShapeError when there are more, or none. Waits
    /// for the device.
    double item() const;

    /// The elements row by row, copied out of whatever device. Waits for the device.
    template <Element T>
    std::vector<T> to_vector() const;

    /// Another tensor over the same storage. REQUIRES: it stays inside the storage.
    Tensor as_strided(Shape shape, Shape strides, int64_t offset) const;
    int64_t offset() const { return impl_->offset; }

    /// Whether this handle is the only one, over a storage of its own.
    bool is_unique() const {
        return impl_.use_count() == 1 && impl_->storage.use_count() == 1;
    }

    /// Whether two handles are one tensor; whether two tensors share their bytes.
    bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
    bool shares_storage(const Tensor& other) const {
        return impl_->storage == other.impl_->storage;
    }

    /// Counts one in-place change (see Storage). Everything that writes to an existing
    /// tensor calls it.
    void bump_version() { impl_->storage->bump_version(); }
    uint64_t version() const { return impl_->storage->version(); }

    // ---- autograd. Implemented on a higher floor, in autograd/, but spelt as in PyTorch.

    /// Whether gradients flow into this tensor: a leaf that asked for them, or a result of one.
    bool requires_grad() const;

    /// Makes this leaf ask for gradients, or stop asking. Throws Error when it is a result.
    Tensor& set_requires_grad(bool value = true);

    /// Whether no operation recorded in the graph made this tensor.
    bool is_leaf() const;

    /// The accumulated gradient of a leaf, undefined until a backward pass reaches it.
    const Tensor& grad() const;
    void set_grad(const Tensor& grad);

    /// The same numbers outside the graph; shares storage.
    Tensor detach() const;

    /// Adds dL/dx to the grad() of every leaf x that L, this tensor, depends on; blocks
    /// until done (`Tensor.backward`). Throws Error when there is no graph, when it was
    /// freed, when this is not a scalar and no gradient is given, or when a value that is
    /// needed was overwritten since.
    void backward() const;
    void backward(const BackwardOptions& options) const;

    /// What autograd keeps beside the numbers; null when it keeps nothing.
    AutogradMeta* autograd_meta() const { return impl_->autograd.get(); }
    void set_autograd_meta(std::shared_ptr<AutogradMeta> meta) const {
        impl_->autograd = std::move(meta);
    }
    const void* id() const { return impl_.get(); }

  private:
    static Tensor make(Shape shape, DType dtype, Device device, HostMemory memory);

    struct Impl {
        std::shared_ptr<Storage> storage;
        Shape shape;
        Shape strides;
        int64_t offset = 0;
        int64_t numel = 0;
        DType dtype = DType::kFloat32;
        std::shared_ptr<AutogradMeta> autograd;
    };

    explicit Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
    void check_dtype(DType wanted) const;
    void check_contiguous() const;
    void check_span() const;

    std::shared_ptr<Impl> impl_;

    friend class WeakTensor;
};

/// A copy of `values` on the CPU, whatever the default device: what ranks tell each other.
template <Element T>
Tensor cpu_tensor(const std::vector<T>& values) {
    return Tensor::from(values, {static_cast<int64_t>(values.size())}, Device::cpu());
}

struct BackwardOptions {
    Tensor gradient;            // dL/d(this tensor); 1 for a scalar when undefined
    bool retain_graph = false;  // keep the graph for another backward pass
};

/// A handle that does not keep its tensor alive: what a gradient accumulator holds of its leaf.
class WeakTensor {
  public:
    WeakTensor() = default;
    explicit WeakTensor(const Tensor& tensor) : impl_(tensor.impl_) {}

    /// The tensor, or an undefined one when it is gone.
    Tensor lock() const { return Tensor(impl_.lock()); }

  private:
    std::weak_ptr<Tensor::Impl> impl_;
};

/// Throws ShapeError with the given parts when `condition` does not hold.
template <typename... Parts>
void check_shape(bool condition, const Parts&... parts) {
    if (!condition) throw ShapeError(concat(parts...));
}

template <Element T>
T* Tensor::data() {
    check_dtype(dtype_of<T>());
    return reinterpret_cast<T*>(raw_data());
}

template <Element T>
const T* Tensor::data() const {
    check_dtype(dtype_of<T>());
    return reinterpret_cast<const T*>(raw_data());
}

template <Element T>
T* Tensor::contiguous_data() {
    check_contiguous();
    return data<T>();
}

template <Element T>
const T* Tensor::contiguous_data() const {
    check_contiguous();
    return data<T>();
}

template <Element T>
std::span<T> Tensor::span() {
    check_span();
    return {data<T>(), static_cast<size_t>(numel())};
}

template <Element T>
std::span<const T> Tensor::span() const {
    check_span();
    return {data<T>(), static_cast<size_t>(numel())};
}

}  // namespace mini
