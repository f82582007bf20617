// log, sin and cos of floats as PyTorch's AVX2 code computes them, bit for bit: Stephen
// Moshier's polynomials (Cephes), each product that is added to a number rounded with the
// sum, once. They differ from the C library's by up to 3 units in the last place.
//
// Reference: ATen/native/cpu/avx_mathfun.h, as GCC fuses its multiplications.

#pragma once

namespace mini {

/// log(x) for x in (0, 1], normal floats only.
float cephes_log(float x);

/// Of one angle.
struct SinCos {
    float sin;
    float cos;
};

/// sin(x) and cos(x) for x from 0 to 8192.
SinCos cephes_sincos(float x);

}  // namespace mini
