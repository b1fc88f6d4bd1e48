// The cotangent of each segment's maximum, shared evenly by the rows that attain it.
#include "segment.cuh"

// No row attains a NaN. The share is then cotangent / 0, and 0 times the share is NaN in every row of the segment. In
// other segments a row that does not attain the maximum gets 0, even if the cotangent is NaN or infinite.
template <class T, int GROUP>
__global__ void __launch_bounds__(256)
segment_max_backward(const T *__restrict__ cotangent, const T *__restrict__ x, const T *__restrict__ maximum,
                     const i64 *__restrict__ offsets, i64 count, i64 columns, int lg, T *__restrict__ out) {
  typedef acc<T> A;
  __shared__ A shared[GROUP > 32 ? 256 : 1];
  const Lanes<GROUP, 1> at(count, columns, lg);
  const i64 first = at.in ? offsets[at.segment] : 0, last = at.in ? offsets[at.segment + 1] : 0;
  const i64 entry = at.segment * columns + at.col;
  const A top = at.in ? up(maximum[entry]) : A(0);

  A ties[1] = {A(0)};
  each(first + at.turn, last, (i64)at.step, [&](i64 r) { return up(x[r * columns + at.col]); },
       [&](i64, A v) { ties[0] += v == top ? A(1) : A(0); });
  join_rows<Sum>(ties, at, shared);
  if (!at.in) return;
  const A share = up(cotangent[entry]) / ties[0], rest = ties[0] > A(0) ? A(0) : A(0) * share;
  each(first + at.turn, last, (i64)at.step, [&](i64 r) { return up(x[r * columns + at.col]); },
       [&](i64 r, A v) { out[r * columns + at.col] = down<T>(v == top ? share : rest); });
}
