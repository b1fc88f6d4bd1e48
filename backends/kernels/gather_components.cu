// Copies components of a buffer to packed memory. A copy needs no dtype: U is a word of 1 to 16 bytes.
#include "strided.cuh"

// starts[s] is the first tile of component s. Array 0 is the buffer, array 1 the packed result. Grid: tiles.
template <class U, int ND, class I>
__global__ void __launch_bounds__(256)
gather_components(const i64 *__restrict__ meta, const i64 *__restrict__ starts, i64 count, const U *__restrict__ buffer,
                  U *__restrict__ out) {
  const i64 s = find_segment(starts, count, blockIdx.x);
  const Component<ND, 2, I> component(meta + s * (ND + 2 * (ND + 1)));
  component.visit(blockIdx.x - starts[s], [&](const i64(&at)[2]) { out[at[1]] = buffer[at[0]]; });
}

// Components stored column by column, through a shared tile, so that reads and writes both run along rows.
// A row of meta: rows, columns, distance of columns in the buffer, offset, offset in the result. Block (32, 8).
template <class U>
__global__ void __launch_bounds__(256)
gather_transposed(const i64 *__restrict__ meta, const i64 *__restrict__ starts, i64 count, const U *__restrict__ buffer,
                  U *__restrict__ out) {
  __shared__ U tile[32][33];
  const i64 s = find_segment(starts, count, blockIdx.x);
  const i64 *row = meta + s * 5;
  const i64 rows = row[0], columns = row[1], apart = row[2], across = (columns + 31) / 32;
  const i64 k = blockIdx.x - starts[s], q = k / across, r0 = q * 32, c0 = (k - q * across) * 32;
  buffer += row[3];
  out += row[4];
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    const int j = threadIdx.y + 8 * u;
    if (c0 + j < columns && r0 + threadIdx.x < rows) tile[j][threadIdx.x] = buffer[(c0 + j) * apart + r0 + threadIdx.x];
  }
  __syncthreads();
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    const int j = threadIdx.y + 8 * u;
    if (r0 + j < rows && c0 + threadIdx.x < columns) out[(r0 + j) * columns + c0 + threadIdx.x] = tile[threadIdx.x][j];
  }
}
