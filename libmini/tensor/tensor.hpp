// Tensor: a shape and strides over shared storage, and optionally an autograd state.
//
//     storage   [ 0 1 2 3 4 5 ]
//     x         shape (2, 3), strides (3, 1)      0 1 2
//                                                 3 4 5
//     transpose of x, a view without a copy:
//               shape (3, 2), strides (1, 3)      0 3
//                                                 1 4
//                                                 2 5
//
// A Tensor is a handle: a copy of a Tensor shares its elements. Element (i, j) is at
// offset + i * strides[0] + j * strides[1]. A stride of 0 repeats a row (broadcasting).
//
// Arithmetic is in free functions: mini::ops (tensor/ops.hpp) only computes; mini
// (autograd/functions.hpp) also records the operation for the backward pass.

#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/dtype.hpp"
#include "libmini/tensor/device.hpp"
#include "libmini/tensor/shape.hpp"
#include "libmini/tensor/storage.hpp"

namespace mini {

struct AutogradMeta;     // tensor/autograd_meta.hpp
struct BackwardOptions;  // below

/// The indices start .. end - 1 of a dimension (`start:end`); a negative number counts from
/// the dimension's end, and one that is out of range becomes the nearest that is not.
struct Slice {
    int64_t start = 0;
    int64_t end = INT64_MAX;
};

class Tensor {
  public:
    /// Constructs an undefined tensor: defined() is false. Of the other members only
    /// id(), is_same() and is_unique() may be called; the others throw Error.
    Tensor() = default;

    Tensor(const Tensor& other) = default;
    Tensor(Tensor&& other) = default;

    /// Make this handle refer to another tensor; they write no elements. So `x[0] = y`,
    /// which would change a temporary handle only, does not compile.
    Tensor& operator=(const Tensor& other) & = default;
    Tensor& operator=(Tensor&& other) & = default;
    Tensor& operator=(const Tensor& other) && = delete;  // write ops::copy_(row, y)

    /// Returns a tensor with unspecified contents (`torch.empty`).
    static Tensor empty(Shape shape, DType dtype = DType::kFloat32,
                        Device device = default_device());

    /// Returns a tensor on the CPU in pinned memory, with unspecified contents
    /// (`torch.empty(pin_memory=True)`).
    static Tensor empty_pinned(Shape shape, DType dtype = DType::kFloat32);

    /// Returns a tensor with this tensor's dtype and device and unspecified contents
    /// (`Tensor.new_empty`).
    Tensor new_empty(Shape shape) const {
        return empty(std::move(shape), dtype(), device());
    }

    /// Returns a tensor of zeros with this tensor's dtype and device
    /// (`Tensor.new_zeros`).
    Tensor new_zeros(Shape shape) const {
        return zeros(std::move(shape), dtype(), device());
    }

    /// Returns a tensor of zeros, of ones, or of `value` (`torch.zeros`, `torch.ones`,
    /// `torch.full`). For an integer dtype, the fraction of `value` is dropped. Throws
    /// Error if the dtype has no such number: 256 as uint8, NaN as int64, 1e300 as
    /// float32.
    static Tensor zeros(Shape shape, DType dtype = DType::kFloat32,
                        Device device = default_device()) {
        return full(std::move(shape), 0.0, dtype, device);
    }
    static Tensor ones(Shape shape, DType dtype = DType::kFloat32,
                       Device device = default_device()) {
        return full(std::move(shape), 1.0, dtype, device);
    }
    static Tensor full(Shape shape, double value, DType dtype = DType::kFloat32,
                       Device device = default_device());
    template <std::integral T>
    static Tensor full(Shape shape, T value, DType dtype = DType::kFloat32,
                       Device device = default_device());

    /// Returns a tensor with a copy of `values`, in row-major order. Throws ShapeError
    /// unless there are element_count(shape) values. Without `shape`, the tensor has one
    /// dimension.
    template <Element T>
    static Tensor from(const std::vector<T>& values, Shape shape,
                       Device device = default_device());
    template <Element T>
    static Tensor from(const std::vector<T>& values) {
        return from(values, {static_cast<int64_t>(values.size())});
    }

    /// Returns a scalar: a tensor of shape ().
    static Tensor scalar(float value) { return from(std::vector<float>{value}, {}); }

    bool defined() const { return impl_ != nullptr; }
    const Shape& shape() const { return impl().shape; }
    const Shape& strides() const { return impl().strides; }
    DType dtype() const { return impl().dtype; }
    Device device() const { return impl().storage->device(); }
    int64_t dim() const { return static_cast<int64_t>(impl().shape.size()); }
    int64_t numel() const { return impl().numel; }
    size_t bytes() const { return static_cast<size_t>(numel()) * item_size(dtype()); }

    /// Returns the size of dimension `d`; -1 is the last dimension. Throws ShapeError if
    /// the dimension does not exist.
    int64_t size(int64_t d) const;

    /// Returns whether the elements are stored in row-major order without gaps.
    bool is_contiguous() const { return mini::is_contiguous(shape(), strides()); }

    /// Returns the address of the first element, in the device's memory. Throws
    /// ShapeError if T is not the dtype.
    template <Element T>
    T* data();
    template <Element T>
    const T* data() const;

    /// Returns the address of the first element as a byte pointer. Throws Error if
    /// free_storage() has freed the elements.
    std::byte* raw_data() const;

    /// Returns data(). Throws ShapeError unless the tensor is contiguous and T is the
    /// dtype.
    template <Element T>
    T* contiguous_data();
    template <Element T>
    const T* contiguous_data() const;

    /// Returns all elements as one span. Throws ShapeError unless the tensor is
    /// contiguous and on the CPU and T is the dtype.
    template <Element T>
    std::span<T> span();
    template <Element T>
    std::span<const T> span() const;

    /// Returns a copy on another device, or this tensor if it is already on `device`. The
    /// copy is not recorded for autograd; mini::to (autograd/functions.hpp) records it.
    /// Blocks until the copy has completed, except, with `non_blocking`, in these cases
    /// (`Tensor.to(device, non_blocking=True)`):
    ///   - from pinned memory to a GPU, if this tensor is contiguous. This tensor may be
    ///     freed, but not changed, before the GPU's current stream has made the copy.
    ///   - from a GPU to the CPU. The result is in pinned memory, and has its elements
    ///     once the GPU's current stream has completed.
    Tensor to(Device device, bool non_blocking = false) const;

    /// Returns whether the elements are in pinned memory; false for freed memory, and for
    /// a tensor without elements (`Tensor.is_pinned`).
    bool is_pinned() const { return impl().storage->is_pinned(); }

    /// Returns a contiguous copy in pinned memory, or this tensor if it is already pinned
    /// (`Tensor.pin_memory`). The copy has no autograd state. Throws Error for a tensor
    /// on a GPU, and in a build without CUDA.
    Tensor pin_memory() const;

    /// Gives this tensor, and all handles to this tensor, the storage, shape and strides
    /// of `other` (`x.data = other`). Does not change the autograd graph. Throws
    /// ShapeError if the dtypes differ.
    void set_data(const Tensor& other);

    /// Returns the only element, as a double. Throws ShapeError unless the tensor has
    /// exactly one element, and Error for an int64 that no double is equal to. On a GPU,
    /// blocks until the current stream has completed.
    double item() const;

    /// Returns the only element. Throws ShapeError unless the tensor has exactly one
    /// element and T is the dtype. Blocks like item().
    template <Element T>
    T item() const;

    /// Returns a copy of the elements in row-major order, from any device. On a
    /// GPU, blocks until the current stream has completed.
    template <Element T>
    std::vector<T> to_vector() const;

    /// Returns a view of the same storage with the given shape, strides and offset(),
    /// which do not depend on those of this tensor (`Tensor.as_strided`). The view has
    /// this tensor's dtype and no autograd state. Throws ShapeError unless all elements
    /// of the view are in the storage; see check_layout.
    Tensor as_strided(Shape shape, Shape strides, int64_t offset) const;

    /// Returns the position of the first element in the storage, counted in elements.
    int64_t offset() const { return impl().offset; }

    /// Returns whether this is the only handle to the tensor, and the tensor does not
    /// share its storage.
    bool is_unique() const {
        return impl_.use_count() == 1 && impl_->storage.use_count() == 1;
    }

    /// Returns whether both handles refer to the same tensor.
    bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

    /// Returns whether both tensors share one storage.
    bool shares_storage(const Tensor& other) const {
        return impl().storage == other.impl().storage;
    }

    /// Free the memory of this tensor and of all tensors that share it, and allocate it
    /// again, with unspecified contents; see Storage::free.
    void free_storage() const { impl().storage->free(); }
    void allocate_storage() const { impl().storage->allocate(); }

    /// Moves the elements of this tensor, and of all tensors that share its storage; see
    /// Storage::move_to.
    void move_storage(std::shared_ptr<std::byte> memory) const {
        impl().storage->move_to(std::move(memory));
    }
    size_t storage_bytes() const { return impl().storage->bytes(); }

    /// Returns whether free_storage() has freed the memory of the elements.
    bool is_freed() const {
        return impl().storage->data() == nullptr && impl().storage->bytes() > 0;
    }

    /// Increments the storage's version (see Storage). Every function that writes to an
    /// existing tensor calls bump_version().
    void bump_version() { impl().storage->bump_version(); }
    uint64_t version() const { return impl().storage->version(); }
    void set_version(uint64_t version) const { impl().storage->set_version(version); }

    // ---- autograd: members as in PyTorch, implemented in libmini/autograd

    /// Return views of the first dimension, by mini::select and mini::narrow: of an index,
    /// and of a slice: x[{1, 3}] is x[1:3]. Throw ShapeError if there is no such index.
    Tensor operator[](int64_t index) const;
    Tensor operator[](Slice slice) const;

    /// Returns whether this tensor requires a gradient: a leaf that requires grad, or a
    /// result computed from such a leaf.
    bool requires_grad() const;

    /// Sets whether this leaf requires a gradient. Throws Error if the tensor is not a
    /// leaf, ShapeError if `value` is true and the tensor is not float32.
    Tensor& set_requires_grad(bool value = true) &;
    Tensor set_requires_grad(bool value = true) && {
        return std::move(set_requires_grad(value));
    }

    /// Returns whether this tensor is a leaf: not the result of a recorded operation.
    bool is_leaf() const;

    /// Returns the accumulated gradient of a leaf; an undefined tensor before a backward
    /// pass reaches the leaf.
    const Tensor& grad() const;

    /// Sets grad(); an undefined `grad` clears it. Throws ShapeError unless `grad` has this
    /// tensor's shape and dtype.
    void set_grad(const Tensor& grad);

    /// Returns a view of this tensor that is not part of the autograd graph.
    Tensor detach() const;

    /// Adds dL/dx to the grad() of every leaf x that requires grad and on which this
    /// tensor L depends (`Tensor.backward`). Blocks until the pass is complete; on a GPU,
    /// until all its kernels are enqueued. Throws Error if this tensor does not require
    /// grad, if its graph was freed, or if a saved value was changed in place. Throws
    /// ShapeError if no gradient is passed and this tensor has more than one element, or if
    /// the gradient has another shape or dtype.
    void backward() const;
    void backward(const BackwardOptions& options) const;

    /// Returns whether this tensor is a parameter (`isinstance(x, nn.Parameter)`): a module
    /// has registered it. Views and copies of a parameter are not parameters.
    bool is_parameter() const { return impl().is_parameter; }
    void set_is_parameter() const { impl().is_parameter = true; }

    /// Returns the autograd state of this tensor; null if the tensor has no such state.
    AutogradMeta* autograd_meta() const { return impl().autograd.get(); }
    void set_autograd_meta(std::shared_ptr<AutogradMeta> meta) const {
        impl().autograd = std::move(meta);
    }

    /// Returns an address that is the same for all handles to this tensor, and different
    /// for every other existing tensor.
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
        bool is_parameter = false;
        std::shared_ptr<AutogradMeta> autograd;
    };

    explicit Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

    // Throws Error if the tensor is undefined.
    Impl& impl() const {
        if (impl_ == nullptr) throw_undefined();
        return *impl_;
    }
    [[noreturn]] static void throw_undefined();
    static Tensor full_of_integer(Shape shape, int64_t value, DType dtype, Device device);
    void check_dtype(DType wanted) const;
    void check_contiguous() const;
    void check_span() const;

    std::shared_ptr<Impl> impl_;

    friend class WeakTensor;
};

/// An ordered list of names and tensors.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Returns a copy of `values` on the CPU, independent of the default device. Ranks
/// exchange small data in such tensors.
template <Element T>
Tensor cpu_tensor(const std::vector<T>& values) {
    return Tensor::from(values, {static_cast<int64_t>(values.size())}, Device::cpu());
}

struct BackwardOptions {
    Tensor gradient;            // dL/d(this tensor); if undefined, 1 for a scalar
    bool retain_graph = false;  // keep the graph for another backward pass
};

/// A handle that does not keep its tensor alive. AccumulateGrad has one to its leaf.
class WeakTensor {
  public:
    WeakTensor() = default;
    explicit WeakTensor(const Tensor& tensor) : impl_(tensor.impl_) {}

    /// Returns the tensor, or an undefined tensor if the tensor no longer exists.
    Tensor lock() const { return Tensor(impl_.lock()); }

  private:
    std::weak_ptr<Tensor::Impl> impl_;
};

template <std::integral T>
Tensor Tensor::full(Shape shape, T value, DType dtype, Device device) {
    if (std::in_range<int64_t>(value))
        return full_of_integer(std::move(shape), static_cast<int64_t>(value), dtype,
                               device);
    return full(std::move(shape), static_cast<double>(value), dtype, device);
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
