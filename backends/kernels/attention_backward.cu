// The adjoints of attention. With p the softmax, o the output and g its cotangent: dv = p^T g, and for the scores
// ds = p (g v^T - sum of g o) scale, from which dq = ds k and dk = ds^T q. Scores are computed again, never kept.
#include "attention.cuh"

// The sum of g o over the columns of each row; a warp a row.
template <class T>
__global__ void __launch_bounds__(256)
attention_delta(const T *__restrict__ cotangent, const T *__restrict__ out, i64 rows, i64 columns,
                acc<T> *__restrict__ delta) {
  typedef acc<T> A;
  const i64 row = (i64)blockIdx.x * 8 + threadIdx.x / 32, end = row < rows ? columns : 0;
  A sum = A(0);
  each((i64)(threadIdx.x % 32), end, (i64)32,
       [&](i64 i) { return up(cotangent[row * columns + i]) * up(out[row * columns + i]); },
       [&](i64, A v) { sum += v; });
  sum = warp_join<Sum>(sum, 1);
  if (row < rows && threadIdx.x % 32 == 0) delta[row] = sum;
}

// The arrays that both kernels read, and the four scores of a thread: p and ds.
template <class T> struct Inputs {
  typedef acc<T> A;
  Part part;
  Rows<T> queries, keys, values, cotangents;
  const A *log_sums, *delta;
  i64 heads, head;
  A scale;
  int causal;

  __device__ __forceinline__ Inputs(const Part &part_, const T *q, const T *k, const T *v, const T *cotangent,
                                    const A *log_sums_, const A *delta_, i64 heads_, i64 head_, i64 size,
                                    i64 value_size, A scale_, int causal_)
      : part(part_), queries(q, part.first_query, part.queries, heads_, head_, size),
        keys(k, part.first_key, part.keys, heads_, head_, size),
        values(v, part.first_key, part.keys, heads_, head_, value_size),
        cotangents(cotangent, part.first_query, part.queries, heads_, head_, value_size), log_sums(log_sums_),
        delta(delta_), heads(heads_), head(head_), scale(scale_), causal(causal_) {}

  __device__ __forceinline__ void scores(i64 q0, i64 k0, Tiles<A> &tiles, A (&p)[4], A (&ds)[4]) const {
    products(queries, q0, keys, k0, tiles, p);
    products(cotangents, q0, values, k0, tiles, ds);
    const i64 query = q0 + threadIdx.x / 8, place = (part.first_query + query) * heads + head;
    const bool in = query < part.queries;
    const A log_sum = in ? log_sums[place] : A(0), own = in ? delta[place] : A(0);
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const bool seen = visible(part, query, k0 + threadIdx.x % 8 + 8 * u, causal);
      p[u] = seen ? exp_(p[u] * scale - log_sum) : A(0);
      ds[u] = seen ? p[u] * (ds[u] - own) * scale : A(0);
    }
  }
};

// 16 rows of dq, WIDE columns of them. Grid: (tiles of queries, heads, tiles of columns).
template <class T>
__global__ void __launch_bounds__(128)
attention_backward_queries(const i64 *__restrict__ meta, const i64 *__restrict__ starts, i64 count,
                           const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,
                           const T *__restrict__ cotangent, const acc<T> *__restrict__ log_sums,
                           const acc<T> *__restrict__ delta, i64 heads, i64 size, i64 value_size, double scale,
                           int causal, T *__restrict__ out) {
  typedef acc<T> A;
  __shared__ Tiles<A> tiles;
  __shared__ A slopes[QUERIES][KEYS + 1], wide[KEYS][WIDE + 1];
  const i64 s = find_segment(starts, count, blockIdx.x), head = blockIdx.y, c0 = (i64)blockIdx.z * WIDE;
  const Part part(meta + 4 * s);
  const Inputs<T> in(part, q, k, v, cotangent, log_sums, delta, heads, head, size, value_size, (A)scale, causal);
  const int row = threadIdx.x / 8, lane = threadIdx.x % 8;
  const i64 q0 = (blockIdx.x - starts[s]) * QUERIES;

  A mine[WIDE / 8] = {};
  const i64 end = causal && q0 + QUERIES < part.keys ? q0 + QUERIES : part.keys;
#pragma unroll 1
  for (i64 k0 = 0; k0 < end; k0 += KEYS) {
    A p[4], ds[4];
    in.scores(q0, k0, tiles, p, ds);
#pragma unroll
    for (int u = 0; u < 4; ++u) slopes[row][lane + 8 * u] = ds[u];
    load_wide(in.keys, k0, c0, wide);
    __syncthreads();
#pragma unroll 1
    for (int j = 0; j < KEYS; ++j)
#pragma unroll
      for (int c = 0; c < WIDE / 8; ++c) mine[c] += slopes[row][j] * wide[j][lane + 8 * c];
    __syncthreads();
  }
  if (q0 + row >= part.queries) return;
#pragma unroll
  for (int c = 0; c < WIDE / 8; ++c) {
    const i64 col = c0 + lane + 8 * c;
    if (col < size) out[((part.first_query + q0 + row) * heads + head) * size + col] = down<T>(mine[c]);
  }
}

// 32 rows of dk and dv, WIDE columns of them: four threads a key. Grid: (tiles of keys, heads, tiles of columns).
template <class T>
__global__ void __launch_bounds__(128)
attention_backward_keys(const i64 *__restrict__ meta, const i64 *__restrict__ starts, i64 count,
                        const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,
                        const T *__restrict__ cotangent, const acc<T> *__restrict__ log_sums,
                        const acc<T> *__restrict__ delta, i64 heads, i64 size, i64 value_size, double scale,
                        int causal, T *__restrict__ key_out, T *__restrict__ value_out) {
  typedef acc<T> A;
  __shared__ Tiles<A> tiles;
  __shared__ A ps[QUERIES][KEYS + 1], slopes[QUERIES][KEYS + 1], wide[QUERIES][WIDE + 1];
  const i64 s = find_segment(starts, count, blockIdx.x), head = blockIdx.y, c0 = (i64)blockIdx.z * WIDE;
  const Part part(meta + 4 * s);
  const Inputs<T> in(part, q, k, v, cotangent, log_sums, delta, heads, head, size, value_size, (A)scale, causal);
  const int row = threadIdx.x / 8, lane = threadIdx.x % 8, key = threadIdx.x / 4, quarter = threadIdx.x % 4;
  const i64 k0 = (blockIdx.x - starts[s]) * KEYS;

  A of_key[WIDE / 4] = {}, of_value[WIDE / 4] = {};
#pragma unroll 1
  for (i64 q0 = causal ? k0 : 0; q0 < part.queries; q0 += QUERIES) {  // earlier queries see none of these keys
    A p[4], ds[4];
    in.scores(q0, k0, tiles, p, ds);
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      ps[row][lane + 8 * u] = p[u];
      slopes[row][lane + 8 * u] = ds[u];
    }
    load_wide(in.queries, q0, c0, wide);
    __syncthreads();
#pragma unroll 1
    for (int j = 0; j < QUERIES; ++j)
#pragma unroll
      for (int c = 0; c < WIDE / 4; ++c) of_key[c] += slopes[j][key] * wide[j][quarter + 4 * c];
    __syncthreads();
    load_wide(in.cotangents, q0, c0, wide);
    __syncthreads();
#pragma unroll 1
    for (int j = 0; j < QUERIES; ++j)
#pragma unroll
      for (int c = 0; c < WIDE / 4; ++c) of_value[c] += ps[j][key] * wide[j][quarter + 4 * c];
    __syncthreads();
  }
  if (k0 + key >= part.keys) return;
  const i64 place = (part.first_key + k0 + key) * heads + head;
#pragma unroll
  for (int c = 0; c < WIDE / 4; ++c) {
    const i64 col = c0 + quarter + 4 * c;
    if (col < size) key_out[place * size + col] = down<T>(of_key[c]);
    if (col < value_size) value_out[place * value_size + col] = down<T>(of_value[c]);
  }
}
