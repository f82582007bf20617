#include "libmini/tensor/tensor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libmini/tensor/dispatch.hpp"

namespace mini {
namespace {

// Throws Error if `dtype` has no number for `value`, without its fraction if the dtype is
// an integer. Infinity and NaN are numbers of the floating point types.
void check_representable(double value, DType dtype) {
    constexpr double kMaxFloat = std::numeric_limits<float>::max();
    bool fits = !std::isfinite(value) || std::abs(value) <= kMaxFloat;
    if (dtype == DType::kInt64) fits = value >= -0x1p63 && value < 0x1p63;
    if (dtype == DType::kUInt8) fits = value >= 0 && value < 256;
    MINI_CHECK(fits, "full: the value ", value, " cannot be stored as ", dtype);
}

}  // namespace

Tensor Tensor::empty(Shape shape, DType dtype, Device device) {
    return make(std::move(shape), dtype, device, HostMemory::kPageable);
}

Tensor Tensor::empty_pinned(Shape shape, DType dtype) {
    return make(std::move(shape), dtype, Device::cpu(), HostMemory::kPinned);
}

Tensor Tensor::make(Shape shape, DType dtype, Device device, HostMemory memory) {
    const int64_t numel = element_count(shape);
    const int64_t bytes =
        checked_product(numel, static_cast<int64_t>(item_size(dtype)), shape);

    auto impl = std::make_shared<Impl>();
    impl->storage = std::make_shared<Storage>(static_cast<size_t>(bytes), device, memory);
    impl->strides = contiguous_strides(shape);
    impl->shape = std::move(shape);
    impl->numel = numel;
    impl->dtype = dtype;
    return Tensor(std::move(impl));
}

void Tensor::throw_undefined() {
    throw Error(
        "tensor: this tensor is undefined: a default Tensor, or a gradient that no "
        "backward pass has computed; check defined() first");
}

Tensor Tensor::full_of_integer(Shape shape, int64_t value, DType dtype, Device device) {
    constexpr auto kExact = int64_t{1} << std::numeric_limits<double>::digits;
    if (dtype != DType::kInt64 || (value >= -kExact && value <= kExact))
        return full(std::move(shape), static_cast<double>(value), dtype, device);
    Tensor x = empty(std::move(shape), dtype, Device::cpu());
    std::ranges::fill(x.span<int64_t>(), value);
    return x.to(device);
}

Tensor Tensor::full(Shape shape, double value, DType dtype, Device device) {
    check_representable(value, dtype);
    Tensor x = empty(std::move(shape), dtype, device);
    if (device.is_cuda()) {
        on_gpu(device, [&](cudaStream_t stream) {
            gpu::fill_elements(x.raw_data(), value, x.numel(), dtype, stream);
        });
        return x;
    }
    with_element(dtype, [&]<Element T>(T) {
        std::ranges::fill(x.span<T>(), convert_element<T>(value));
    });
    return x;
}

template <Element T>
Tensor Tensor::from(const std::vector<T>& values, Shape shape, Device device) {
    check_shape(element_count(shape) == static_cast<int64_t>(values.size()),
                "tensor: ", values.size(), " values do not fill the shape ", shape);
    Tensor x = empty(std::move(shape), dtype_of<T>(), device);
    copy_bytes(x.raw_data(), device, reinterpret_cast<const std::byte*>(values.data()),
               Device::cpu(), x.bytes());
    return x;
}

template Tensor Tensor::from(const std::vector<float>&, Shape, Device);
template Tensor Tensor::from(const std::vector<int64_t>&, Shape, Device);
template Tensor Tensor::from(const std::vector<uint8_t>&, Shape, Device);
template Tensor Tensor::from(const std::vector<Half>&, Shape, Device);
template Tensor Tensor::from(const std::vector<BFloat16>&, Shape, Device);

int64_t Tensor::size(int64_t d) const { return shape()[dimension("size", shape(), d)]; }

std::byte* Tensor::raw_data() const {
    std::byte* const data = impl().storage->data();
    const int64_t offset = impl().offset * static_cast<int64_t>(item_size(dtype()));
    MINI_CHECK(data != nullptr || !is_freed(),
               "tensor: the memory of this tensor of shape ", shape(),
               " is freed; a sharded parameter has values only while its unit computes");
    return data == nullptr ? nullptr : data + offset;
}

void Tensor::check_dtype(DType wanted) const {
    check_shape(dtype() == wanted, "tensor: asked for ", wanted,
                " elements, but the tensor is ", dtype(), "; convert it by ops::to");
}

void Tensor::check_contiguous() const {
    check_shape(is_contiguous(), "tensor: a tensor of shape ", shape(), " and strides ",
                strides(), " is not contiguous; call contiguous() first");
}

void Tensor::check_span() const {
    check_shape(device().is_cpu(), "span: the tensor is on ", device(),
                "; copy it with to(Device::cpu()) first");
    check_contiguous();
}

void Tensor::set_data(const Tensor& other) {
    check_dtype(other.dtype());
    impl().storage = other.impl().storage;
    impl().shape = other.shape();
    impl().strides = other.strides();
    impl().offset = other.offset();
    impl().numel = other.numel();
}

template <Element T>
T Tensor::item() const {
    check_shape(numel() == 1, "item: a tensor of shape ", shape(), " is not one number");
    if (device().is_cuda()) return to(Device::cpu()).item<T>();
    return *data<T>();
}

template float Tensor::item() const;
template int64_t Tensor::item() const;
template uint8_t Tensor::item() const;
template Half Tensor::item() const;
template BFloat16 Tensor::item() const;

double Tensor::item() const {
    double number = 0;
    with_element(dtype(),
                 [&]<Element T>(T) { number = convert_element<double>(item<T>()); });
    if (dtype() != DType::kInt64) return number;
    const auto value = item<int64_t>();
    MINI_CHECK(number < 0x1p63 && static_cast<int64_t>(number) == value, "item: ", value,
               " is not a double; call item<int64_t>()");
    return number;
}

template <Element T>
std::vector<T> Tensor::to_vector() const {
    if (device().is_cuda()) return to(Device::cpu()).to_vector<T>();
    std::vector<T> values(static_cast<size_t>(numel()));
    if (values.empty()) return values;
    cpu::copy_strided(reinterpret_cast<std::byte*>(values.data()),
                      reinterpret_cast<const std::byte*>(data<T>()), shape(), strides(),
                      sizeof(T));
    return values;
}

template std::vector<float> Tensor::to_vector() const;
template std::vector<int64_t> Tensor::to_vector() const;
template std::vector<uint8_t> Tensor::to_vector() const;
template std::vector<Half> Tensor::to_vector() const;
template std::vector<BFloat16> Tensor::to_vector() const;

Tensor Tensor::as_strided(Shape shape, Shape strides, int64_t offset) const {
    check_layout(shape, strides, offset,
                 static_cast<int64_t>(impl().storage->bytes() / item_size(dtype())));
    auto impl = std::make_shared<Impl>();
    // [lab01.2] Share the storage and the dtype; take the rest from the arguments.
    impl->storage = impl_->storage;
    impl->dtype = dtype();
    impl->offset = offset;
    impl->numel = element_count(shape);
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);
    // [lab01.2]
    return Tensor(std::move(impl));
}

}  // namespace mini
