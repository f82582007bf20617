// Found in place of CUDA's own header where the simulator stands in for a GPU.

#pragma once

#include "libmini/cudasim/api.hpp"
#include "libmini/cudasim/language.hpp"
