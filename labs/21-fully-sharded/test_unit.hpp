// Helpers for the checks of tasks 21.1 to 21.3: a unit, and the memory that it takes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "labs/21-fully-sharded/test_support.hpp"
#include "libmini/tensor/buffer_cache.hpp"

namespace mini::lab21 {

using parallel::Unit;

// The elements of four parameters: 12, 1, 7 and 40.
inline const std::vector<Shape> kShapes{{3, 4}, {1}, {7}, {2, 4, 5}};

// Returns the parameters with the values 1, 2, ... 60; on another rank than 0 each is 1000
// times as large.
inline std::vector<Tensor> make_parameters(int rank) {
    std::vector<Tensor> parameters;
    float next = 1;
    for (const Shape& shape : kShapes) {
        Values values;
        for (int64_t i = 0; i < element_count(shape); ++i)
            values.push_back(rank == 0 ? next++ : 1000 * next++);
        parameters.push_back(Tensor::from(values, shape).set_requires_grad());
    }
    return parameters;
}

inline Unit make_unit(const std::vector<Tensor>& parameters,
                      const std::shared_ptr<dist::ProcessGroup>& group) {
    Unit unit{.name = "a", .module = nullptr, .group = group, .index = 3};
    for (const Tensor& each : parameters)
        unit.parameters.emplace_back(concat("p", unit.parameters.size()), each);
    return unit;
}

inline int64_t allocated() { return static_cast<int64_t>(allocated_bytes()); }

// Calls `body` with a unit of five parameters of 1000 elements, on rank 0 of 5.
inline void with_large_unit(const std::function<void(Unit& unit)>& body) {
    labs::run_ranks(1, [&](dist::ProcessGroup& alone) {
        std::vector<Tensor> parameters;
        for (int i = 0; i < 5; ++i)
            parameters.push_back(Tensor::ones({1000}).set_requires_grad());
        Unit unit = make_unit(parameters, std::make_shared<FiveInOne>(alone));
        parameters.clear();
        body(unit);
    });
}

}  // namespace mini::lab21
