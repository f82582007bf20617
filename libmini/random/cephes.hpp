// log, sin and cos of floats, bitwise identical to PyTorch's AVX2 code: Stephen Moshier's
// polynomials (Cephes), evaluated with fused multiply-add. The results differ from the C
// library's by up to 3 units in the last place.
//
// Reference: ATen/native/cpu/avx_mathfun.h, with the fused multiply-adds that GCC
// generates.

#pragma once

namespace mini {

/// Returns log(x). REQUIRES: x is a normal float in (0, 1].
float cephes_log(float x);

/// The sine and the cosine of one angle.
struct SinCos {
    float sin;
    float cos;
};

/// Returns sin(x) and cos(x). REQUIRES: x is in [0, 8192].
SinCos cephes_sincos(float x);

}  // namespace mini
