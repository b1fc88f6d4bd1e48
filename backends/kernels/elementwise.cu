// Functions of one element, and their adjoints.
#include "common.cuh"

__device__ __forceinline__ float erf_(float x) { return erff(x); }
__device__ __forceinline__ double erf_(double x) { return erf(x); }
__device__ __forceinline__ float erfc_(float x) { return erfcf(x); }
__device__ __forceinline__ double erfc_(double x) { return erfc(x); }
__device__ __forceinline__ float tanh_(float x) { return tanhf(x); }
__device__ __forceinline__ double tanh_(double x) { return tanh(x); }

// Below, exp(-x) overflows or soon will, though x exp(x) is still a number.
template <class A> struct Tail;
template <> struct Tail<float> { static __device__ __forceinline__ float below() { return -80.f; } };
template <> struct Tail<double> { static __device__ __forceinline__ double below() { return -700.; } };

// The normal distribution function; erfc keeps its small values accurate.
template <class A> __device__ __forceinline__ A normal(A x) { return A(0.5) * erfc_(x * A(-0.70710678118654752440)); }

// tanh(sqrt(2 / pi) (x + 0.044715 x^3)), for gelu's approximation.
template <class A> __device__ __forceinline__ A gelu_tanh(A x) {
  return tanh_(x * (A(0.79788456080286535588) * (A(1) + A(0.044715) * x * x)));
}

struct Relu {
  template <class A> static __device__ __forceinline__ A of(A x) { return x > A(0) || x != x ? x : A(0); }
};
struct Sgn {
  template <class A> static __device__ __forceinline__ A of(A x) {
    return x > A(0) ? A(1) : x < A(0) ? A(-1) : x == A(0) ? A(0) : x;
  }
};
struct Erf { template <class A> static __device__ __forceinline__ A of(A x) { return erf_(x); } };
struct Erfc { template <class A> static __device__ __forceinline__ A of(A x) { return erfc_(x); } };
struct Gelu { template <class A> static __device__ __forceinline__ A of(A x) { return x * normal(x); } };
struct GeluTanh {
  template <class A> static __device__ __forceinline__ A of(A x) { return (A(1) + gelu_tanh(x)) * (A(0.5) * x); }
};
struct Silu {
  template <class A> static __device__ __forceinline__ A of(A x) {
    if (x >= Tail<A>::below() || x != x) return x / (A(1) + exp_(-x));
    const A root = exp_(A(0.5) * x);
    return x * root * root;
  }
};

struct ReluBackward {  // of the output y
  template <class A> static __device__ __forceinline__ A of(A g, A y) { return y > A(0) || y != y ? g : A(0); }
};
struct GeluBackward {
  template <class A> static __device__ __forceinline__ A of(A g, A x) {
    return (exp_(A(-0.5) * x * x) * A(0.39894228040143267794) * x + normal(x)) * g;
  }
};
struct GeluTanhBackward {  // x multiplies the slope, which vanishes for large x, and never itself, which would overflow
  template <class A> static __device__ __forceinline__ A of(A g, A x) {
    const A t = gelu_tanh(x), slope = (A(1) - t * t) * A(0.39894228040143267794) * x;
    return (A(0.5) + A(0.5) * t + slope + slope * x * x * A(3 * 0.044715)) * g;
  }
};
struct SiluBackward {
  template <class A> static __device__ __forceinline__ A of(A g, A x) {
    const A s = A(1) / (A(1) + exp_(-x));
    return s * (A(1) + x * (A(1) - s)) * g;
  }
};

template <class Op, class T>
__global__ void __launch_bounds__(256)
unary(const T *__restrict__ x, i64 count, T *__restrict__ out) {
  typedef acc<T> A;
  each((i64)blockIdx.x * 256 + threadIdx.x, count, (i64)gridDim.x * 256, [&](i64 i) { return up(x[i]); },
       [&](i64 i, A v) { out[i] = down<T>(Op::of(v)); });
}

template <class A> struct Two { A a, b; };

template <class Op, class T>
__global__ void __launch_bounds__(256)
binary(const T *__restrict__ a, const T *__restrict__ b, i64 count, T *__restrict__ out) {
  typedef acc<T> A;
  each((i64)blockIdx.x * 256 + threadIdx.x, count, (i64)gridDim.x * 256,
       [&](i64 i) { return Two<A>{up(a[i]), up(b[i])}; },
       [&](i64 i, Two<A> v) { out[i] = down<T>(Op::of(v.a, v.b)); });
}
