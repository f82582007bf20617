// Replaces CUDA's own header in builds with the simulator.

#pragma once

#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/language.hpp"
