// The skeletons of the embedded digits: how each digit is written, stroke by stroke.
//
//     0,0 -> x      A stroke is a list of knots that the pen passes on a smooth curve.
//      |            A knot given twice is a corner: one curve ends there, another begins.
//      v            Every digit has several skeletons, as there are several ways to
//      y    1,1     write it.

#pragma once

#include <vector>

namespace mini::data {

struct Point {
    float x = 0;
    float y = 0;

    bool operator==(const Point&) const = default;
};

using Stroke = std::vector<Point>;
using Skeleton = std::vector<Stroke>;

/// The skeletons of `digit`, 0 to 9, in the unit square.
const std::vector<Skeleton>& skeletons(int digit);

}  // namespace mini::data
