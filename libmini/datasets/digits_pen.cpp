#include "libmini/datasets/digits_pen.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "libmini/datasets/digits_strokes.hpp"

namespace mini::data {
namespace {

// The variation of the handwriting. Skeletons are in the unit square.
constexpr float kJitter = 0.020f;    // standard deviation of a knot's coordinates
constexpr float kWarp = 0.125f;      // standard deviation of the warp's displacements
constexpr float kTurn = 0.10f;       // standard deviation of the rotation angle's tangent
constexpr float kSlant = 0.18f;      // standard deviation of the slant: x per y
constexpr float kMeanSlant = 0.12f;  // most handwritings lean to the right
constexpr float kBox = 20.0f;        // maximum length of the longer side in pixels
constexpr float kThinnest = 0.80f;   // minimum radius of the pen in pixels
constexpr float kThickest = 1.80f;   // maximum radius of the pen in pixels
constexpr int kSteps = 5;            // straight pieces between two knots

// A straight piece of a stroke, in pixels, from p to q; its radius changes linearly from
// p_radius to q_radius.
struct Piece {
    Point p;
    Point q;
    float p_radius;
    float q_radius;
};

Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
Point operator*(float s, Point a) { return {s * a.x, s * a.y}; }

// A free-form deformation (Sederberg and Parry 1986): bends the whole digit smoothly by
// 4 x 4 random displacements, interpolated over the square by Bernstein polynomials.
class Warp {
  public:
    Warp(float deviation, SplitMix64& random) {
        for (Point& offset : grid_) {
            offset.x = random.normal(deviation);
            offset.y = random.normal(deviation);
        }
    }

    Point operator()(Point p) const {
        const std::array<float, 4> across = weights(p.x), down = weights(p.y);
        Point moved = p;
        for (size_t i = 0; i < 4; ++i)
            for (size_t j = 0; j < 4; ++j)
                moved = moved + down[i] * across[j] * grid_[4 * i + j];
        return moved;
    }

  private:
    static std::array<float, 4> weights(float coordinate) {
        const float t = std::clamp(coordinate, 0.0f, 1.0f), s = 1 - t;
        return {s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t};
    }

    std::array<Point, 16> grid_;
};

// Displaces every knot randomly; the two knots of a corner stay equal.
Stroke jitter(const Stroke& stroke, float deviation, SplitMix64& random) {
    Stroke moved;
    moved.reserve(stroke.size());
    for (size_t i = 0; i < stroke.size(); ++i) {
        const bool is_corner = i > 0 && stroke[i] == stroke[i - 1];
        if (is_corner)
            moved.push_back(moved.back());
        else
            moved.push_back(stroke[i] +
                            Point{random.normal(deviation), random.normal(deviation)});
    }
    return moved;
}

// Returns points on a Catmull-Rom spline through the knots. If a knot's neighbour is
// missing or repeated, the curve ends at this knot; so repeated knots become corners.
std::vector<Point> curve(const Stroke& knots) {
    std::vector<Point> points;
    points.reserve(knots.size() * kSteps);
    const size_t last = knots.size() - 1;
    for (size_t i = 0; i < last; ++i) {
        const Point a = knots[i], b = knots[i + 1];
        if (a == b) continue;
        const Point before = i > 0 && knots[i - 1] != a ? knots[i - 1] : a;
        const Point after = i + 1 < last && knots[i + 2] != b ? knots[i + 2] : b;
        const Point leave = 0.5f * (b - before), arrive = 0.5f * (after - a);

        // Hermite form: the end points a and b, and the tangents at both.
        for (int step = 0; step < kSteps; ++step) {
            const float t = static_cast<float>(step) / kSteps, s = 1 - t;
            points.push_back(s * s * (1 + 2 * t) * a + t * t * (1 + 2 * s) * b +
                             t * s * s * leave - t * t * s * arrive);
        }
    }
    points.push_back(knots[last]);
    return points;
}

// Stretches, slants and rotates a point.
struct Affine {
    float stretch, slant, turn;

    Point operator()(Point p) const {
        const Point leaned = {stretch * p.x - slant * p.y, p.y};
        return {leaned.x - turn * leaned.y, leaned.y + turn * leaned.x};
    }
};

// Returns the strokes of the digit in one random handwriting, in the units of the
// skeleton.
std::vector<std::vector<Point>> write(int digit, SplitMix64& random) {
    const std::vector<Skeleton>& choices = skeletons(digit);
    const Skeleton& skeleton =
        choices[static_cast<size_t>(random.choose(static_cast<int>(choices.size())))];

    // Most digits vary a little; a few vary strongly.
    const float u = random.uniform(0, 1);
    const float wildness = 0.6f + 0.7f * u + 0.7f * u * u * u * u * u * u;
    const Warp warp(wildness * kWarp, random);
    const Affine affine = {.stretch = random.uniform(0.72f, 1.22f),
                           .slant = kMeanSlant + random.normal(kSlant),
                           .turn = random.normal(kTurn)};

    std::vector<std::vector<Point>> strokes;
    for (const Stroke& stroke : skeleton) {
        strokes.push_back(curve(jitter(stroke, wildness * kJitter, random)));
        for (Point& p : strokes.back()) p = affine(warp(p));
    }
    return strokes;
}

// Scales the strokes so that the longer side of their bounding box is `box` pixels long,
// and moves their centre of mass to the middle of the picture.
void fit(std::vector<std::vector<Point>>& strokes, float box) {
    Point low = strokes[0][0], high = low, moment;
    float mass = 0;
    for (const std::vector<Point>& stroke : strokes)
        for (size_t i = 0; i < stroke.size(); ++i) {
            low = {std::min(low.x, stroke[i].x), std::min(low.y, stroke[i].y)};
            high = {std::max(high.x, stroke[i].x), std::max(high.y, stroke[i].y)};
            if (i == 0) continue;
            const Point step = stroke[i] - stroke[i - 1];
            const float length = std::sqrt(step.x * step.x + step.y * step.y);
            moment = moment + 0.5f * length * (stroke[i] + stroke[i - 1]);
            mass += length;
        }

    const float scale = box / std::max(high.x - low.x, high.y - low.y);
    const Point centre = 1 / mass * moment;
    const Point middle = {0.5f * (kDigitSide - 1), 0.5f * (kDigitSide - 1)};
    for (std::vector<Point>& stroke : strokes)
        for (Point& p : stroke) p = middle + scale * (p - centre);
}

// Splits the strokes into pieces, with a radius that changes along each stroke.
std::vector<Piece> ink(const std::vector<std::vector<Point>>& strokes, float radius,
                       SplitMix64& random) {
    std::vector<Piece> pieces;
    pieces.reserve(128);
    for (const std::vector<Point>& stroke : strokes) {
        const float begin = random.normal(0.14f), middle = random.normal(0.10f),
                    end = random.normal(0.14f);
        const auto radius_at = [&](size_t i) {
            const float t = static_cast<float>(i) / static_cast<float>(stroke.size() - 1);
            const float s = 1 - t;
            return radius * (1 + s * s * begin + 2 * s * t * middle + t * t * end);
        };
        for (size_t i = 0; i + 1 < stroke.size(); ++i)
            pieces.push_back({stroke[i], stroke[i + 1], radius_at(i), radius_at(i + 1)});
    }
    return pieces;
}

using Coverage = std::array<float, kDigitSide * kDigitSide>;

// Blackens the pixels within the radius of a piece, with an edge of `softness` pixels.
void blacken(Coverage& coverage, const Piece& piece, float softness) {
    const Point along = piece.q - piece.p;
    const float squared = along.x * along.x + along.y * along.y;
    const float inverse = squared > 0 ? 1 / squared : 0.0f;
    const float sharpness = 1 / softness;

    // Visit the pixels that the piece can reach.
    const float reach = std::max(piece.p_radius, piece.q_radius) + softness;
    const auto clip = [](float v) {
        return std::clamp(static_cast<int>(v), 0, kDigitSide - 1);
    };
    const int left = clip(std::min(piece.p.x, piece.q.x) - reach);
    const int right = clip(std::max(piece.p.x, piece.q.x) + reach + 1);
    const int top = clip(std::min(piece.p.y, piece.q.y) - reach);
    const int bottom = clip(std::max(piece.p.y, piece.q.y) + reach + 1);

    for (int y = top; y <= bottom; ++y)
        for (int x = left; x <= right; ++x) {
            const Point to =
                Point{static_cast<float>(x), static_cast<float>(y)} - piece.p;
            const float t =
                std::clamp((to.x * along.x + to.y * along.y) * inverse, 0.0f, 1.0f);
            const Point off = to - t * along;
            const float distance = std::sqrt(off.x * off.x + off.y * off.y);
            const float radius = piece.p_radius + t * (piece.q_radius - piece.p_radius);
            float& pixel = coverage[static_cast<size_t>(y * kDigitSide + x)];
            pixel = std::max(pixel, (radius - distance) * sharpness + 0.5f);
        }
}

}  // namespace

uint64_t SplitMix64::next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

float SplitMix64::uniform(float from, float to) {
    const float unit = static_cast<float>(next() >> 40) * 0x1p-24f;
    return from + (to - from) * unit;
}

float SplitMix64::normal(float deviation) {
    // The sum of four uniform 16-bit numbers, scaled to variance 1.
    const uint64_t word = next();
    float sum = 0;
    for (int shift = 0; shift < 64; shift += 16)
        sum += static_cast<float>(word >> shift & 0xffff) * 0x1p-16f - 0.5f;
    return deviation * 1.7320508f * sum;
}

int SplitMix64::choose(int count) {
    return static_cast<int>(next() % static_cast<uint64_t>(count));
}

void draw_digit(std::span<uint8_t> pixels, int digit, SplitMix64& random) {
    // Write the digit, and move it to the centre.
    std::vector<std::vector<Point>> strokes = write(digit, random);
    const float radius = random.uniform(kThinnest, kThickest);
    fit(strokes, kBox * random.uniform(0.92f, 1.0f) - 2 * radius);

    // Ink the strokes.
    Coverage coverage{};
    const float softness = random.uniform(0.9f, 1.6f);
    for (const Piece& piece : ink(strokes, radius, random))
        blacken(coverage, piece, softness);

    // Imitate a scan: scale the brightness, which saturates as in MNIST, and add noise.
    const float gain = random.uniform(0.92f, 1.30f), grain = random.uniform(0.02f, 0.18f);
    for (size_t i = 0; i < coverage.size(); ++i) {
        if (coverage[i] <= 0) continue;
        const float ink =
            std::min(coverage[i], 1.0f) * gain * (1 - random.uniform(0, grain));
        pixels[i] = static_cast<uint8_t>(255 * std::min(ink, 1.0f) + 0.5f);
    }
}

}  // namespace mini::data
