// Convolutions of stride 1. Each kernel holds a block of results in registers (channels × columns,
// or channels × kernel columns) while it runs over everything that is summed into them; one weight,
// broadcast, meets vectors of neighbouring columns.
#include "table.hpp"

#include "lanes.hpp"
#include "shuffles.hpp"

namespace wasp::SIMD {

namespace {

constexpr bool wide = registers == 32;

/// The tensors of one convolution; distances in vectors (x, y) or floats (weights).
struct Layout {
    int inputs, outputs, kernel, padding, rows, columns;  // rows, columns: of y
    std::ptrdiff_t x_plane, x_row, y_plane, y_row;
    std::ptrdiff_t w_output, w_input;  // to the next output and input channel

    Layout(const Planes& x, const Planes& y, int kernel_, int padding_)
        : inputs(x.channels),
          outputs(y.channels),
          kernel(kernel_),
          padding(padding_),
          rows(y.height),
          columns(y.width),
          x_plane(x.plane / lanes),
          x_row(x.row / lanes),
          y_plane(y.plane / lanes),
          y_row(y.row / lanes),
          w_output(static_cast<std::ptrdiff_t>(x.channels) * kernel * kernel),
          w_input(static_cast<std::ptrdiff_t>(kernel) * kernel) {}

    /// x at row `row` and column `column` of the padded image.
    std::ptrdiff_t x_at(int channel, int row, int column) const {
        return channel * x_plane + (row - padding) * x_row + column - padding;
    }
};

// Largest blocks: with the vectors that meet them they must fit into the registers.
constexpr int forward_channels = wide ? 6 : 3, forward_columns = 4;
constexpr int input_channels = wide ? 3 : 2, input_columns = wide ? 4 : 2;
constexpr int weight_channels = wide ? 5 : 2, kernel_columns = 5;

/// y of Channels channels from `channel` on, columns [column, column + Columns), all rows.
template <int Channels, int Columns>
NOINLINE void convolve(const Layout at, const Vector* x, const float* weights, const float* bias,
                       int channel, int column, Vector* y) {
    weights += channel * at.w_output;
    bias += channel;
    x += at.x_at(0, 0, column);
    y += channel * at.y_plane + column;
    for (int row = 0; row < at.rows; ++row, x += at.x_row, y += at.y_row) {
        Vector sum[Channels][Columns];
#pragma GCC unroll 8
        for (int c = 0; c < Channels; ++c)
#pragma GCC unroll 8
            for (int j = 0; j < Columns; ++j) sum[c][j] = bias[c] - Vector{};
        const float* w = weights;
        for (int input = 0; input < at.inputs; ++input)
            for (int i = 0; i < at.kernel; ++i) {
                const Vector* line = x + input * at.x_plane + i * at.x_row;
                for (int k = 0; k < at.kernel; ++k, ++w, ++line)
#pragma GCC unroll 8
                    for (int c = 0; c < Channels; ++c) {
                        const float weight = w[c * at.w_output];
#pragma GCC unroll 8
                        for (int j = 0; j < Columns; ++j) sum[c][j] += weight * line[j];
                    }
            }
        Vector* to = y;
#pragma GCC unroll 8
        for (int c = 0; c < Channels; ++c, to += at.y_plane)
#pragma GCC unroll 8
            for (int j = 0; j < Columns; ++j) to[j] = sum[c][j];
    }
}

/// Adds to dx what columns [column, column + Columns) of dy contribute through kernel columns
/// [tap, tap + Taps). Scattering (each dy meets each tap once) instead of gathering dx from a dy
/// with a halo saves the products with the halo's zeros: 29 % of LeNet's second convolution.
template <int Channels, int Columns, int Taps>
NOINLINE void scatter(const Layout at, const Vector* dy, const float* weights, int channel,
                      int column, int tap, int x_height, Vector* dx) {
    weights += channel * at.w_input + tap;
    dy += column;
    dx += at.x_at(channel, at.padding, column + tap);
    for (int x_row = 0; x_row < x_height; ++x_row, dx += at.x_row) {
        const int first = larger(0, x_row + at.padding - (at.rows - 1));
        const int last = smaller(at.kernel - 1, x_row + at.padding);
        Vector sum[Channels][Columns + Taps - 1] = {};
        for (int output = 0; output < at.outputs; ++output)
            for (int i = first; i <= last; ++i) {
                const Vector* line = dy + output * at.y_plane + (x_row + at.padding - i) * at.y_row;
                const float* w = weights + output * at.w_output + i * at.kernel;
#pragma GCC unroll 8
                for (int k = 0; k < Taps; ++k)
#pragma GCC unroll 8
                    for (int c = 0; c < Channels; ++c) {
                        const float weight = w[c * at.w_input + k];
#pragma GCC unroll 8
                        for (int j = 0; j < Columns; ++j) sum[c][j + k] += weight * line[j];
                    }
            }
        Vector* to = dx;
#pragma GCC unroll 8
        for (int c = 0; c < Channels; ++c, to += at.x_plane)
#pragma GCC unroll 16
            for (int j = 0; j < Columns + Taps - 1; ++j) to[j] += sum[c][j];
    }
}

/// Adds to the sums of Channels outputs, one input channel, one kernel row and Taps kernel columns
/// what rows [begin, end) of y contribute.   sums: (Channels, Taps), channels `step` vectors apart.
template <int Channels, int Taps>
NOINLINE void correlate(const Layout at, const Vector* x, const Vector* dy, int begin, int end,
                        Vector* sums, int step) {
    Vector sum[Channels][Taps];
#pragma GCC unroll 8
    for (int c = 0; c < Channels; ++c)
#pragma GCC unroll 8
        for (int k = 0; k < Taps; ++k) sum[c][k] = sums[c * step + k];
    for (int row = begin; row < end; ++row) {
        const Vector* line = x + row * at.x_row;
        const Vector* d = dy + row * at.y_row;
        for (int column = 0; column < at.columns; ++column, ++line, ++d)
#pragma GCC unroll 8
            for (int k = 0; k < Taps; ++k) {
                const Vector pixel = line[k];
#pragma GCC unroll 8
                for (int c = 0; c < Channels; ++c) sum[c][k] += pixel * d[c * at.y_plane];
            }
    }
#pragma GCC unroll 8
    for (int c = 0; c < Channels; ++c)
#pragma GCC unroll 8
        for (int k = 0; k < Taps; ++k) sums[c * step + k] = sum[c][k];
}

constexpr int largest_kernel = 8;     // rows that are summed together
constexpr int band_bytes = 26 << 10;  // with the pixels they meet they fit into 32 KiB

/// Adds to the weights of Channels outputs from `channel` on, one input channel, kernel rows
/// [first, first + rows), kernel columns [tap, tap + Taps). All kernel rows take their part of a
/// band of dy before the next band is read, so that dy comes from the first-level cache all but
/// once.
template <int Channels, int Taps>
NOINLINE void add_weight_gradient(const Layout at, const Vector* x, const Vector* dy, int channel,
                                  int input, int first, int rows, int tap, float* weights) {
    constexpr int most = Channels * largest_kernel * Taps;
    constexpr int room = (most + lanes - 1) / lanes * lanes;
    Vector sums[room];
    float totals[room];
    const int count = Channels * rows * Taps, step = rows * Taps;
    for (int i = 0; i < count + lanes - 1 && i < room; ++i) sums[i] = Vector{};

    const int row_bytes = Channels * at.columns * static_cast<int>(sizeof(Vector));
    const int band = larger(1, band_bytes / row_bytes);
    dy += channel * at.y_plane;
    x += at.x_at(input, first, tap);
    for (int begin = 0; begin < at.rows; begin += band)
        for (int i = 0; i < rows; ++i)
            correlate<Channels, Taps>(at, x + i * at.x_row, dy, begin,
                                      smaller(begin + band, at.rows), sums + i * Taps, step);

    sum_lanes(sums, count, totals);
    weights += channel * at.w_output + input * at.w_input + first * at.kernel + tap;
    const float* total = totals;
    for (int c = 0; c < Channels; ++c)
        for (int i = 0; i < rows; ++i, total += Taps)
#pragma GCC unroll 8
            for (int k = 0; k < Taps; ++k) weights[c * at.w_output + i * at.kernel + k] += total[k];
}

/// Adds to the bias of Channels outputs from `channel` on: as many sums as needed to hide the
/// latency of each.
template <int Channels>
NOINLINE void add_bias_gradient(const Layout at, const Vector* dy, int channel, float* bias) {
    Vector sum[Channels] = {};
    dy += channel * at.y_plane;
    for (int row = 0; row < at.rows; ++row, dy += at.y_row)
        for (int column = 0; column < at.columns; ++column)
#pragma GCC unroll 8
            for (int c = 0; c < Channels; ++c) sum[c] += dy[c * at.y_plane + column];
    static_assert(Channels <= lanes);
    Vector sums[lanes] = {};
#pragma GCC unroll 8
    for (int c = 0; c < Channels; ++c) sums[c] = sum[c];
    float totals[lanes];
    sum_lanes(sums, Channels, totals);
    for (int c = 0; c < Channels; ++c) bias[channel + c] += totals[c];
}

void clear(const Planes& planes, int halo) {
    const std::ptrdiff_t columns = planes.width + 2 * halo;
    for (int c = 0; c < planes.channels; ++c)
        for (int row = 0; row < planes.height; ++row) {
            Vector* line = vectors(planes.data + c * planes.plane + row * planes.row) - halo;
            for (std::ptrdiff_t i = 0; i < columns; ++i) line[i] = Vector{};
        }
}

}  // namespace

void convolution(const Planes& x, const float* weights, const float* bias, int kernel, int padding,
                 const Planes& y) {
    const Layout at(x, y, kernel, padding);
    for_each_block<forward_channels>(at.outputs, [&](int channel, auto channels) {
        for_each_block<forward_columns>(at.columns, [&](int column, auto columns) {
            convolve<channels.value, columns.value>(at, vectors(x.data), weights, bias, channel,
                                                    column, vectors(y.data));
        });
    });
}

void convolution_input_gradient(const Planes& dy, const float* weights, int kernel, int padding,
                                const Planes& dx) {
    const Layout at(dx, dy, kernel, padding);
    clear(dx, padding);
    for_each_block<input_channels>(at.inputs, [&](int channel, auto channels) {
        for_each_block<kernel_columns>(kernel, [&](int tap, auto taps) {
            for_each_block<input_columns>(at.columns, [&](int column, auto columns) {
                scatter<channels.value, columns.value, taps.value>(at, vectors(dy.data), weights,
                                                                   channel, column, tap, dx.height,
                                                                   vectors(dx.data));
            });
        });
    });
}

void convolution_weight_gradient(const Planes& x, const Planes& dy, int kernel, int padding,
                                 float* weights, float* bias) {
    const Layout at(x, dy, kernel, padding);
    for_each_block<weight_channels>(at.outputs, [&](int channel, auto channels) {
        for (int input = 0; input < at.inputs; ++input)
            for (int first = 0; first < kernel; first += largest_kernel)
                for_each_block<kernel_columns>(kernel, [&](int tap, auto taps) {
                    add_weight_gradient<channels.value, taps.value>(
                        at, vectors(x.data), vectors(dy.data), channel, input, first,
                        smaller(largest_kernel, kernel - first), tap, weights);
                });
    });
    for_each_block<8>(at.outputs, [&](int channel, auto channels) {
        add_bias_gradient<channels.value>(at, vectors(dy.data), channel, bias);
    });
}

}  // namespace wasp::SIMD
