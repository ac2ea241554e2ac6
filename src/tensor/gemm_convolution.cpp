#include "gemm_convolution.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstring>

#include "tensor/parallel.hpp"

namespace wasp {

namespace {

/// Columns of an unrolled chunk: enough for products at full speed, few enough for the cache.
constexpr int chunk_columns = 1024;

const float* floats(const std::byte* p) {
    return reinterpret_cast<const float*>(p);
}
float* floats(std::byte* p) {
    return reinterpret_cast<float*>(p);
}

/// A matrix as BLAS sees it: rows `step` floats apart; transposed or as it is.
struct Matrix {
    const float* data;
    int step;
    CBLAS_TRANSPOSE transposed = CblasNoTrans;
};

/// c (rows × columns, rows `step` apart) = beta·c + a·b
void multiply(int rows, int columns, int inner, const Matrix& a, const Matrix& b, float beta,
              float* c, int step) {
    cblas_sgemm(CblasRowMajor, a.transposed, b.transposed, rows, columns, inner, 1, a.data, a.step,
                b.data, b.step, beta, c, step);
}

/// Where a row of the output meets the input, for one position (i,j) of the kernel.
struct Overlap {
    int first, last;  // output columns [first, last) that meet a pixel
    Overlap(const ConvolutionShape& shape, int j) {
        const int shift = j - shape.padding(), stride = shape.stride;
        first = shift < 0 ? (-shift + stride - 1) / stride : 0;
        last = std::min(shape.output_width(), (shape.width - 1 - shift) / stride + 1);
        if (shape.width - 1 - shift < 0) last = 0;
        first = std::min(first, last);
    }
};

bool is_product(const ConvolutionShape& shape) {
    return shape.kernel == 1 && shape.stride == 1;
}

int chunk_images(const ConvolutionShape& shape) {
    return std::clamp(chunk_columns / shape.output_pixels(), 1, std::max(1, shape.images));
}

}  // namespace

GemmConvolution::GemmConvolution(GemmEngine& engine, const ConvolutionShape& shape)
    : engine_(engine), shape_(shape) {
    engine_.provide(columns(shape));
}

std::size_t GemmConvolution::columns(const ConvolutionShape& shape) {
    if (is_product(shape)) return 0;
    return static_cast<std::size_t>(shape.inputs * shape.kernel * shape.kernel) *
           static_cast<std::size_t>(chunk_images(shape) * shape.output_pixels());
}

template <class Body>
void GemmConvolution::for_each_chunk(int images, Body body) const {
    for (int first = 0; first < images; first += chunk_images(shape_))
        body(Chunk{images, first, std::min(chunk_images(shape_), images - first)});
}

/// columns (I·K·K, count·H'·W'): row (c,i,j) holds the pixels that meet weight (c,i,j).
void GemmConvolution::unroll(const Chunk& chunk, const float* x, float* columns) const {
    const int kernel = shape_.kernel, height = shape_.output_height(),
              width = shape_.output_width();
    const int stride = shape_.stride;
    parallel_ranges(
        static_cast<std::size_t>(window()), static_cast<std::size_t>(kernel * kernel),
        [&](std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) {
                const int position = static_cast<int>(row) % (kernel * kernel);
                const auto c = static_cast<std::ptrdiff_t>(row) / (kernel * kernel);
                const int up = position / kernel - shape_.padding(), j = position % kernel;
                const Overlap overlap(shape_, j);
                float* out =
                    columns + static_cast<std::ptrdiff_t>(row) * chunk.count * height * width;
                for (int n = chunk.first; n < chunk.first + chunk.count; ++n) {
                    const float* plane = x + (c * chunk.batch + n) * shape_.input_pixels();
                    for (int h = 0; h < height; ++h, out += width) {
                        const int from = h * stride + up;
                        if (from < 0 || from >= shape_.height) {
                            std::fill_n(out, width, 0.0F);
                            continue;
                        }
                        const float* line = plane + from * shape_.width + j - shape_.padding();
                        std::fill_n(out, overlap.first, 0.0F);
                        if (stride == 1)
                            std::copy(line + overlap.first, line + overlap.last,
                                      out + overlap.first);
                        else
                            for (int w = overlap.first; w < overlap.last; ++w)
                                out[w] = line[w * stride];
                        std::fill(out + overlap.last, out + width, 0.0F);
                    }
                }
            }
        });
}

/// The adjoint of unroll(): each pixel gets the sum of the columns' entries it went to.
void GemmConvolution::add_back(const Chunk& chunk, const float* columns, float* dx) const {
    const int kernel = shape_.kernel, height = shape_.output_height(),
              width = shape_.output_width();
    const int stride = shape_.stride;
    parallel_ranges(
        static_cast<std::size_t>(shape_.inputs), 1, [&](std::size_t begin, std::size_t end) {
            for (auto c = static_cast<std::ptrdiff_t>(begin); c < static_cast<std::ptrdiff_t>(end);
                 ++c) {
                float* planes = dx + (c * chunk.batch + chunk.first) * shape_.input_pixels();
                std::fill_n(planes, std::ptrdiff_t{chunk.count} * shape_.input_pixels(), 0.0F);
                for (int position = 0; position < kernel * kernel; ++position) {
                    const int up = position / kernel - shape_.padding(), j = position % kernel;
                    const Overlap overlap(shape_, j);
                    const float* from =
                        columns + (c * kernel * kernel + position) * chunk.count * height * width;
                    for (int n = 0; n < chunk.count; ++n)
                        for (int h = 0; h < height; ++h, from += width) {
                            const int to = h * stride + up;
                            if (to < 0 || to >= shape_.height) continue;
                            float* line = planes + std::ptrdiff_t{n} * shape_.input_pixels() +
                                          to * shape_.width + j - shape_.padding();
                            for (int w = overlap.first; w < overlap.last; ++w)
                                line[w * stride] += from[w];
                        }
                }
            }
        });
}

void GemmConvolution::forward(int images, const std::byte* x, const float* weights, std::byte* y) {
    const int all = images * shape_.output_pixels();
    if (is_product(shape_)) {
        multiply(shape_.outputs, all, window(), {weights, window()}, {floats(x), all}, 0, floats(y),
                 all);
        return;
    }
    for_each_chunk(images, [&](const Chunk& chunk) {
        const int columns = chunk.count * shape_.output_pixels();
        unroll(chunk, floats(x), engine_.columns());
        multiply(shape_.outputs, columns, window(), {weights, window()},
                 {engine_.columns(), columns}, 0,
                 floats(y) + std::ptrdiff_t{chunk.first} * shape_.output_pixels(), all);
    });
}

void GemmConvolution::backward_data(int images, const std::byte* dy, const float* weights,
                                    std::byte* dx) {
    const int all = images * shape_.output_pixels();
    const Matrix transposed{weights, window(), CblasTrans};
    if (is_product(shape_)) {
        multiply(window(), all, shape_.outputs, transposed, {floats(dy), all}, 0, floats(dx), all);
        return;
    }
    for_each_chunk(images, [&](const Chunk& chunk) {
        const int columns = chunk.count * shape_.output_pixels();
        const float* part = floats(dy) + std::ptrdiff_t{chunk.first} * shape_.output_pixels();
        multiply(window(), columns, shape_.outputs, transposed, {part, all}, 0, engine_.columns(),
                 columns);
        add_back(chunk, engine_.columns(), floats(dx));
    });
}

void GemmConvolution::backward_weights(int images, const std::byte* x, const std::byte* dy,
                                       float* gradient) {
    const int all = images * shape_.output_pixels();
    if (is_product(shape_)) {
        multiply(shape_.outputs, window(), all, {floats(dy), all}, {floats(x), all, CblasTrans}, 0,
                 gradient, window());
        return;
    }
    for_each_chunk(images, [&](const Chunk& chunk) {
        const int columns = chunk.count * shape_.output_pixels();
        const float* part = floats(dy) + std::ptrdiff_t{chunk.first} * shape_.output_pixels();
        unroll(chunk, floats(x), engine_.columns());
        multiply(shape_.outputs, window(), columns, {part, all},
                 {engine_.columns(), columns, CblasTrans}, chunk.first == 0 ? 0.0F : 1.0F, gradient,
                 window());
    });
}

}  // namespace wasp
