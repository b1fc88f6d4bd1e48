// A number of one dtype as one of another, by integer arithmetic alone. No floating point unit takes part, and none can
// round twice or flush what is small: the bits are the same on every device.
#pragma once
#include "common.cuh"

// How a float is laid out: sign, exponent, and DIGITS binary digits of the fraction.
template <int DIGITS, int EXPONENT> struct Format {
  static constexpr int digits = DIGITS, bias = (1 << (EXPONENT - 1)) - 1, least = 1 - bias - DIGITS;
  static constexpr u64 infinity = ((u64(1) << EXPONENT) - 1) << DIGITS, sign = u64(1) << (DIGITS + EXPONENT);
};
template <class T> struct FormatOf { static constexpr bool is_float = false; };
#define PYNESTED_FORMAT(T, DIGITS, EXPONENT) \
  template <> struct FormatOf<T> : Format<DIGITS, EXPONENT> { static constexpr bool is_float = true; };
PYNESTED_FORMAT(__half, 10, 5)
PYNESTED_FORMAT(__nv_bfloat16, 7, 8)
PYNESTED_FORMAT(float, 23, 8)
PYNESTED_FORMAT(double, 52, 11)

// digits * 2^exponent; a NaN has no digits of its own.
struct Number {
  bool negative, infinite, nan;
  u64 digits;
  int exponent;
};

template <class T> __device__ __forceinline__ Number taken_apart(T v) {
  if constexpr (FormatOf<T>::is_float) {
    typedef FormatOf<T> F;
    u64 word = 0;
    memcpy(&word, &v, sizeof(T));
    const u64 magnitude = word & (F::sign - 1), fraction = magnitude & ((u64(1) << F::digits) - 1);
    const int field = (int)(magnitude >> F::digits);
    const u64 digits = field ? fraction | u64(1) << F::digits : fraction;
    const bool beyond = magnitude >= F::infinity;
    return {word >= F::sign, beyond, magnitude > F::infinity, digits, F::least + (field ? field - 1 : 0)};
  } else {
    const i64 wide = v;
    return {wide < 0, false, false, wide < 0 ? u64(0) - (u64)wide : (u64)wide, 0};
  }
}

// digits / 2^shift, to the nearest integer, and of two equally near ones to the even one.
__device__ __forceinline__ u64 rounded(u64 digits, int shift) {
  if (shift <= 0) return digits << -shift;
  if (shift > 64) return 0;
  const u64 kept = shift == 64 ? 0 : digits >> shift, half = u64(1) << (shift - 1);
  const u64 rest = shift == 64 ? digits : digits & (half + (half - 1));
  return kept + (rest > half || (rest == half && (kept & 1)));
}

// The nearest float, an infinity where it would be beyond the largest.
template <class T> __device__ __forceinline__ T nearest(Number n) {
  typedef FormatOf<T> F;
  u64 word = n.nan ? F::infinity + (u64(1) << (F::digits - 1)) : F::infinity;
  if (!n.infinite) {
    const int top = n.exponent + 63 - __clzll((i64)n.digits), last = top - F::digits;
    const int unit = last > F::least ? last : F::least;
    const u64 kept = n.digits ? rounded(n.digits, unit - n.exponent) : 0;
    const u64 shown = n.digits ? ((u64)(unit - F::least) << F::digits) + kept : 0;
    word = shown < F::infinity ? shown : F::infinity;
  }
  word |= n.negative ? F::sign : 0;
  T v;
  memcpy(&v, &word, sizeof(T));
  return v;
}

// The integer that is left without the fraction, or the nearest end of the range; 0 for NaN, which is a true bool.
template <class T> __device__ __forceinline__ T truncated(Number n) {
  if (n.nan) return T(0);
  const u64 end = n.negative ? u64(0) - (u64)Limits<T>::lowest() : (u64)Limits<T>::highest();
  u64 size = 0;
  if (n.infinite || (n.digits && n.exponent > __clzll((i64)n.digits))) size = end;
  else if (n.exponent >= 0) size = n.digits << n.exponent;
  else if (n.exponent > -64) size = n.digits >> -n.exponent;
  size = size < end ? size : end;
  return (T)(i64)(n.negative ? u64(0) - size : size);
}

template <> __device__ __forceinline__ bool truncated<bool>(Number n) { return n.infinite || n.digits; }

template <class From, class To> __device__ __forceinline__ To converted(From v) {
  if constexpr (FormatOf<To>::is_float) return nearest<To>(taken_apart(v));
  else if constexpr (FormatOf<From>::is_float) return truncated<To>(taken_apart(v));
  else return (To)v;  // the low bits, and of a bool whether there are any
}
