// Elementwise work on two operands whose components lie anywhere, packed one after the other.
#include "strided.cuh"

struct Add { template <class A> static __device__ __forceinline__ A of(A a, A b) { return a + b; } };
struct Sub { template <class A> static __device__ __forceinline__ A of(A a, A b) { return a - b; } };
struct Mul { template <class A> static __device__ __forceinline__ A of(A a, A b) { return a * b; } };
struct Div { template <class A> static __device__ __forceinline__ A of(A a, A b) { return a / b; } };

// starts[s] is the first tile of component s. Arrays 0 and 1 are the operands, array 2 the packed result. Grid: tiles.
template <class Op, class T, int ND, class I>
__global__ void __launch_bounds__(256)
strided_binary(const i64 *__restrict__ meta, const i64 *__restrict__ starts, i64 count, const T *__restrict__ a,
               const T *__restrict__ b, T *__restrict__ out) {
  const i64 s = find_segment(starts, count, blockIdx.x);
  const Component<ND, 3, I> component(meta + s * (ND + 3 * (ND + 1)));
  component.visit(blockIdx.x - starts[s],
                  [&](const i64(&at)[3]) { out[at[2]] = down<T>(Op::of(up(a[at[0]]), up(b[at[1]]))); });
}
