// The skeletons of the embedded digits: the strokes of each digit.
//
//     0,0 -> x      A stroke is a smooth curve through a list of knots. At a repeated
//      |            knot, one curve ends and another begins, so the knot is a corner.
//      v            Each digit has several skeletons, for different handwritings.
//      y    1,1

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

/// Returns the skeletons of `digit`, 0 to 9, in the unit square.
const std::vector<Skeleton>& skeletons(int digit);

}  // namespace mini::data
