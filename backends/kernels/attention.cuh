// What attention and its adjoints share: tiles of 16 queries and 32 keys, and products of their rows.
#pragma once
#include "common.cuh"

enum { QUERIES = 16, KEYS = 32, THREADS = 128, DEPTH = 32, WIDE = 64, META = 22 };

// One head of a component, which is one row of meta:
//   heads of keys, heads of queries that share one, queries, keys;
//   offset, step between heads, step between rows: of queries, keys, values, results;
//   offset, steps between heads, queries and keys: of the mask;
//   the first of the rows that are saved of it, the first of its scores.
struct Part {
  const i64 *row;
  i64 queries, keys, head, key_head;
  bool exists;
  __device__ __forceinline__ Part(const i64 *row_, i64 head_) : row(row_) {
    queries = row[2];
    keys = row[3];
    head = head_;
    exists = head < row[0] * row[1];
    key_head = exists ? head / row[1] : 0;
  }
  __device__ __forceinline__ i64 saved(i64 query) const { return row[20] + head * queries + query; }
  __device__ __forceinline__ i64 score(i64 query, i64 key) const { return row[21] + (head * queries + query) * keys + key; }
  __device__ __forceinline__ i64 made(i64 query) const { return row[13] + head * row[14] + query * row[15]; }
};

// Rows of one head: element e of row r.
template <class T> struct Rows {
  const T *base;
  i64 apart, size, count;
  __device__ __forceinline__ Rows(const T *array, const i64 *places, i64 head, i64 count_, i64 size_) {
    apart = places[2];
    size = size_;
    count = count_;
    base = array + places[0] + head * places[1];
  }
  __device__ __forceinline__ acc<T> at(i64 r, i64 e) const {
    return r < count && e < size ? up(base[r * apart + e]) : acc<T>(0);
  }
};

// Which pairs meet, and what is added to their scores: by bools, by floats, or by neither.
template <class T> struct Mask {
  const bool *met;
  const T *added;
  i64 first, per_query, per_key;
  int causal;
  __device__ __forceinline__ Mask(const bool *met_, const T *added_, const i64 *places, i64 head, int causal_)
      : met(met_), added(added_), causal(causal_) {
    first = places[0] + head * places[1];
    per_query = places[2];
    per_key = places[3];
  }
  // Whether a query meets a key: both exist, and nothing leaves the key out.
  __device__ __forceinline__ bool meets(const Part &part, i64 query, i64 key, acc<T> &score) const {
    if (query >= part.queries || key >= part.keys || (causal && key > query)) return false;
    const i64 at = first + query * per_query + key * per_key;
    if (met) return met[at];
    if (!added) return true;
    const acc<T> own = up(added[at]);
    score += own;
    return own != Limits<T>::lowest();
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

// Columns c0 .. c0 + WIDE of ROWS rows from r0 on, into shared memory; zeros beyond the array.
template <int ROWS, class T, class A>
__device__ __forceinline__ void load_wide(const Rows<T> &from, i64 r0, i64 c0, A (&into)[ROWS][WIDE + 1]) {
#pragma unroll 1
  for (int k = threadIdx.x; k < ROWS * WIDE; k += THREADS)
    into[k / WIDE][k % WIDE] = from.at(r0 + k / WIDE, c0 + k % WIDE);
}
