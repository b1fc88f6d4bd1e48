// The vectors of the specification without Python: reads every file, and holds four small operators against them.
// Run by: node docs/vectors.mjs [FOLDER]. The format is explained in spec/README.md; 1 at the end where one differs.
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

class Beyond extends Error {} // what this reader does not do
class Refused extends Error {} // what nobody may do; the message is the kind of error

// 1. Words: an integer is a BigInt, a float a number. So an int64 keeps all of its digits, and 1 is not 1.0.
const WIDTH = { bool: 1, int8: 2, uint8: 2, int16: 4, int32: 8, int64: 16, float16: 4, float32: 8, float64: 16 };
const isFloat = (dtype) => dtype.startsWith("float");
const split = (bits, dtype) => bits.match(new RegExp(`.{${WIDTH[dtype]}}`, "g")) ?? [];
function number(word, dtype) {
  if (dtype === "float64") return Buffer.from(word, "hex").readDoubleBE();
  if (dtype === "float32") return Buffer.from(word, "hex").readFloatBE();
  const n = parseInt(word, 16), exponent = (n >> 10) & 31, fraction = n & 1023, sign = n >> 15 ? -1 : 1;
  if (dtype !== "float16") return fitted(BigInt(`0x${word}`), dtype);
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
}
function fitted(x, dtype) { // what a dtype can hold: an integer wraps around, a float is rounded, ties to even
  if (dtype === "bool") return BigInt(x !== 0n);
  if (!isFloat(dtype)) return dtype === "uint8" ? BigInt.asUintN(8, x) : BigInt.asIntN(4 * WIDTH[dtype], x);
  if (dtype !== "float16" || !Number.isFinite(x)) return dtype === "float32" ? Math.fround(x) : x;
  let unit = 2 ** -24; // of float16 the last digit
  while (Math.abs(x) >= 2048 * unit) unit *= 2;
  const whole = Math.floor(Math.abs(x) / unit), rest = Math.abs(x) / unit - whole;
  const size = unit * (whole + (rest > 0.5 || (rest === 0.5 && whole % 2 === 1)));
  return (x < 0 || Object.is(x, -0) ? -1 : 1) * (size > 65504 ? Infinity : size);
}

// 2. Arguments: a nested array is {dtype, shape, parts: [{sizes, values}]}, and numbers say what they are.
function opened(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(opened); // a tuple
  if ("int" in value) return BigInt(value.int);
  if ("float" in value) return Number(value.float);
  if (!("nested" in value)) throw new Beyond();
  const { dtype, shape, shapes, bits } = value.nested;
  const numbers = (i) => split(bits[i], dtype).map((word) => number(word, dtype));
  return { dtype, shape, parts: shapes.map((sizes, i) => ({ sizes, values: numbers(i) })) };
}

// 3. Four operators. A result has parts, one for each component, or is whole: one array.
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const sizesOf = (x) => x.parts.map((part) => part.sizes);
const mapped = (x, f) =>
  ({ ...x, parts: x.parts.map(({ sizes, values }, i) => ({ sizes, values: values.map((v, j) => f(v, i, j)) })) });
function meet(x, y) { // two nested operands; sizes of 1, which may stretch, are left to others
  if (!y?.parts || [x, y].some(({ shape }) => shape.slice(1).includes(1))) throw new Beyond();
  if (!same(x.shape, y.shape) || !same(sizesOf(x), sizesOf(y))) throw new Refused("StructureError");
}
function filler(x, value) { // a number as an element of x
  if (typeof value !== (isFloat(x.dtype) ? "number" : "bigint")) throw new Beyond();
  const fits = isFloat(x.dtype) || fitted(value, x.dtype) === value;
  if (!fits) throw new Refused(x.dtype === "bool" ? "DTypeError" : "OverflowError");
  return fitted(value, x.dtype);
}
function add(x, y) {
  if (x.dtype === "bool" || (y?.parts && x.dtype !== y.dtype)) throw new Beyond(); // promotion
  const other = y?.parts ? meet(x, y) : filler(x, y);
  return mapped(x, (v, i, j) => fitted(v + (other ?? y.parts[i].values[j]), x.dtype));
}
function exp(x) {
  if (!isFloat(x.dtype)) throw new Beyond();
  return mapped(x, (v) => fitted(Math.exp(v), x.dtype));
}
function masked_fill(x, mask, value) {
  if (mask.dtype !== "bool") throw new Refused("DTypeError");
  const fill = filler(x, value);
  meet(x, mask);
  return mapped(x, (v, i, j) => (mask.parts[i].values[j] ? fill : v));
}
function sum(x, dim = null, keepdim = false) {
  const rank = BigInt(x.shape.length), asked = dim === null ? x.shape.map((_, d) => BigInt(d)) : [dim].flat();
  if (!asked.every((d) => typeof d === "bigint")) throw new Refused("ArgumentError"); // 1.0 is no dimension
  const dims = new Set(asked.map((d) => Number(d < 0n ? d + rank : d)));
  if (dims.size < asked.length || asked.some((d) => d < -rank || d >= rank)) throw new Refused("DimensionError");
  const zero = isFloat(x.dtype) ? 0 : 0n, dtype = isFloat(x.dtype) ? x.dtype : "int64";
  const left = (sizes) => sizes.filter((_, d) => keepdim || !dims.has(d + 1));
  function total(parts, longest) { // of components that lie left-aligned in an array of these sizes
    const sizes = longest.map((size, d) => (dims.has(d + 1) ? 1 : size));
    const sums = Array(sizes.reduce((a, b) => a * b, 1)).fill(zero);
    for (const part of parts) part.values.forEach((v, place) => {
      let at = 0, step = 1;
      for (let d = sizes.length - 1; d >= 0; d--) {
        if (!dims.has(d + 1)) at += (place % part.sizes[d]) * step;
        place = Math.floor(place / part.sizes[d]);
        step *= sizes[d];
      }
      sums[at] += v;
    });
    return { sizes: left(sizes), values: sums.map((v) => fitted(v, dtype)) };
  }
  if (!dims.has(0)) return { dtype, parts: x.parts.map((part) => total([part], part.sizes)) };
  const longest = x.shape.slice(1).map((size, d) => size ?? Math.max(0, ...sizesOf(x).map((sizes) => sizes[d])));
  const { sizes, values } = total(x.parts, longest);
  return { dtype, whole: { sizes: keepdim ? [1, ...sizes] : sizes, values } };
}
const OPERATORS = {
  add: [add, "self", "other"],
  exp: [exp, "self"],
  masked_fill: [masked_fill, "self", "mask", "value"],
  sum: [sum, "self", "dim", "keepdim"],
};

// 4. The comparison, word by word or within a bound.
function meets(got, place, dtype, { cmp, bits, hi, lo, tol, open }) {
  if (cmp === "exact") {
    const word = split(bits, dtype)[place];
    return { n: Number.isNaN(got), z: got === 0, u: true }[word[0]] ?? Object.is(got, number(word, dtype));
  }
  const [high, low, most] = [hi, lo, tol].map((words) => number(split(words, "float64")[place], "float64"));
  if (open?.[place] === "1" && !Number.isFinite(got)) return true;
  return Number.isFinite(high) ? Math.abs(got - high - low) <= most : Object.is(got, high); // an infinity, or NaN
}
function agrees({ dtype, parts, whole }, { nested, dense }) {
  if (dtype !== (nested ?? dense).dtype) return false;
  if (dense && parts) { // an array (B, ...) stands for its slices
    if (!same(sizesOf({ parts }), Array(dense.shape[0]).fill(dense.shape.slice(1)))) return false;
    whole = { sizes: dense.shape, values: parts.flatMap((part) => part.values) };
  }
  const fits = ({ sizes, values }, wanted, fields) =>
    same(sizes, wanted) && values.every((v, i) => meets(v, i, dtype, fields));
  if (dense) return fits(whole, dense.shape, dense);
  const of = (own, i) => (Array.isArray(own) ? own[i] : own);
  const fields = (i) => Object.fromEntries(Object.entries(nested).map(([name, own]) => [name, of(own, i)]));
  return parts?.length === nested.shapes.length && parts.every((part, i) => fits(part, nested.shapes[i], fields(i)));
}
function verdict(op, { args, kwargs, expect }) {
  const [call, ...names] = OPERATORS[op];
  try {
    if (Object.keys(kwargs).some((name) => !names.includes(name))) throw new Beyond();
    const [self, ...given] = names.map((name, i) => opened(i < args.length ? args[i] : kwargs[name]));
    if (!self?.parts) throw new Beyond();
    const result = call(self, ...given);
    return !expect.error && agrees(result, expect) ? "agree" : "DIFFER";
  } catch (problem) {
    if (problem instanceof Beyond) return "are beyond this reader";
    if (problem instanceof Refused) return problem.message === expect.error?.kind ? "agree" : "DIFFER";
    throw problem;
  }
}

// 5. All files of operators are read; those of the four are held. (Programs are files of another format.)
const folder = process.argv[2] ?? fileURLToPath(new URL("../spec/vectors", import.meta.url)), found = {};
for (const name of readdirSync(folder, { recursive: true }).filter((one) => /^(?!programs).*\.json$/.test(one))) {
  const { format, op, count, cases } = JSON.parse(readFileSync(`${folder}/${name}`, "utf8"));
  if (!format.startsWith("pynested-vectors/")) continue;
  if (format !== "pynested-vectors/2" || count !== cases.length) throw new Error(`${name}: ${format}, ${count} cases`);
  for (const one of op in OPERATORS ? cases : []) {
    const came = verdict(op, one), counts = (found[op] ??= {});
    counts[came] = (counts[came] ?? 0) + 1;
    if (came === "DIFFER") console.log(`differs: ${one.id}`);
  }
}
for (const [op, counts] of Object.entries(found).sort())
  console.log(`${op}: ${Object.entries(counts).sort().map(([came, n]) => `${n} ${came}`).join(", ")}`);
process.exitCode = Object.values(found).some((counts) => counts.DIFFER) ? 1 : 0;
