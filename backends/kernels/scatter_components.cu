// Packed components put where they lie in a buffer; no two elements lie in one place.
#include "strided.cuh"

// starts[s] is the first tile of component s. Array 0 is the packed input, array 1 the buffer. Grid: tiles.
template <class T, int ND, class I>
__global__ void __launch_bounds__(256)
scatter_components(const i64 *__restrict__ meta, const i64 *__restrict__ starts, i64 count, const T *__restrict__ flat,
                   T *__restrict__ buffer) {
  const i64 s = find_segment(starts, count, blockIdx.x);
  const Component<ND, 2, I> component(meta + s * (ND + 2 * (ND + 1)));
  component.visit(blockIdx.x - starts[s], [&](const i64(&at)[2]) {
    buffer[at[1]] = down<T>(plus(acc<T>(0), up(flat[at[0]])));  // added to zero, so that -0 becomes 0
  });
}
