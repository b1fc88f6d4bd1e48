// Softmax of each segment of a (rows, columns) array, and its adjoint. Dense rows are segments of one column.
#include "online.cuh"
#include "segment.cuh"

// Rows of a thread that stay in registers, so that a short segment is read once. Threads as in `Lanes`.
enum { REGISTER_ROWS = 4 };

template <class T, int GROUP>
__global__ void __launch_bounds__(256)
segment_softmax(const T *__restrict__ x, const i64 *__restrict__ offsets, i64 count, i64 columns, int lg,
                T *__restrict__ y) {
  typedef acc<T> A;
  __shared__ Online<A> shared[GROUP > 32 ? 256 : 1];
  const Lanes<GROUP, 1> at(count, columns, lg);
  const i64 first = at.in ? offsets[at.segment] + at.turn : 0, last = at.in ? offsets[at.segment + 1] : 0;
  const i64 beyond = first + (i64)REGISTER_ROWS * at.step;

  A kept[REGISTER_ROWS];
  Online<A> total[1] = {nothing<A>()};
#pragma unroll
  for (int k = 0; k < REGISTER_ROWS; ++k) {
    const i64 r = first + (i64)k * at.step;
    kept[k] = r < last ? up(x[r * columns + at.col]) : Limits<T>::lowest();
  }
#pragma unroll
  for (int k = 0; k < REGISTER_ROWS; ++k) total[0].add(kept[k]);
  const auto load = [&](i64 r) { return up(x[r * columns + at.col]); };
  each(beyond, last, (i64)at.step, load, [&](i64, A v) { total[0].add(v); });
  join_rows<Merge>(total, at, shared);

  if (!at.in) return;
  const A m = total[0].m, scale = A(1) / total[0].s;
#pragma unroll
  for (int k = 0; k < REGISTER_ROWS; ++k) {
    const i64 r = first + (i64)k * at.step;
    if (r < last) y[r * columns + at.col] = down<T>(exp_(kept[k] - m) * scale);
  }
  each(beyond, last, (i64)at.step, load,
       [&](i64 r, A v) { y[r * columns + at.col] = down<T>(exp_(v - m) * scale); });
}

template <class A> struct Pair { A y, g; };

// y * (cotangent - sum over the segment of y * cotangent)
template <class T, int GROUP>
__global__ void __launch_bounds__(256)
segment_softmax_backward(const T *__restrict__ cotangent, const T *__restrict__ y, const i64 *__restrict__ offsets,
                         i64 count, i64 columns, int lg, T *__restrict__ out) {
  typedef acc<T> A;
  __shared__ A shared[GROUP > 32 ? 256 : 1];
  const Lanes<GROUP, 1> at(count, columns, lg);
  const i64 first = at.in ? offsets[at.segment] + at.turn : 0, last = at.in ? offsets[at.segment + 1] : 0;
  const i64 beyond = first + (i64)REGISTER_ROWS * at.step;

  Pair<A> kept[REGISTER_ROWS];
  A dot[1] = {A(0)};
  const auto load = [&](i64 r) {
    return Pair<A>{up(y[r * columns + at.col]), up(cotangent[r * columns + at.col])};
  };
#pragma unroll
  for (int k = 0; k < REGISTER_ROWS; ++k) {
    const i64 r = first + (i64)k * at.step;
    kept[k] = r < last ? load(r) : Pair<A>{A(0), A(0)};
  }
#pragma unroll
  for (int k = 0; k < REGISTER_ROWS; ++k) dot[0] += kept[k].y * kept[k].g;
  each(beyond, last, (i64)at.step, load, [&](i64, Pair<A> p) { dot[0] += p.y * p.g; });
  join_rows<Sum>(dot, at, shared);

  if (!at.in) return;
#pragma unroll
  for (int k = 0; k < REGISTER_ROWS; ++k) {
    const i64 r = first + (i64)k * at.step;
    if (r < last) out[r * columns + at.col] = down<T>(kept[k].y * (kept[k].g - dot[0]));
  }
  each(beyond, last, (i64)at.step, load,
       [&](i64 r, Pair<A> p) { out[r * columns + at.col] = down<T>(p.y * (p.g - dot[0])); });
}
