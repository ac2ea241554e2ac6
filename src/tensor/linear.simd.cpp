// Products of weight matrices with the features of some lane groups.
#include "lanes.hpp"
#include "shuffles.hpp"
#include "table.hpp"

namespace wasp::SIMD {

namespace {

constexpr bool wide = registers == 32;

// Largest blocks: their sums and the vectors that meet them must fit into the registers.
constexpr int multiply_rows = wide ? 6 : 3, multiply_groups = 4;
constexpr int gradient_rows = wide ? 6 : 3, gradient_vectors = 4;

/// Rows [row, row + Rows) of y, groups [group, group + Groups).
template <int Rows, int Groups>
NOINLINE void multiply_block(const MatrixView& matrix, const float* bias, const Features& x,
                             const Features& y, int row, int group) {
    Vector sum[Rows][Groups];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
        for (int g = 0; g < Groups; ++g)
            sum[r][g] = (bias == nullptr ? 0.0F : bias[row + r]) - Vector{};
    const float* weights = matrix.data + row * matrix.row_step;
    const Vector* features = vectors(x.data + group * x.group_step);
    const std::ptrdiff_t x_step = x.group_step / lanes, y_step = y.group_step / lanes;
    for (int k = 0; k < matrix.columns; ++k, ++features, weights += matrix.column_step)
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r) {
            const float weight = weights[r * matrix.row_step];
#pragma GCC unroll 8
            for (int g = 0; g < Groups; ++g) sum[r][g] += weight * features[g * x_step];
        }
    Vector* to = vectors(y.data + group * y.group_step) + row;
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
        for (int g = 0; g < Groups; ++g) to[g * y_step + r] = sum[r][g];
}

/// rows (groups·lanes, padded inputs): x with the images as rows, so that vectors run along the
/// weights' inputs. The last vector of a row is filled with zeros.
void images_as_rows(const Features& x, float* rows) {
    const int vectors_per_row = (x.count + lanes - 1) / lanes;
    for (int group = 0; group < x.groups; ++group)
        for (int i = 0; i < vectors_per_row; ++i) {
            const Vector* from = vectors(x.data + group * x.group_step) + i * lanes;
            Vector square[lanes] = {};
            const int features = smaller(lanes, x.count - i * lanes);
            for (int f = 0; f < features; ++f) square[f] = from[f];
            transpose<lanes, lanes>(square);
            for (int image = 0; image < lanes; ++image)
                vectors(rows)[(group * lanes + image) * vectors_per_row + i] = square[image];
        }
}

/// Weights of outputs [output, output + Rows) and inputs from vector `column` on, Columns vectors;
/// `inputs` of them exist.
template <int Rows, int Columns>
NOINLINE void outer_products(const Features& dy, const Vector* rows, int vectors_per_row,
                             int output, int column, int inputs, bool add, float* weights) {
    Vector sum[Rows][Columns] = {};
    const Vector* x = rows + column;
    for (int group = 0; group < dy.groups; ++group) {
        const float* d = dy.data + group * dy.group_step + output * lanes;
        for (int image = 0; image < lanes; ++image, ++d, x += vectors_per_row)
#pragma GCC unroll 8
            for (int r = 0; r < Rows; ++r) {
                const float gradient = d[r * lanes];
#pragma GCC unroll 8
                for (int j = 0; j < Columns; ++j) sum[r][j] += gradient * x[j];
            }
    }
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
        for (int j = 0; j < Columns; ++j) {
            const int first = (column + j) * lanes;
            float* to = weights + static_cast<std::ptrdiff_t>(output + r) * inputs + first;
            if (first + lanes <= inputs) {
                auto* vector = reinterpret_cast<UnalignedVector*>(to);
                *vector = add ? *vector + sum[r][j] : sum[r][j];
            } else {
                for (int i = 0; first + i < inputs; ++i)
                    to[i] = add ? to[i] + sum[r][j][i] : sum[r][j][i];
            }
        }
}

void bias_gradient(const Features& dy, bool add, float* bias) {
    for (int first = 0; first < dy.count; first += lanes) {
        const int outputs = smaller(lanes, dy.count - first);
        Vector sums[lanes] = {};
        for (int group = 0; group < dy.groups; ++group)
            for (int i = 0; i < outputs; ++i)
                sums[i] += vectors(dy.data + group * dy.group_step)[first + i];
        float totals[lanes];
        sum_lanes(sums, outputs, totals);
        for (int i = 0; i < outputs; ++i) bias[first + i] = totals[i] + (add ? bias[first + i] : 0);
    }
}

}  // namespace

void multiply(const MatrixView& matrix, const float* bias, const Features& x, const Features& y) {
    for_each_block<multiply_groups>(x.groups, [&](int group, auto groups) {
        for_each_block<multiply_rows>(matrix.rows, [&](int row, auto rows) {
            multiply_block<rows.value, groups.value>(matrix, bias, x, y, row, group);
        });
    });
}

void linear_weight_gradient(const Features& x, const Features& dy, bool add, float* weights,
                            float* bias, float* scratch) {
    images_as_rows(x, scratch);
    const int vectors_per_row = (x.count + lanes - 1) / lanes;
    for_each_block<gradient_vectors>(vectors_per_row, [&](int column, auto columns) {
        for_each_block<gradient_rows>(dy.count, [&](int output, auto rows) {
            outer_products<rows.value, columns.value>(dy, vectors(scratch), vectors_per_row, output,
                                                      column, x.count, add, weights);
        });
    });
    bias_gradient(dy, add, bias);
}

}  // namespace wasp::SIMD
