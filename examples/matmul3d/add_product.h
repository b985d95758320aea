/* add_product() of kernel.h for programs in C, such as benchmarks/rivals/mpi_prk.c: a comparison of
 * two programs is one of communication only if both multiply with the same loops. */
#ifndef EXAMPLES_MATMUL3D_ADD_PRODUCT_H
#define EXAMPLES_MATMUL3D_ADD_PRODUCT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* sum += a * b, where `sum` has rows x columns numbers, a rows x depth, and b depth x columns. The
 * strides are those from row to row. */
void matmul3d_add_product(const double* a, size_t a_stride, const double* b, size_t b_stride,
                          size_t rows, size_t depth, size_t columns, double* sum);

#ifdef __cplusplus
}
#endif
#endif
