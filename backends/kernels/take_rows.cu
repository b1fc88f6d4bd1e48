// Copies the rows of an array at an index. A copy needs no dtype: U is a word of 1 to 16 bytes, `columns` counts words.
#include "common.cuh"

// Block 256: 1 << lg lanes copy a row, the other lanes copy other rows. Grid: (rows, tiles of columns on y and z).
template <class U>
__global__ void __launch_bounds__(256)
take_rows(const U *__restrict__ x, const i64 *__restrict__ index, i64 rows, i64 columns, int lg, U *__restrict__ out) {
  const int lane = threadIdx.x & ((1 << lg) - 1), side = 256 >> lg;
  const i64 row = (i64)blockIdx.x * side + (threadIdx.x >> lg);
  const i64 tile = (i64)blockIdx.z * gridDim.y + blockIdx.y, col = (tile << lg) + lane;
  if (row < rows && col < columns) out[row * columns + col] = x[index[row] * columns + col];
}
