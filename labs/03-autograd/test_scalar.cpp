// The checks of lab 03, task 03.1: autograd on single numbers.

#include <cmath>
#include <memory>

#include "labs/03-autograd/scalar.hpp"
#include "labs/check/both_values.hpp"
#include "tests/support/catch.hpp"

using mini::lab03::Scalar;
using mini::labs::about;

namespace {

constexpr double kTolerance =
    1e-12;  // values are near 1: some 10,000 roundings of doubles

}  // namespace

TEST_CASE("numbers: each operation has its value", "[lab03][lab03.1]") {
    const Scalar a = 2, b = 5;
    CHECK(a.value() == 2);
    CHECK((a + b).value() == 7);
    CHECK((a * b).value() == 10);
    CHECK(tanh(Scalar(0.5)).value() == about(std::tanh(0.5), kTolerance));
    CHECK((3 * a + b).value() == 11);
    INFO("before a backward pass a gradient is 0");
    CHECK(a.grad() == 0);
}

TEST_CASE("numbers: each operation has its slopes", "[lab03][lab03.1]") {
    {
        const Scalar a = 2, b = 5;
        (a + b).backward();
        INFO("L = a + b: dL/da = 1, dL/db = 1");
        CHECK(a.grad() == 1);
        CHECK(b.grad() == 1);
    }
    {
        const Scalar a = 2, b = 5;
        (a * b).backward();
        INFO("a = 2, b = 5, L = a b: dL/da = b, dL/db = a");
        CHECK(a.grad() == 5);
        CHECK(b.grad() == 2);
    }
    {
        const Scalar x = 0.5;
        tanh(x).backward();
        const double y = std::tanh(0.5);
        INFO("x = 0.5, y = tanh(x): dy/dx = 1 - y² = " << 1 - y * y << ", not "
                                                       << x.grad());
        CHECK(x.grad() == about(1 - y * y, kTolerance));
    }
}

TEST_CASE("numbers: gradients go down a chain", "[lab03][lab03.1]") {
    const Scalar w = 2;
    const Scalar a = 3 * w, b = 5 * a;
    b.backward();
    INFO("a = 3 w, b = 5 a: db/db = 1, db/da = 5, db/dw = 15");
    CHECK(b.grad() == 1);
    CHECK(a.grad() == 5);
    CHECK(w.grad() == 15);
}

TEST_CASE("numbers: a number with several uses gets the sum, and sends it once",
          "[lab03][lab03.1]") {
    const bool p_is_first = GENERATE(false, true);
    const Scalar w = 2;
    const Scalar p = 3 * w;
    const Scalar q = p * p;
    const Scalar loss = p_is_first ? p + q : q + p;
    loss.backward();
    INFO("w = 2, p = 3 w, q = p p, loss = "
         << (p_is_first ? "p + q" : "q + p")
         << ": p gets 1 + 6 + 6, and w three times that");
    CHECK(q.grad() == 1);
    CHECK(p.grad() == 13);
    CHECK(w.grad() == 39);
}

TEST_CASE("numbers: two edges from one user are two contributions", "[lab03][lab03.1]") {
    const bool square_is_first = GENERATE(false, true);
    const Scalar w = 2;
    const Scalar p = 3 * w;
    const Scalar square = p * p, five = 5 * p;
    (square_is_first ? square + five : five + square).backward();
    INFO(
        "p = 3 w = 6, loss = p p + 5 p: p has three edges from two users; the product is "
        << (square_is_first ? "first" : "second"));
    CHECK(p.grad() == 17);
    CHECK(w.grad() == 51);
}

TEST_CASE("numbers: the paths to a number may have different lengths",
          "[lab03][lab03.1]") {
    const bool short_is_first = GENERATE(false, true);
    const Scalar w = 1;
    const Scalar p = 2 * w;
    const Scalar longer = 10 * (10 * (10 * p));
    const Scalar loss = short_is_first ? p + longer : longer + p;
    loss.backward();
    INFO("p = 2 w, loss = 1000 p, by three products, plus p; p is the "
         << (short_is_first ? "first" : "second") << " operand of the sum");
    CHECK(p.grad() == 1001);
    CHECK(w.grad() == 2002);
}

TEST_CASE("numbers: a gradient of 0 is a contribution, too", "[lab03][lab03.1]") {
    const Scalar w = 2, z = 0, p = 3 * w;
    (p * z + w).backward();
    INFO("w = 2, z = 0, p = 3 w, loss = p z + w: p gets 0, w gets 0 from p and 1");
    CHECK(z.grad() == 6);
    CHECK(w.grad() == 1);
}

TEST_CASE("numbers: several passes add up", "[lab03][lab03.1]") {
    const Scalar w = 2;
    const Scalar p = 3 * w;
    const Scalar loss = p * p;
    loss.backward();
    CHECK(p.grad() == 12);
    CHECK(w.grad() == 36);
    loss.backward();
    INFO(
        "w = 2, p = 3 w, loss = p p, two passes from loss: each adds 12 to the gradient "
        "of");
    INFO("p, 36 to that of w; what the first pass added is not sent again");
    CHECK(loss.grad() == 2);
    CHECK(p.grad() == 24);
    CHECK(w.grad() == 72);
    const Scalar other = 5 * p;
    other.backward();
    INFO("then a pass from other = 5 p");
    CHECK(p.grad() == 29);
    CHECK(w.grad() == 87);
    CHECK(loss.grad() == 2);
}

TEST_CASE("numbers: only what a result was computed from gets a gradient",
          "[lab03][lab03.1]") {
    const Scalar a = 2, b = 3;
    const Scalar loss = a * a, user = loss * b;
    loss.backward();
    INFO("loss = a a, and user = loss b, which loss was not computed from");
    CHECK(a.grad() == 4);
    CHECK(b.grad() == 0);
    CHECK(user.grad() == 0);
}

TEST_CASE("numbers: a copy is the same number", "[lab03][lab03.1]") {
    const Scalar a = 3;
    const Scalar b = a;
    (a * b).backward();
    INFO("b is a copy of a = 3, L = a b: both handles show dL/da = 3 + 3");
    CHECK(a.grad() == 6);
    CHECK(b.grad() == 6);
    Scalar total = 0;
    for (const double factor : {1.0, 10.0, 100.0}) total = total + factor * a;
    total.backward();
    INFO("then total = 0, total = total + factor a for 1, 10, 100, in one variable");
    CHECK(a.grad() == 117);
}

TEST_CASE("numbers: a pass may start at a leaf", "[lab03][lab03.1]") {
    const Scalar a = 7;
    a.backward();
    CHECK(a.grad() == 1);
}

TEST_CASE("numbers: 2^40 paths take no longer than 40 operations", "[lab03][lab03.1]") {
    const Scalar w = 1;
    Scalar y = w;
    for (int i = 0; i < 40; ++i) y = y + y;
    y.backward();
    INFO("40 times y = y + y: dy/dw = 2^40, and there are as many paths from y to w");
    CHECK(w.grad() == std::ldexp(1.0, 40));
}

TEST_CASE("numbers: the derivative of a network agrees with a difference",
          "[lab03][lab03.1]") {
    const auto network = [](const Scalar& x, const Scalar& w, const Scalar& b) {
        const Scalar hidden = tanh(w * x + b);
        return tanh(w * hidden + b) * hidden + hidden;
    };
    const Scalar x = 0.3, w = -0.7, b = 0.2;
    network(x, w, b).backward();
    constexpr double h = 1e-5;
    const auto slope = [&](double up_w, double up_b) {
        return (network(x, w.value() + up_w, b.value() + up_b).value() -
                network(x, w.value() - up_w, b.value() - up_b).value()) /
               (2 * h);
    };
    INFO("hidden = tanh(w x + b), y = tanh(w hidden + b) hidden + hidden");
    CHECK(w.grad() == about(slope(h, 0), 1e-8));
    CHECK(b.grad() == about(slope(0, h), 1e-8));
}

TEST_CASE("numbers: a graph is freed with its last handle", "[lab03][lab03.1]") {
    std::weak_ptr<Scalar::Node> inner, outer;
    const Scalar w = 1;
    {
        Scalar y = 2 * w;
        inner = y.node;
        y = 3 * y;
        outer = y.node;
        y.backward();
        INFO("y = 3 (2 w): 3 (2 w) needs 2 w");
        CHECK_FALSE(inner.expired());
    }
    INFO("the handles to the results have left their scope; only w is still there");
    CHECK(outer.expired());
    CHECK(inner.expired());
    CHECK(w.grad() == 6);
}
