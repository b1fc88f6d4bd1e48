// The row of the maximum or minimum of each segment, counted from the segment's first row; -1 for an empty segment.
#include "segment.cuh"

template <class A> struct Found { A value; i64 row; };

template <class A> __device__ __forceinline__ Found<A> from_lane(Found<A> a, int o) {
  return {__shfl_xor_sync(FULL, a.value, o), __shfl_xor_sync(FULL, a.row, o)};
}

// Joins two rows to the one whose value Op prefers: a NaN to all numbers, and of equal values the earlier one.
template <class Op> struct Preferred {
  template <class A> static __device__ __forceinline__ Found<A> join(Found<A> a, Found<A> b) {
    if (a.row < 0 || b.row < 0) return a.row < 0 ? b : a;
    const bool same = a.value == b.value || (a.value != a.value && b.value != b.value);
    if (same) return a.row < b.row ? a : b;
    const A best = Op::join(a.value, b.value);
    return (best == a.value || (best != best && a.value != a.value)) ? a : b;
  }
};

template <class Op, class T, int GROUP>
__global__ void __launch_bounds__(256)
segment_arg(const T *__restrict__ values, const i64 *__restrict__ offsets, i64 count, i64 columns, int lg,
            i64 *__restrict__ out) {
  typedef acc<T> A;
  __shared__ Found<A> shared[GROUP > 32 ? 256 : 1];
  const Lanes<GROUP, 1> at(count, columns, lg);
  const i64 first = at.in ? offsets[at.segment] : 0, last = at.in ? offsets[at.segment + 1] : 0;

  Found<A> best[1] = {{A(0), -1}};
  each(first + at.turn, last, (i64)at.step, [&](i64 r) { return up(values[r * columns + at.col]); },
       [&](i64 r, A v) { best[0] = Preferred<Op>::join(best[0], Found<A>{v, r - first}); });
  join_rows<Preferred<Op>>(best, at, shared);
  if (at.turn == 0 && at.in) out[at.segment * columns + at.col] = best[0].row;
}
