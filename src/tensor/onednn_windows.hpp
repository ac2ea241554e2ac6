/// Private to tensor: the windows of a convolution as the rows of a matrix (im2col), channels last.
#pragma once

#include <cstddef>

#include "tensor/convolution_operator.hpp"

namespace wasp {

/// Row (n,h,w) of the matrix holds what meets the weights there, (K,K,I): all channels of the first
/// pixel, of the next …; zeros where the window hangs over the edge.
class Windows {
public:
    Windows() = default;
    Windows(const ConvolutionShape& shape, std::size_t element);

    std::size_t bytes() const;  ///< of the matrix
    /// x (N,H,W,I) → the matrix.
    void gather(const std::byte* x, std::byte* matrix) const;
    /// The adjoint, for windows that don't overlap (K = 1): pixels in no window become zero.
    void scatter(const std::byte* matrix, std::byte* x) const;

private:
    /// body(row of the matrix, h, w): windows of one image, whose first pixel is at (h,w).
    template <class Body>
    void for_each_image(Body body) const;
    template <class Body>
    void for_each(std::size_t image, Body body) const;

    ConvolutionShape shape_;
    std::size_t pixel_ = 0;  // bytes of its channels
};

/// Is x itself the matrix?
inline bool is_product(const ConvolutionShape& shape) {
    return shape.kernel == 1 && shape.stride == 1;
}

}  // namespace wasp
