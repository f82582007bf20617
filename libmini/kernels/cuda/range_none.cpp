#include "libmini/kernels/cuda/range.hpp"

namespace mini::cuda {

Range::Range(const char*) {}
Range::~Range() = default;

}  // namespace mini::cuda
