// Autograd on single numbers: the smallest program that computes gradients by itself.

#pragma once

#include <memory>

namespace mini::lab03 {

/// A number that knows how it was computed. Copies are handles to the same number.
///
///     const Scalar w = 2, p = 3 * w;
///     const Scalar loss = p * p + p;
///     loss.backward();   // p.grad() is 13, w.grad() is 39
class Scalar {
  public:
    /// Makes a number that was not computed from others, a leaf.
    Scalar(double value);

    double value() const;

    /// Returns the sum of what all backward passes have added; 0 before the first one.
    double grad() const;

    /// Adds d(this)/dx to x.grad() for each number x that this number was computed from,
    /// directly or not, and for x = this number; changes no other. The time is proportional
    /// to the number of operations. REQUIRES: no chain is longer than 1,000 operations.
    void backward() const;

    struct Node;                 // what a number remembers: you define it in scalar.cpp
    std::shared_ptr<Node> node;  // freed with the last handle, or result, that needs it
};

Scalar operator+(const Scalar& a, const Scalar& b);
Scalar operator*(const Scalar& a, const Scalar& b);
Scalar tanh(const Scalar& x);

}  // namespace mini::lab03
