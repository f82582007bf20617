// Found in place of CUDA's own header where the simulator stands in for a GPU.

#pragma once

#include "libmini/kernels/cuda/sim/api.hpp"
#include "libmini/kernels/cuda/sim/language.hpp"
