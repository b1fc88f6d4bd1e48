// What attention and its adjoints share: tiles of 16 queries and 32 keys, and products of their rows.
#pragma once
#include "common.cuh"

enum { QUERIES = 16, KEYS = 32, THREADS = 128, DEPTH = 32, WIDE = 64 };

// The rows of queries and keys that belong together, one row of meta:
//   first query, queries, first key, keys.
// Arrays are (rows, heads, size). starts[s] is the first tile of component s.
struct Part {
  i64 first_query, queries, first_key, keys;
  __device__ __forceinline__ explicit Part(const i64 *row) {
    first_query = row[0];
    queries = row[1];
    first_key = row[2];
    keys = row[3];
  }
};

// Rows of one head: element e of row r.
template <class T> struct Rows {
  const T *base;
  i64 apart, size, count;
  __device__ __forceinline__ Rows(const T *array, i64 first, i64 count_, i64 heads, i64 head, i64 size_) {
    apart = heads * size_;
    size = size_;
    count = count_;
    base = array + first * apart + head * size_;
  }
  __device__ __forceinline__ acc<T> at(i64 r, i64 e) const {
    return r < count && e < size ? up(base[r * apart + e]) : acc<T>(0);
  }
};

template <class A> struct Tiles { A a[QUERIES][DEPTH + 1], b[KEYS][DEPTH + 1]; };

// sum[u] is the product of query row a0 + t / 8 with key row b0 + t % 8 + 8 u, for all four u.
template <class T, class A>
__device__ __forceinline__ void products(const Rows<T> &a, i64 a0, const Rows<T> &b, i64 b0, Tiles<A> &tiles,
                                         A (&sum)[4]) {
  const int t = threadIdx.x, row = t / 8, lane = t % 8;
#pragma unroll
  for (int u = 0; u < 4; ++u) sum[u] = A(0);
#pragma unroll 1
  for (i64 e0 = 0; e0 < a.size; e0 += DEPTH) {
    __syncthreads();
#pragma unroll 1
    for (int k = t; k < QUERIES * DEPTH; k += THREADS)
      tiles.a[k / DEPTH][k % DEPTH] = a.at(a0 + k / DEPTH, e0 + k % DEPTH);
#pragma unroll 1
    for (int k = t; k < KEYS * DEPTH; k += THREADS)
      tiles.b[k / DEPTH][k % DEPTH] = b.at(b0 + k / DEPTH, e0 + k % DEPTH);
    __syncthreads();
#pragma unroll 4
    for (int e = 0; e < DEPTH; ++e)
#pragma unroll
      for (int u = 0; u < 4; ++u) sum[u] += tiles.a[row][e] * tiles.b[lane + 8 * u][e];
  }
}

// Whether a query may look at a key: both exist, and the key is not later where attention is causal.
__device__ __forceinline__ bool visible(const Part &part, i64 query, i64 key, int causal) {
  return query < part.queries && key < part.keys && (!causal || key <= query);
}

// Columns c0 .. c0 + WIDE of ROWS rows from r0 on, into shared memory; zeros beyond the array.
template <int ROWS, class T, class A>
__device__ __forceinline__ void load_wide(const Rows<T> &from, i64 r0, i64 c0, A (&into)[ROWS][WIDE + 1]) {
#pragma unroll 1
  for (int k = threadIdx.x; k < ROWS * WIDE; k += THREADS)
    into[k / WIDE][k % WIDE] = from.at(r0 + k / WIDE, c0 + k % WIDE);
}
