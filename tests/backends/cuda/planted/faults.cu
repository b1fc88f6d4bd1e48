// Planted faults, one a kernel: what the emulation must notice, alone or with a sanitizer.
#include <cuda_fp16.h>

template <class T>
__global__ void missing_barrier(const T *x, T *out, int n) {
  __shared__ T s[256];
  const int t = threadIdx.x;
  s[t] = x[t];
  const T v = s[(t + 40) % n];
  __syncthreads();
  out[t] = v;
}

template <class T>
__global__ void missing_second_barrier(const T *x, T *out, int n) {
  __shared__ T s[256];
  const int t = threadIdx.x;
  T v = x[t];
  for (int k = 0; k < 3; ++k) {
    s[t] = v;
    __syncthreads();
    v += s[(t + 40) % n];
  }
  out[t] = v;
}

template <class T>
__global__ void divergent_barrier(const T *x, T *out, int n) {
  if ((int)threadIdx.x < n / 2) __syncthreads();
  out[threadIdx.x] = x[threadIdx.x];
}

template <class T>
__global__ void different_barriers(const T *x, T *out, int n) {
  if ((int)threadIdx.x < n / 2)
    __syncthreads();
  else
    __syncthreads();
  out[threadIdx.x] = x[threadIdx.x];
}

template <class T>
__global__ void early_return(const T *x, T *out, int n) {
  if ((int)threadIdx.x >= n - 5) return;
  __syncthreads();
  out[threadIdx.x] = x[threadIdx.x];
}

template <class T>
__global__ void shuffle_of_dead_lanes(const T *x, T *out, int n) {
  if ((int)threadIdx.x >= n - 5) return;
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
}

template <class T>
__global__ void shuffle_from_outside(const T *x, T *out, int n) {
  if ((int)threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffu, x[threadIdx.x], n % 32 + 20);
}

template <class T>
__global__ void caller_outside_its_mask(const T *x, T *out, int n) {
  out[threadIdx.x] = __shfl_xor_sync(0xffffu, x[threadIdx.x % n], 1);
}

template <class T>
__global__ void waits_for_ever(const T *x, T *out, int n) {
  if ((int)threadIdx.x < n - 1)
    out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
  else
    __syncthreads();
}

template <class T>
__global__ void write_past_end(const T *x, T *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = x[i < n ? i : 0];
}

template <class T>
__global__ void read_past_end(const T *x, T *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i + 1];
}

template <class T>
__global__ void shared_past_end(const T *x, T *out, int n) {
  __shared__ T s[64];
  const int t = threadIdx.x;
  if (t <= 64) s[t] = x[t % n];
  __syncthreads();
  if (t < 64) out[t] = s[t];
}

template <class T> struct alignas(16) Four { T v[4]; };

template <class T>
__global__ void misaligned(const T *x, T *out, int n) {
  const Four<T> four = *reinterpret_cast<const Four<T> *>(x + 1 + 4 * (threadIdx.x % 8));
  out[threadIdx.x % n] = four.v[0];
}

template <class T>
__global__ void overflow_of_int(const T *x, T *out, int n) {
  const int big = 65536 * (n / 2);
  out[threadIdx.x] = x[(unsigned)(big * 1024) % n];
}

template <class T>
__global__ void blocks_race(const T *x, T *out, int n) {
  if (threadIdx.x == 0) out[0] += x[blockIdx.x % n];
}

template <class T>
__global__ void hole(const T *x, T *out, int n) {
  const int t = threadIdx.x;
  if (t != 7 && t < n) out[t] = x[t];
}
