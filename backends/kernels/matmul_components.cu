// Products of many matrices of different sizes.
#include "common.cuh"

enum { SIDE = 32, DEPTH = 16 };  // a block of 16 x 16 threads makes 32 x 32 elements, 16 of the inner size at a time

// A row of meta: rows, inner, columns, and the offsets of both operands and the result. starts[k] is the first tile of
// product k. A transposed operand is stored column by column. Block (16, 16); grid: tiles.
template <class T>
__global__ void __launch_bounds__(256)
matmul_components(const i64 *__restrict__ meta, const i64 *__restrict__ starts, i64 count, const T *__restrict__ a,
                  int a_transposed, const T *__restrict__ b, int b_transposed, T *__restrict__ out) {
  typedef acc<T> A;
  __shared__ A left[SIDE][DEPTH + 1], right[DEPTH][SIDE + 1];
  const i64 k = find_segment(starts, count, blockIdx.x), *row = meta + 6 * k;
  const i64 rows = row[0], inner = row[1], columns = row[2], across = (columns + SIDE - 1) / SIDE;
  const i64 tile = blockIdx.x - starts[k], q = tile / across, r0 = q * SIDE, c0 = (tile - q * across) * SIDE;
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  a += row[3];
  b += row[4];
  out += row[5];

  A sum[2][2] = {};
#pragma unroll 1
  for (i64 i0 = 0; i0 < inner; i0 += DEPTH) {
#pragma unroll
    for (int u = 0; u < 2; ++u) {  // neighbouring threads read neighbouring elements, however an operand is stored
      const int e = t + 256 * u;
      const int r = a_transposed ? e % SIDE : e / DEPTH, i = a_transposed ? e / SIDE : e % DEPTH;
      const i64 from = a_transposed ? (i0 + i) * rows + r0 + r : (r0 + r) * inner + i0 + i;
      left[r][i] = r0 + r < rows && i0 + i < inner ? up(a[from]) : A(0);
      const int c = b_transposed ? e / DEPTH : e % SIDE, j = b_transposed ? e % DEPTH : e / SIDE;
      const i64 at = b_transposed ? (c0 + c) * inner + i0 + j : (i0 + j) * columns + c0 + c;
      right[j][c] = c0 + c < columns && i0 + j < inner ? up(b[at]) : A(0);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < DEPTH; ++i)
#pragma unroll
      for (int u = 0; u < 4; ++u)
        sum[u / 2][u % 2] = plus(sum[u / 2][u % 2], times(left[ty + 16 * (u / 2)][i], right[i][tx + 16 * (u % 2)]));
    __syncthreads();
  }
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    const i64 r = r0 + ty + 16 * (u / 2), c = c0 + tx + 16 * (u % 2);
    if (r < rows && c < columns) out[r * columns + c] = down<T>(sum[u / 2][u % 2]);
  }
}
