// What the emulation promises of the language, a kernel for each part.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void reversed(const T *x, T *out, int n) {
  __shared__ T s[128];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  out[t] = s[n - 1 - t];
}

template <class T>
__global__ void collectives(T *out) {
  const int t = threadIdx.x, l = t & 31;
  const unsigned full = 0xffffffffu;
  out[0 * 64 + t] = (T)__ballot_sync(full, l % 3 == 0);
  out[1 * 64 + t] = __any_sync(full, l == 7 && t > 32) * 2 + __all_sync(full, l >= 0);
  out[2 * 64 + t] = __shfl_up_sync(full, t, 1);
  out[3 * 64 + t] = __shfl_down_sync(full, t, 5, 8);
  out[4 * 64 + t] = __shfl_sync(full, t, 3, 16);
  out[5 * 64 + t] = __syncthreads_count(t % 2) * 100 + __syncthreads_or(t == 3) * 10 + __syncthreads_and(t < 64);
  if (l < 16)
    out[6 * 64 + t] = __shfl_xor_sync(0xffffu, t, 4);
  else
    out[6 * 64 + t] = __shfl_xor_sync(0xffff0000u, t * 2, 4);
  __syncwarp();
}

template <class T>
__global__ void coordinates(T *out) {
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = thread + 1000 * block;
}

__device__ float wide(__half x) { return __half2float(x); }
__device__ float wide(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void narrow(float x, __half &out) { out = __float2half_rn(x); }
__device__ void narrow(float x, __nv_bfloat16 &out) { out = __float2bfloat16_rn(x); }

template <class T>
__global__ void widened(const T *x, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = wide(x[i]);
}

template <class T>
__global__ void narrowed(const float *x, T *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) narrow(x[i], out[i]);
}

template <class T>
__global__ void counted(T *out, long long a, int b, double c, float d) {
  if (out) out[threadIdx.x] = (T)(a + b + c + d);
}
