// Weights between PyTorch's order (O,I,K,K) and blocks of lanes × lanes.
#include "channel_table.hpp"
#include "lanes.hpp"
#include "shuffles.hpp"

namespace wasp::SIMD {

namespace {

constexpr int square = lanes * lanes;

inline Vector load_row(const float* p) {
    return *reinterpret_cast<const UnalignedVector*>(p);
}
inline void store_row(Vector v, float* p) {
    *reinterpret_cast<UnalignedVector*>(p) = v;
}

/// rows[r] = matrix[r][0 … lanes) → transposed.
inline void load_transposed(const float* matrix, std::ptrdiff_t step, Vector (&rows)[lanes]) {
#pragma GCC unroll 16
    for (int r = 0; r < lanes; ++r) rows[r] = load_row(matrix + r * step);
    transpose<lanes, lanes>(rows);
}

/// Of a flat row of one output's weights, element c is input c / area at position c % area.
struct Column {
    int input = 0, position = 0;
    void advance(int area) {
        if (++position == area) {
            position = 0;
            ++input;
        }
    }
};

/// One block, for all positions, with outputs as neighbours.   flat: its first weight
NOINLINE void pack_outputs_inside(const float* flat, std::ptrdiff_t step, int area, float* packed) {
    Column column;
    for (int first = 0; first < lanes * area; first += lanes) {
        Vector rows[lanes];
        load_transposed(flat + first, step, rows);
        for (const Vector& row : rows) {
            store_row(row, packed + column.position * square + column.input * lanes);
            column.advance(area);
        }
    }
}

NOINLINE void unpack_outputs_inside(const float* packed, int area, float* flat,
                                    std::ptrdiff_t step) {
    Column column;
    for (int first = 0; first < lanes * area; first += lanes) {
        Vector rows[lanes];
        for (Vector& row : rows) {
            row = load_row(packed + column.position * square + column.input * lanes);
            column.advance(area);
        }
        transpose<lanes, lanes>(rows);
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r) store_row(rows[r], flat + r * step + first);
    }
}

/// Each square in place: inputs become the neighbours.
NOINLINE void transpose_squares(float* packed, int area) {
    for (int k = 0; k < area; ++k, packed += square) {
        Vector rows[lanes];
        load_transposed(packed, lanes, rows);
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r) store_row(rows[r], packed + r * lanes);
    }
}

}  // namespace

void pack_weights(const WeightBlocks& blocks, int output_block, const float* flat, float* packed) {
    const std::ptrdiff_t step = std::ptrdiff_t{blocks.inputs} * blocks.area;
    flat += output_block * lanes * step;
    packed += output_block * blocks.output_step;
    for (int i = 0; i < blocks.inputs / lanes; ++i) {
        const float* from = flat + std::ptrdiff_t{i} * lanes * blocks.area;
        float* to = packed + i * blocks.input_step;
        if (blocks.input_inside && blocks.area == 1) {
#pragma GCC unroll 16
            for (int r = 0; r < lanes; ++r) store_row(load_row(from + r * step), to + r * lanes);
            continue;
        }
        pack_outputs_inside(from, step, blocks.area, to);
        if (blocks.input_inside) transpose_squares(to, blocks.area);
    }
}

void unpack_weights(const WeightBlocks& blocks, int output_block, const float* packed,
                    float* flat) {
    const std::ptrdiff_t step = std::ptrdiff_t{blocks.inputs} * blocks.area;
    flat += output_block * lanes * step;
    packed += output_block * blocks.output_step;
    for (int i = 0; i < blocks.inputs / lanes; ++i)
        unpack_outputs_inside(packed + i * blocks.input_step, blocks.area,
                              flat + std::ptrdiff_t{i} * lanes * blocks.area, step);
}

}  // namespace wasp::SIMD
