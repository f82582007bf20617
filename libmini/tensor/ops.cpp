#include "libmini/tensor/ops.hpp"

#include <algorithm>

#include "libmini/tensor/autograd_meta.hpp"
#include "libmini/tensor/common_device.hpp"
#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/overlap.hpp"

namespace mini::ops {
namespace {

using kernels::BinaryOp;
using kernels::UnaryOp;

// Returns x itself if it has this shape, otherwise a view with this shape.
Tensor widened(const Tensor& x, const Shape& shape) {
    return x.shape() == shape ? x : expand(x, shape);
}

Tensor binary(const char* name, BinaryOp op, const Tensor& a, const Tensor& b) {
    check_shape(a.dtype() == DType::kFloat32 && b.dtype() == DType::kFloat32, name,
                ": needs float32, but the operands are ", a.dtype(), " and ", b.dtype());
    const Shape shape =
        a.shape() == b.shape() ? a.shape() : broadcast_shapes(a.shape(), b.shape());
    const Device device = common_device(name, a, b);
    Tensor out = a.new_empty(shape);
    const Tensor wide_a = widened(a, shape);
    const Tensor wide_b = widened(b, shape);
    run<cpu::binary, gpu::binary>(device, op, out.data<float>(), wide_a.data<float>(),
                                  wide_b.data<float>(), shape, wide_a.strides(),
                                  wide_b.strides());
    return out;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
    return binary("add", BinaryOp::kAdd, a, b);
}
Tensor sub(const Tensor& a, const Tensor& b) {
    return binary("sub", BinaryOp::kSub, a, b);
}
Tensor mul(const Tensor& a, const Tensor& b) {
    return binary("mul", BinaryOp::kMul, a, b);
}
Tensor div(const Tensor& a, const Tensor& b) {
    return binary("div", BinaryOp::kDiv, a, b);
}

Tensor unary(UnaryOp op, const Tensor& x) {
    const Tensor in = contiguous(x);
    Tensor out = x.new_empty(x.shape());
    run<cpu::unary, gpu::unary>(x.device(), op, out.data<float>(), in.data<float>(),
                                x.numel());
    return out;
}

Tensor relu_backward(const Tensor& g, const Tensor& y) {
    check_shape(g.shape() == y.shape(), "relu: the gradient is ", g.shape(),
                " but the result is ", y.shape());
    const Tensor in = contiguous(g);
    const Tensor result = contiguous(y);
    Tensor out = g.new_empty(g.shape());
    run<cpu::relu_backward, gpu::relu_backward>(common_device("relu", g, y),
                                                out.data<float>(), in.data<float>(),
                                                result.data<float>(), g.numel());
    return out;
}

void add_(Tensor& x, const Tensor& y, float alpha) {
    check_shape(x.shape() == y.shape(), "add_: ", x.shape(), " += ", y.shape());
    check_not_recorded("add_", x, y, "mini::add");
    check_no_partial_overlap("add_", x, y);
    run<cpu::axpy, gpu::axpy>(common_device("add_", x, y), x.contiguous_data<float>(),
                              y.contiguous_data<float>(), alpha, x.numel());
    x.bump_version();
}

void mul_(Tensor& x, float alpha) {
    check_not_recorded("mul_", x, {}, "mini::mul");
    run<cpu::scale, gpu::scale>(x.device(), x.contiguous_data<float>(), alpha, x.numel());
    x.bump_version();
}

void fill_(Tensor& x, float value) {
    check_not_recorded("fill_", x, {}, "Tensor::full");
    run<cpu::fill, gpu::fill>(x.device(), x.contiguous_data<float>(), value, x.numel());
    x.bump_version();
}

void increment_(Tensor& x) {
    int64_t* const values = x.contiguous_data<int64_t>();
    if (x.device().is_cpu()) {
        for (int64_t i = 0; i < x.numel(); ++i) ++values[i];
    } else {
        on_gpu(x.device(),
               [&](cudaStream_t stream) { gpu::increment(values, x.numel(), stream); });
    }
    x.bump_version();
}

void copy_(Tensor& x, const Tensor& y, bool non_blocking) {
    check_shape(x.shape() == y.shape() && x.dtype() == y.dtype(), "copy_: ", x.dtype(),
                " ", x.shape(), " cannot hold ", y.dtype(), " ", y.shape());
    check_not_recorded("copy_", x, y, "the source itself");
    if (x.numel() == 0) return;
    check_no_internal_overlap("copy_", x);
    const Overlap overlap = check_no_partial_overlap("copy_", x, y);
    if (overlap == Overlap::kSame) return x.bump_version();
    const Tensor from = overlap == Overlap::kNone ? contiguous(y) : clone(y);
    if (x.is_contiguous() && x.device() != y.device()) {
        copy_bytes(x.raw_data(), x.device(), from.raw_data(), from.device(), x.bytes(),
                   non_blocking);
    } else {
        // On the CPU, copy_to_strided reads its input at once: the copy must not be
        // pending.
        const Tensor in = from.to(x.device(), non_blocking && x.device().is_cuda());
        run<cpu::copy_to_strided, gpu::copy_to_strided>(
            x.device(), x.raw_data(), in.raw_data(), x.shape(), x.strides(),
            static_cast<int64_t>(item_size(x.dtype())));
    }
    x.bump_version();
}

Tensor contiguous(const Tensor& x) { return x.is_contiguous() ? x : clone(x); }

Tensor clone(const Tensor& x) {
    Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
    if (x.numel() > 0)
        run<cpu::copy_strided, gpu::copy_strided>(
            x.device(), out.raw_data(), x.raw_data(), x.shape(), x.strides(),
            static_cast<int64_t>(item_size(x.dtype())));
    return out;
}

Tensor to(const Tensor& x, DType dtype) {
    const Tensor in = contiguous(x);
    Tensor out = Tensor::empty(x.shape(), dtype, x.device());
    if (x.device().is_cuda()) {
        on_gpu(x.device(), [&](cudaStream_t stream) {
            gpu::convert(out.raw_data(), in.raw_data(), x.numel(), dtype, x.dtype(),
                         stream);
        });
        return out;
    }
    with_element(dtype, [&]<Element To>(To) {
        with_element(x.dtype(), [&]<Element From>(From) {
            std::ranges::transform(in.span<From>(), out.data<To>(),
                                   convert_element<To, From>);
        });
    });
    return out;
}

bool equal(const Tensor& a, const Tensor& b) {
    if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
    bool equals = false;
    with_element(a.dtype(), [&]<Element T>(T) {
        const auto as_number = [](T value) { return static_cast<OpMath<T>>(value); };
        equals = std::ranges::equal(a.to_vector<T>(), b.to_vector<T>(), {}, as_number,
                                    as_number);
    });
    return equals;
}

}  // namespace mini::ops

namespace mini {

Tensor Tensor::to(Device device, bool non_blocking) const {
    if (device == this->device()) return *this;
    const Tensor in = ops::contiguous(*this);
    const bool to_pinned = non_blocking && in.device().is_cuda() && device.is_cpu();
    Tensor out = make(shape(), dtype(), device,
                      to_pinned ? HostMemory::kPinned : HostMemory::kPageable);
    copy_bytes(out.raw_data(), device, in.raw_data(), in.device(), in.bytes(),
               non_blocking);
    return out;
}

Tensor Tensor::pin_memory() const {
    MINI_CHECK(device().is_cpu(), "pin_memory: the tensor is on ", device(),
               "; only CPU memory can be pinned");
    if (is_pinned()) return *this;
    Tensor out = make(shape(), dtype(), device(), HostMemory::kPinned);
    ops::copy_(out, as_strided(shape(), strides(), offset()));  // not recorded
    return out;
}

}  // namespace mini
