// The sum, product, maximum or minimum of each segment of a (rows, columns) array.
#include "segment.cuh"

// Threads as in `Lanes`. A long segment is cut into pieces. One launch reduces the pieces, and a second launch of this
// kernel reduces their results, which are of a type O that may be wider than T.
template <class Op, class T, class O, int V, int GROUP>
__global__ void __launch_bounds__(256)
segment_reduce(const T *__restrict__ values, const i64 *__restrict__ offsets, i64 count, i64 columns, int lg,
               O *__restrict__ out) {
  typedef acc<T> A;
  __shared__ A shared[GROUP > 32 ? 256 * V : 1];
  const Lanes<GROUP, V> at(count, columns, lg);

  A a[V];
#pragma unroll
  for (int v = 0; v < V; ++v) a[v] = Op::template identity<T>();
  if (at.in)
    each(offsets[at.segment] + at.turn, offsets[at.segment + 1], (i64)at.step,
         [&](i64 r) { return *reinterpret_cast<const Pack<T, V> *>(values + r * columns + at.col); },
         [&](i64, const Pack<T, V> &p) {
#pragma unroll
           for (int v = 0; v < V; ++v) a[v] = Op::join(a[v], up(p.v[v]));
         });
  join_rows<Op>(a, at, shared);
  if (at.turn == 0 && at.in) {
    Pack<O, V> p;
#pragma unroll
    for (int v = 0; v < V; ++v) p.v[v] = down<O>((acc<O>)a[v]);
    *reinterpret_cast<Pack<O, V> *>(out + at.segment * columns + at.col) = p;
  }
}
