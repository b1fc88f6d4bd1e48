// Rows added at their index: the adjoint of take_rows.
#include "segment.cuh"

// Threads as in `Lanes`. `order` sorts the terms by their index: its segment i has the terms of row i. The order of the
// additions follows from the launch, so the result is repeatable; that of atomic additions would not be.
template <class T, int GROUP>
__global__ void __launch_bounds__(256)
add_rows(const T *__restrict__ terms, const i64 *__restrict__ order, const i64 *__restrict__ starts, i64 count,
         i64 columns, int lg, T *__restrict__ out) {
  typedef acc<T> A;
  __shared__ A shared[GROUP > 32 ? 256 : 1];
  const Lanes<GROUP, 1> at(count, columns, lg);
  const i64 first = at.in ? starts[at.segment] : 0, last = at.in ? starts[at.segment + 1] : 0;

  A sum[1] = {A(0)};
  each(first + at.turn, last, (i64)at.step, [&](i64 r) { return up(terms[order[r] * columns + at.col]); },
       [&](i64, A v) { sum[0] = plus(sum[0], v); });
  join_rows<Sum>(sum, at, shared);
  if (at.turn == 0 && at.in) out[at.segment * columns + at.col] = down<T>(sum[0]);
}
