// MPI's own all-reduce, for compare.py: `mpirun -n 2 mpi_all_reduce BYTES SECONDS`.
//
// Like torch_worker.py: a rank on a core of its own, batches that begin with a barrier, and
// the median of the batches. Rank 0 prints it as a line of JSON.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kBatches = 9;

// Returns the microseconds of one of `repeats` all-reduces, on the slowest rank.
double measure(std::vector<float>& data, int repeats) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < repeats; ++i)
        MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_FLOAT,
                      MPI_SUM, MPI_COMM_WORLD);
    double us = (MPI_Wtime() - start) / repeats * 1e6;
    MPI_Allreduce(MPI_IN_PLACE, &us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return us;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    std::vector<float> data(std::strtoull(argv[1], nullptr, 10) / sizeof(float));
    const double batch = std::strtod(argv[2], nullptr) / kBatches * 1e6;
    measure(data, 3);  // warm-up
    const int repeats = static_cast<int>(std::clamp(batch / measure(data, 5), 1.0, 2e4));
    std::vector<double> times;
    for (int i = 0; i < kBatches; ++i) times.push_back(measure(data, repeats));
    std::sort(times.begin(), times.end());
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("{\"us\": %f}\n", times[kBatches / 2]);
    return MPI_Finalize();
}
