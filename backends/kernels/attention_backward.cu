// The adjoints of attention. With p the softmax, o the output and g its cotangent: dv = p^T g, and for the scores
// ds = p (g v^T - sum of g o), from which dq = ds k scale and dk = ds^T q scale. Scores are computed again, never kept.
#include "attention.cuh"

// The sum of g o over the columns of each row; a warp a row. first_rows[s] is the first row of component s.
template <class T>
__global__ void __launch_bounds__(256)
attention_delta(const i64 *__restrict__ meta, const i64 *__restrict__ first_rows, i64 count,
                const T *__restrict__ cotangent, const T *__restrict__ out, i64 rows, i64 columns,
                acc<T> *__restrict__ delta) {
  typedef acc<T> A;
  const i64 row = (i64)blockIdx.x * 8 + threadIdx.x / 32, end = row < rows ? columns : 0;
  const i64 *place = meta + META * find_segment(first_rows, count, row < rows ? row : 0);
  const i64 own = row < rows ? row - place[20] : 0, queries = place[2] ? place[2] : 1;
  const i64 at = place[13] + own / queries * place[14] + own % queries * place[15];
  A sum = A(0);
  each((i64)(threadIdx.x % 32), end, (i64)32, [&](i64 i) { return up(cotangent[at + i]) * up(out[at + i]); },
       [&](i64, A v) { sum += v; });
  sum = warp_join<Sum>(sum, 1);
  if (row < rows && threadIdx.x % 32 == 0) delta[row] = sum;
}

// The arrays that the kernels read, and the four scores of a thread: whether they count, p and ds.
template <class T> struct Inputs {
  typedef acc<T> A;
  Part part;
  Rows<T> queries, keys, values, cotangents;
  Mask<T> mask;
  const A *maxima, *totals, *delta;
  A scale;

  __device__ __forceinline__ Inputs(const Part &part_, const T *q, const T *k, const T *v, const bool *met,
                                    const T *added, const T *cotangent, const A *maxima_, const A *totals_,
                                    const A *delta_, i64 size, i64 value_size, A scale_, int causal)
      : part(part_), queries(q, part.row + 4, part.head, part.queries, size),
        keys(k, part.row + 7, part.key_head, part.keys, size),
        values(v, part.row + 10, part.key_head, part.keys, value_size),
        cotangents(cotangent, part.row + 13, part.head, part.queries, value_size),
        mask(met, added, part.row + 16, part.head, causal), maxima(maxima_), totals(totals_), delta(delta_),
        scale(scale_) {}

  __device__ __forceinline__ void scores(i64 q0, i64 k0, Tiles<A> &tiles, bool (&counts)[4], A (&p)[4],
                                         A (&ds)[4]) const {
    products(queries, q0, keys, k0, tiles, p);
    products(cotangents, q0, values, k0, tiles, ds);
    const i64 query = q0 + threadIdx.x / 8, place = part.saved(query);
    const bool in = query < part.queries;
    const A top = in ? maxima[place] : A(0), total = in ? totals[place] : A(0), own = in ? delta[place] : A(0);
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      p[u] *= scale;
      counts[u] = mask.meets(part, query, k0 + threadIdx.x % 8 + 8 * u, p[u]) && total != A(0);
      p[u] = counts[u] ? exp_(p[u] - (top == Limits<T>::lowest() ? A(0) : top)) / total : A(0);
      ds[u] = counts[u] ? p[u] * (ds[u] - own) : A(0);
    }
  }
};

// 16 rows of dq, WIDE columns of them. Grid: (tiles of queries, heads, tiles of columns).
template <class T>
__global__ void __launch_bounds__(128)
attention_backward_queries(const i64 *__restrict__ meta, const i64 *__restrict__ starts, i64 count,
                           const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,
                           const bool *__restrict__ met, const T *__restrict__ added,
                           const T *__restrict__ cotangent, const acc<T> *__restrict__ maxima,
                           const acc<T> *__restrict__ totals, const acc<T> *__restrict__ delta, i64 size,
                           i64 value_size, double scale, int causal, T *__restrict__ out) {
  typedef acc<T> A;
  __shared__ Tiles<A> tiles;
  __shared__ A slopes[QUERIES][KEYS + 1], wide[KEYS][WIDE + 1];
  __shared__ bool counted[QUERIES][KEYS];
  const i64 s = find_segment(starts, count, blockIdx.x), c0 = (i64)blockIdx.z * WIDE;
  const Part part(meta + META * s, blockIdx.y);
  if (!part.exists) return;
  const Inputs<T> in(part, q, k, v, met, added, cotangent, maxima, totals, delta, size, value_size, (A)scale, causal);
  const int row = threadIdx.x / 8, lane = threadIdx.x % 8;
  const i64 q0 = (blockIdx.x - starts[s]) * QUERIES;

  A mine[WIDE / 8] = {};
  const i64 end = causal && q0 + QUERIES < part.keys ? q0 + QUERIES : part.keys;
#pragma unroll 1
  for (i64 k0 = 0; k0 < end; k0 += KEYS) {
    A p[4], ds[4];
    bool counts[4];
    in.scores(q0, k0, tiles, counts, p, ds);
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      slopes[row][lane + 8 * u] = ds[u];
      counted[row][lane + 8 * u] = counts[u];
    }
    load_wide(in.keys, k0, c0, wide);
    __syncthreads();
#pragma unroll 1
    for (int j = 0; j < KEYS; ++j) {
      if (!counted[row][j]) continue;
#pragma unroll
      for (int c = 0; c < WIDE / 8; ++c) mine[c] += slopes[row][j] * wide[j][lane + 8 * c];
    }
    __syncthreads();
  }
  if (q0 + row >= part.queries) return;
  const i64 place = part.row[4] + part.head * part.row[5] + (q0 + row) * part.row[6];
#pragma unroll
  for (int c = 0; c < WIDE / 8; ++c) {
    const i64 col = c0 + lane + 8 * c;
    if (col < size) out[place + col] = down<T>(mine[c] * (A)scale);
  }
}

// 32 rows of dk and dv, WIDE columns of them: four threads a key, which heads of queries may share.
// Grid: (tiles of keys, heads of keys, tiles of columns).
template <class T>
__global__ void __launch_bounds__(128)
attention_backward_keys(const i64 *__restrict__ meta, const i64 *__restrict__ starts, i64 count,
                        const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,
                        const bool *__restrict__ met, const T *__restrict__ added, const T *__restrict__ cotangent,
                        const acc<T> *__restrict__ maxima, const acc<T> *__restrict__ totals,
                        const acc<T> *__restrict__ delta, i64 size, i64 value_size, double scale, int causal,
                        T *__restrict__ key_out, T *__restrict__ value_out) {
  typedef acc<T> A;
  __shared__ Tiles<A> tiles;
  __shared__ A ps[QUERIES][KEYS + 1], slopes[QUERIES][KEYS + 1], wide[QUERIES][WIDE + 1];
  __shared__ bool counted[QUERIES][KEYS];
  const i64 s = find_segment(starts, count, blockIdx.x), c0 = (i64)blockIdx.z * WIDE;
  const i64 *place = meta + META * s;
  if (blockIdx.y >= place[0]) return;
  const int row = threadIdx.x / 8, lane = threadIdx.x % 8, key = threadIdx.x / 4, quarter = threadIdx.x % 4;
  const i64 k0 = (blockIdx.x - starts[s]) * KEYS;

  A of_key[WIDE / 4] = {}, of_value[WIDE / 4] = {};
#pragma unroll 1
  for (i64 member = 0; member < place[1]; ++member) {
    const Part part(place, blockIdx.y * place[1] + member);
    const Inputs<T> in(part, q, k, v, met, added, cotangent, maxima, totals, delta, size, value_size, (A)scale, causal);
#pragma unroll 1
    for (i64 q0 = causal ? k0 : 0; q0 < part.queries; q0 += QUERIES) {  // earlier queries meet none of these keys
      A p[4], ds[4];
      bool counts[4];
      in.scores(q0, k0, tiles, counts, p, ds);
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        ps[row][lane + 8 * u] = p[u];
        slopes[row][lane + 8 * u] = ds[u];
        counted[row][lane + 8 * u] = counts[u];
      }
      load_wide(in.queries, q0, c0, wide);
      __syncthreads();
#pragma unroll 1
      for (int j = 0; j < QUERIES; ++j) {
        if (!counted[j][key]) continue;
#pragma unroll
        for (int c = 0; c < WIDE / 4; ++c) of_key[c] += slopes[j][key] * wide[j][quarter + 4 * c];
      }
      __syncthreads();
      load_wide(in.cotangents, q0, c0, wide);
      __syncthreads();
#pragma unroll 1
      for (int j = 0; j < QUERIES; ++j) {
        if (!counted[j][key]) continue;
#pragma unroll
        for (int c = 0; c < WIDE / 4; ++c) of_value[c] += ps[j][key] * wide[j][quarter + 4 * c];
      }
      __syncthreads();
    }
  }
  if (k0 + key >= place[3]) return;
  const i64 of_keys = place[7] + blockIdx.y * place[8] + (k0 + key) * place[9];
  const i64 of_values = place[10] + blockIdx.y * place[11] + (k0 + key) * place[12];
#pragma unroll
  for (int c = 0; c < WIDE / 4; ++c) {
    const i64 col = c0 + quarter + 4 * c;
    if (col < size) key_out[of_keys + col] = down<T>(of_key[c] * (A)scale);
    if (col < value_size) value_out[of_values + col] = down<T>(of_value[c]);
  }
}

// ds itself, of every pair, for a mask of floats. Grid: (tiles of queries, heads).
template <class T>
__global__ void __launch_bounds__(128)
attention_backward_mask(const i64 *__restrict__ meta, const i64 *__restrict__ starts, i64 count,
                        const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,
                        const bool *__restrict__ met, const T *__restrict__ added, const T *__restrict__ cotangent,
                        const acc<T> *__restrict__ maxima, const acc<T> *__restrict__ totals,
                        const acc<T> *__restrict__ delta, i64 size, i64 value_size, double scale, int causal,
                        acc<T> *__restrict__ out) {
  typedef acc<T> A;
  __shared__ Tiles<A> tiles;
  const i64 s = find_segment(starts, count, blockIdx.x);
  const Part part(meta + META * s, blockIdx.y);
  if (!part.exists) return;
  const Inputs<T> in(part, q, k, v, met, added, cotangent, maxima, totals, delta, size, value_size, (A)scale, causal);
  const i64 q0 = (blockIdx.x - starts[s]) * QUERIES, query = q0 + threadIdx.x / 8;
#pragma unroll 1
  for (i64 k0 = 0; k0 < part.keys; k0 += KEYS) {
    A p[4], ds[4];
    bool counts[4];
    in.scores(q0, k0, tiles, counts, p, ds);
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const i64 key = k0 + threadIdx.x % 8 + 8 * u;
      if (query < part.queries && key < part.keys) out[part.score(query, key)] = ds[u];
    }
  }
}
