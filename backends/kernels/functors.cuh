// Functions of elements, as structs: `of` takes numbers of the accumulator's type, and returns one, or a bool.
//
// A generated kernel calls them by the names of the kernels (pynested/graph/cuda_program.py): `less_equal` is LessEqual.
// Sums, differences, products and quotients are rounded one by one: the compiler contracts none of them.
#pragma once
#include "cast.cuh"

// The number that is read after it was stored as a T.
template <class T> __device__ __forceinline__ acc<T> rounded(acc<T> v) { return up(down<T>(v)); }

// A function of the language, in either precision.
#define PYNESTED_FUNCTION(NAME, FLOAT, DOUBLE)                                         \
  struct NAME {                                                                        \
    static __device__ __forceinline__ float of(float x) { return FLOAT(x); }           \
    static __device__ __forceinline__ double of(double x) { return DOUBLE(x); }        \
  };
#define PYNESTED_FUNCTION_OF_TWO(NAME, FLOAT, DOUBLE)                                       \
  struct NAME {                                                                             \
    static __device__ __forceinline__ float of(float a, float b) { return FLOAT(a, b); }    \
    static __device__ __forceinline__ double of(double a, double b) { return DOUBLE(a, b); } \
  };

// ---- arithmetic
PYNESTED_FUNCTION_OF_TWO(Add, __fadd_rn, __dadd_rn)
PYNESTED_FUNCTION_OF_TWO(Subtract, __fsub_rn, __dsub_rn)
PYNESTED_FUNCTION_OF_TWO(Multiply, __fmul_rn, __dmul_rn)
PYNESTED_FUNCTION_OF_TWO(Divide, __fdiv_rn, __ddiv_rn)
struct Negative { template <class A> static __device__ __forceinline__ A of(A x) { return -x; } };
struct Maximum {  // NaN wins
  template <class A> static __device__ __forceinline__ A of(A a, A b) { return a >= b || a != a ? a : b; }
};
struct Minimum {
  template <class A> static __device__ __forceinline__ A of(A a, A b) { return a <= b || a != a ? a : b; }
};

// ---- comparisons, and functions of bools
struct Less { template <class A> static __device__ __forceinline__ bool of(A a, A b) { return a < b; } };
struct LessEqual { template <class A> static __device__ __forceinline__ bool of(A a, A b) { return a <= b; } };
struct Greater { template <class A> static __device__ __forceinline__ bool of(A a, A b) { return a > b; } };
struct GreaterEqual { template <class A> static __device__ __forceinline__ bool of(A a, A b) { return a >= b; } };
struct Equal { template <class A> static __device__ __forceinline__ bool of(A a, A b) { return a == b; } };
struct NotEqual { template <class A> static __device__ __forceinline__ bool of(A a, A b) { return a != b; } };
struct Isnan { template <class A> static __device__ __forceinline__ bool of(A a) { return a != a; } };
struct Isinf { template <class A> static __device__ __forceinline__ bool of(A a) { return a == a && a - a != A(0); } };
struct Isfinite { template <class A> static __device__ __forceinline__ bool of(A a) { return a - a == A(0); } };
struct LogicalNot { template <class A> static __device__ __forceinline__ bool of(A a) { return !(a != A(0)); } };
struct LogicalAnd {  // all numbers but zeros are true, and so is NaN
  template <class A> static __device__ __forceinline__ bool of(A a, A b) { return a != A(0) && b != A(0); }
};
struct LogicalOr {
  template <class A> static __device__ __forceinline__ bool of(A a, A b) { return a != A(0) || b != A(0); }
};
struct LogicalXor {
  template <class A> static __device__ __forceinline__ bool of(A a, A b) { return (a != A(0)) != (b != A(0)); }
};
struct ZerosLike { template <class A> static __device__ __forceinline__ A of(A) { return A(0); } };
struct Invert { static __device__ __forceinline__ bool of(bool a) { return !a; } };
struct BitwiseAnd { static __device__ __forceinline__ bool of(bool a, bool b) { return a && b; } };
struct BitwiseOr { static __device__ __forceinline__ bool of(bool a, bool b) { return a || b; } };
struct BitwiseXor { static __device__ __forceinline__ bool of(bool a, bool b) { return a != b; } };
struct Where { template <class A> static __device__ __forceinline__ A of(bool c, A a, A b) { return c ? a : b; } };

// ---- the functions of the language's own library
PYNESTED_FUNCTION(Absolute, fabsf, fabs)
PYNESTED_FUNCTION(Sqrt, sqrtf, sqrt)
PYNESTED_FUNCTION(Cbrt, cbrtf, cbrt)
PYNESTED_FUNCTION(Exp, expf, exp)
PYNESTED_FUNCTION(Exp2, exp2f, exp2)
PYNESTED_FUNCTION(Expm1, expm1f, expm1)
PYNESTED_FUNCTION(Log, logf, log)
PYNESTED_FUNCTION(Log2, log2f, log2)
PYNESTED_FUNCTION(Log10, log10f, log10)
PYNESTED_FUNCTION(Log1p, log1pf, log1p)
PYNESTED_FUNCTION(Sin, sinf, sin)
PYNESTED_FUNCTION(Cos, cosf, cos)
PYNESTED_FUNCTION(Tan, tanf, tan)
PYNESTED_FUNCTION(Arcsin, asinf, asin)
PYNESTED_FUNCTION(Arccos, acosf, acos)
PYNESTED_FUNCTION(Arctan, atanf, atan)
PYNESTED_FUNCTION(Sinh, sinhf, sinh)
PYNESTED_FUNCTION(Cosh, coshf, cosh)
PYNESTED_FUNCTION(Tanh, tanhf, tanh)
PYNESTED_FUNCTION(Arcsinh, asinhf, asinh)
PYNESTED_FUNCTION(Arccosh, acoshf, acosh)
PYNESTED_FUNCTION(Arctanh, atanhf, atanh)
PYNESTED_FUNCTION(Floor, floorf, floor)
PYNESTED_FUNCTION(Ceil, ceilf, ceil)
PYNESTED_FUNCTION(Rint, rintf, rint)
PYNESTED_FUNCTION(Trunc, truncf, trunc)
PYNESTED_FUNCTION_OF_TWO(Power, powf, pow)
PYNESTED_FUNCTION_OF_TWO(Fmod, fmodf, fmod)
PYNESTED_FUNCTION_OF_TWO(Copysign, copysignf, copysign)
struct Deg2rad {
  template <class A> static __device__ __forceinline__ A of(A x) { return Multiply::of(x, A(0.01745329251994329577)); }
};

struct Remainder {  // with the sign of the divisor, rounded once
  template <class A> static __device__ __forceinline__ A of(A a, A b) {
    A rest = Fmod::of(a, b);
    if (rest != A(0) && (rest < A(0)) != (b < A(0))) rest += b;
    return rest == A(0) ? Copysign::of(A(0), b) : rest;
  }
};
struct FloorDivide {  // rounded down: 1.0 // 0.1 is 9, since 0.1 is a little more than a tenth
  template <class A> static __device__ __forceinline__ A of(A a, A b) {
    const A rest = Fmod::of(a, b), whole = Divide::of(a, b);
    if (b == A(0)) return whole;
    const A quotient = Divide::of(a - rest, b) - A(rest != A(0) && (rest < A(0)) != (b < A(0)));
    if (quotient == A(0)) return Copysign::of(A(0), whole);
    const A below = Floor::of(quotient);
    return quotient - below > A(0.5) ? below + A(1) : below;
  }
};
struct Logaddexp {
  template <class A> static __device__ __forceinline__ A of(A a, A b) {
    const A apart = a == b ? A(0) : Absolute::of(a - b);  // of two infinities too
    return Maximum::of(a, b) + Log1p::of(Exp::of(-apart));
  }
};

// ---- functions with kernels of their own, and their adjoints
__device__ __forceinline__ float erf_(float x) { return erff(x); }
__device__ __forceinline__ double erf_(double x) { return erf(x); }
__device__ __forceinline__ float erfc_(float x) { return erfcf(x); }
__device__ __forceinline__ double erfc_(double x) { return erfc(x); }
__device__ __forceinline__ float tanh_(float x) { return tanhf(x); }
__device__ __forceinline__ double tanh_(double x) { return tanh(x); }

// For smaller x, exp(-x) overflows or nearly overflows, but x exp(x) is still a number.
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
struct GeluTanhBackward {  // slope * x * x, not x * x * slope: for large x, x * x overflows and slope is 0
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
