// Copies between jagged (rows, columns) and padded (segments, length, columns). A copy needs no dtype: U is a word of 1
// to 16 bytes, and `row` counts the words of a row.
#include "common.cuh"

template <class U> __device__ __forceinline__ U word(u64 low, u64) { return (U)low; }
template <> __device__ __forceinline__ ulonglong2 word(u64 low, u64 high) {
  ulonglong2 w;
  w.x = low;
  w.y = high;
  return w;
}

// Grid (segments, tiles). Both sides are contiguous within a segment, so nothing is divided.
template <class U>
__global__ void __launch_bounds__(256)
pad(const U *__restrict__ values, const i64 *__restrict__ offsets, i64 row, i64 length, u64 fill_low, u64 fill_high,
    U *__restrict__ padded) {
  const i64 first = offsets[blockIdx.x], full = (offsets[blockIdx.x + 1] - first) * row, total = length * row;
  const U fill = word<U>(fill_low, fill_high);
  values += first * row;
  padded += blockIdx.x * total;
  const i64 start = (i64)blockIdx.y * blockDim.x + threadIdx.x, step = (i64)gridDim.y * blockDim.x;
  each(start, full, step, [&](i64 i) { return values[i]; }, [&](i64 i, U v) { padded[i] = v; });
  each(full + start, total, step, [&](i64) { return fill; }, [&](i64 i, U v) { padded[i] = v; });
}

template <class U>
__global__ void __launch_bounds__(256)
unpad(const U *__restrict__ padded, const i64 *__restrict__ offsets, i64 row, i64 length, U *__restrict__ values) {
  const i64 first = offsets[blockIdx.x], full = (offsets[blockIdx.x + 1] - first) * row;
  padded += blockIdx.x * length * row;
  values += first * row;
  const i64 start = (i64)blockIdx.y * blockDim.x + threadIdx.x, step = (i64)gridDim.y * blockDim.x;
  each(start, full, step, [&](i64 i) { return padded[i]; }, [&](i64 i, U v) { values[i] = v; });
}
