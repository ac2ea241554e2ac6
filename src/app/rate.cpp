#include "rate.hpp"

namespace wasp {

double rate(Cluster& cluster, std::size_t floats, double seconds,
            const std::function<void()>& move) {
    move();
    cluster.barrier();
    const double start = cluster.seconds();
    double moves = 0;
    do {
        move();
        ++moves;
    } while (cluster.seconds() - start < seconds);
    double gigabytes_a_second =
        1e-9 * moves * static_cast<double>(floats * sizeof(float)) / (cluster.seconds() - start);
    cluster.sum({&gigabytes_a_second, 1});
    return gigabytes_a_second;
}

}  // namespace wasp
