// Replaces CUDA's own header in builds with the simulator.

#pragma once

#include "libmini/cudasim/api.hpp"
#include "libmini/cudasim/language.hpp"
