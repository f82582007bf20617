// Products of small matrices by a warp, on the simulator. CUDA has no header of this name: a GPU
// does this by PTX instructions, see libmini/kernels/cuda/tensor_core.hpp.

#pragma once

#include "libmini/extras/cudasim/warp_matrix.hpp"
