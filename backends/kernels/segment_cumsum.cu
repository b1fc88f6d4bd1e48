// Running sums of the rows of each segment, from the first row on or backwards from the last.
#include "segment.cuh"

// Threads as in `Lanes`, a warp for each segment. It adds as many rows at once as there are turns, and carries the sum
// to the next rows.
template <class T>
__global__ void __launch_bounds__(256)
segment_cumsum(const T *__restrict__ values, const i64 *__restrict__ offsets, i64 count, i64 columns, int lg,
               bool backwards, T *__restrict__ out) {
  typedef acc<T> A;
  const Lanes<32, 1> at(count, columns, lg);
  const bool some = at.segment < count;  // the same for all lanes: those beyond the columns take part in the shuffles
  const i64 first = some ? offsets[at.segment] : 0, last = some ? offsets[at.segment + 1] : 0;
  A carried = A(0);
#pragma unroll 1
  for (i64 row = first + at.turn; row - at.turn < last; row += at.step) {
    const bool live = at.in && row < last;
    const i64 place = (backwards ? first + last - 1 - row : row) * columns + at.col;
    A sum = live ? up(values[place]) : A(0);
    for (int o = at.width; o < 32; o <<= 1) {
      const A before = __shfl_up_sync(FULL, sum, o);
      if (at.t >= o) sum = plus(before, sum);
    }
    sum = plus(carried, sum);
    if (live) out[place] = down<T>(sum);
    carried = __shfl_sync(FULL, sum, 32 - at.width + at.lane);
  }
}
