// Attention within each component: softmax(scale * q k^T + mask) v, without an array of scores.
#include "attention.cuh"

// Joins the eight lanes that share a query.
template <class Op, class A> __device__ __forceinline__ A join_eight(A a) {
  for (int o = 4; o > 0; o >>= 1) a = Op::join(a, from_lane(a, o));
  return a;
}

struct Larger {  // not a NaN, which reaches the sum by itself
  template <class A> static __device__ __forceinline__ A join(A a, A b) { return a > b ? a : b; }
};

// 128 threads make 16 rows of the output, WIDE columns of them: eight lanes a query. Maximum and sum run along with the
// keys, and what was added before is scaled down when the maximum grows. A key that is not met has the weight -1 and
// takes no part, whatever it holds; a query that meets none gives 0.
// Grid: (tiles of queries, heads, tiles of columns).
template <class T>
__global__ void __launch_bounds__(128)
attention(const i64 *__restrict__ meta, const i64 *__restrict__ starts, i64 count, const T *__restrict__ q,
          const T *__restrict__ k, const T *__restrict__ v, const bool *__restrict__ met, const T *__restrict__ added,
          i64 size, i64 value_size, double scale, int causal, T *__restrict__ out, acc<T> *__restrict__ maxima,
          acc<T> *__restrict__ totals) {
  typedef acc<T> A;
  __shared__ Tiles<A> tiles;
  __shared__ A weights[QUERIES][KEYS + 1], values[KEYS][WIDE + 1];
  const i64 s = find_segment(starts, count, blockIdx.x), c0 = (i64)blockIdx.z * WIDE;
  const Part part(meta + META * s, blockIdx.y);
  if (!part.exists) return;
  const Rows<T> queries(q, part.row + 4, part.head, part.queries, size);
  const Rows<T> keys(k, part.row + 7, part.key_head, part.keys, size);
  const Rows<T> valued(v, part.row + 10, part.key_head, part.keys, value_size);
  const Mask<T> mask(met, added, part.row + 16, part.head, causal);
  const int row = threadIdx.x / 8, lane = threadIdx.x % 8;
  const i64 q0 = (blockIdx.x - starts[s]) * QUERIES, query = q0 + row;
  const A lowest = Limits<T>::lowest();

  A m = lowest, sum = A(0), met_keys = A(0), mine[WIDE / 8] = {};
  const i64 end = causal && q0 + QUERIES < part.keys ? q0 + QUERIES : part.keys;  // later keys are met by none of them
#pragma unroll 1
  for (i64 k0 = 0; k0 < end; k0 += KEYS) {
    A score[4];
    bool meets[4];
    products(queries, q0, keys, k0, tiles, score);
    A top = m;
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      score[u] *= (A)scale;
      meets[u] = mask.meets(part, query, k0 + lane + 8 * u, score[u]);
      top = Larger::join(top, meets[u] ? score[u] : lowest);
    }
    top = join_eight<Larger>(top);
    const A shrink = m == top ? A(1) : exp_(m - top);
    A joined = A(0);
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const A weight = exp_(score[u] - (top == lowest ? A(0) : top));
      weights[row][lane + 8 * u] = meets[u] ? weight : A(-1);
      joined += meets[u] ? weight : A(0);
      met_keys += meets[u] ? A(1) : A(0);
    }
    sum = sum * shrink + join_eight<Sum>(joined);
    m = top;
    load_wide(valued, k0, c0, values);
    __syncthreads();
#pragma unroll
    for (int c = 0; c < WIDE / 8; ++c) mine[c] *= shrink;
#pragma unroll 1
    for (int j = 0; j < KEYS; ++j) {
      const A weight = weights[row][j];
      if (weight < A(0)) continue;
#pragma unroll
      for (int c = 0; c < WIDE / 8; ++c) mine[c] += weight * values[j][lane + 8 * c];
    }
    __syncthreads();
  }
  if (join_eight<Sum>(met_keys) > A(0) && m == lowest && sum == A(0)) sum = lowest - lowest;  // NaN: nothing but -inf
  if (query >= part.queries) return;
  const i64 place = part.made(query);
#pragma unroll
  for (int c = 0; c < WIDE / 8; ++c) {
    const i64 col = c0 + lane + 8 * c;
    if (col < value_size) out[place + col] = down<T>(sum == A(0) ? A(0) : mine[c] / sum);
  }
  if (lane == 0 && blockIdx.z == 0) {
    maxima[part.saved(query)] = m;
    totals[part.saved(query)] = sum;
  }
}
