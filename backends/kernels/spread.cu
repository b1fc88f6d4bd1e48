// Copies the entry of each segment to all rows of the segment. A copy needs no dtype: U is a word of 1 to 16 bytes.
#include "segment.cuh"

template <class U, int GROUP>
__global__ void __launch_bounds__(256)
spread(const U *__restrict__ entries, const i64 *__restrict__ offsets, i64 count, i64 columns, int lg,
       U *__restrict__ out) {
  const Lanes<GROUP, 1> at(count, columns, lg);
  if (!at.in) return;
  const U entry = entries[at.segment * columns + at.col];
  each(offsets[at.segment] + at.turn, offsets[at.segment + 1], (i64)at.step, [&](i64) { return entry; },
       [&](i64 r, U v) { out[r * columns + at.col] = v; });
}
