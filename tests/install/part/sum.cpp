#include <iostream>

#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/tensor.hpp"

int main() {
    const mini::Tensor x = mini::Tensor::full({2, 3}, 7.0, mini::DType::kFloat32);
    std::cout << "sum " << mini::ops::sum(x).item() << '\n';
}
