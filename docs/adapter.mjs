// An adapter of pynested in JavaScript: a nested array is a list of components. Run by: node docs/adapter.mjs
import { createInterface } from "node:readline";

const CAPABILITIES = {
  operators: ["neg", "square", "exp", "sum"],
  layouts: ["jagged", "strided"],
  placements: ["packed"], // a list of components lies in memory in one way only
  dtypes: ["float32", "float64"],
};

// 1. Words: numbers as hexadecimal digits, the most significant one first.
const numbers = (bits, dtype) => {
  const bytes = Buffer.from(bits, "hex"), width = dtype === "float32" ? 4 : 8, found = [];
  for (let at = 0; at < bytes.length; at += width) {
    found.push(width === 4 ? bytes.readFloatBE(at) : bytes.readDoubleBE(at));
  }
  return found;
};
const words = (values, dtype) => {
  const width = dtype === "float32" ? 4 : 8, bytes = Buffer.alloc(width * values.length);
  values.forEach((x, i) => (width === 4 ? bytes.writeFloatBE(x, 4 * i) : bytes.writeDoubleBE(x, 8 * i)));
  return bytes.toString("hex");
};

// 2. Nested arrays: {dtype, shape, parts: [{sizes, values}]}, and results as the runner reads them.
const opened = ({ dtype, shape, shapes, bits }) =>
  ({ dtype, shape, parts: shapes.map((sizes, i) => ({ sizes, values: numbers(bits[i], dtype) })) });
const rows = ({ dtype, shape, bits }) => // a dense array of one dimension: its elements are the components
  ({ dtype, shape, parts: numbers(bits, dtype).map((x) => ({ sizes: [], values: [x] })) });
const nested = ({ dtype, shape, parts }) =>
  ({ nested: { dtype, shape, shapes: parts.map((p) => p.sizes), bits: parts.map((p) => words(p.values, dtype)) } });
const dense = ({ dtype, shape, parts }) =>
  ({ dense: { dtype, shape, bits: words(parts.flatMap((p) => p.values), dtype) } });
const mapped = (x, f, other = x) => ({ ...x, parts: x.parts.map((p, i) => f(p, other.parts[i])) });

// 3. What cannot be answered with a value: operators that are not here, and calls that are wrong.
class Missing extends Error {}
class DimensionError extends Error {}

// 4. Operators: each returns its result, and a function that pulls a cotangent back to the operand.
const elementwise = (f, slope) => (x) => [
  nested(mapped(x, ({ sizes, values }) => ({ sizes, values: values.map(f) }))),
  (c) => mapped(x, (p, g) => ({ ...p, values: p.values.map((v, i) => g.values[i] * slope(v)) }), c),
];
const product = (sizes) => sizes.reduce((a, b) => a * b, 1);
function sum(x, dim, keepdim, layout) {
  if (!Number.isInteger(dim)) throw new Missing("only a single dimension is summed here");
  if (dim < -x.shape.length || dim >= x.shape.length) throw new DimensionError(`no dimension ${dim}`);
  const axis = (dim < 0 ? dim + x.shape.length : dim) - 1, ragged = Math.max(x.shape.indexOf(null), 1);
  if (axis < 0) throw new Missing("the batch is not summed here");
  const left = (sizes) => (keepdim ? sizes.with(axis, 1) : sizes.filter((_, d) => d !== axis));
  const place = (i, sizes) => { // of element i of a component: where it is in the sum
    const inner = product(sizes.slice(axis + 1));
    return Math.floor(i / (inner * sizes[axis])) * inner + (i % inner);
  };
  const total = mapped(x, ({ sizes, values }) => {
    const sums = new Array(product(left(sizes))).fill(0);
    values.forEach((v, i) => (sums[place(i, sizes)] += v));
    return { sizes: left(sizes), values: sums };
  });
  const result = { ...total, shape: [x.shape[0], ...left(x.shape.slice(1))] };
  const pull = (c) => mapped(x, (p, g) => ({ ...p, values: p.values.map((_, i) => g.values[place(i, p.sizes)]) }), c);
  const isDense = result.shape.length === 1 || (layout === "jagged" && axis + 1 === ragged);
  return [isDense ? dense(result) : nested(result), pull];
}
const OPERATORS = { neg: elementwise((v) => -v, () => -1), square: elementwise((v) => v * v, (v) => 2 * v),
                    exp: elementwise(Math.exp, Math.exp) };

// 5. Messages: one reply for each request, in their order.
function run({ op, layout, args, kwargs, cotangent }) {
  if (!args[0]?.nested || kwargs.dtype) throw new Missing("one nested operand, in its own dtype");
  const x = opened(args[0].nested), dim = Number((args[1] ?? kwargs.dim)?.int); // an integer is {"int": "1"}
  const [value, pull] = op === "sum" ? sum(x, dim, args[2] ?? kwargs.keepdim, layout) : OPERATORS[op](x);
  if (!cotangent) return { value };
  const pulled = pull(cotangent.nested ? opened(cotangent.nested) : rows(cotangent.dense));
  return { value, gradient: { args: args.map((_, i) => (i === 0 ? nested(pulled) : null)) } };
}
function answer(message) {
  try {
    return { seq: message.seq, ...run(message) };
  } catch (error) {
    if (error instanceof Missing) return { seq: message.seq, missing: error.message };
    if (error instanceof DimensionError)
      return { seq: message.seq, error: { kind: "DimensionError", message: error.message } };
    return { seq: message.seq, errored: error.stack }; // a fault of this adapter
  }
}
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.cmd === "stop") break;
  const hello = { protocol: 2, name: "lists", version: "1", language: "javascript", capabilities: CAPABILITIES };
  process.stdout.write(JSON.stringify(message.cmd === "start" ? hello : answer(message)) + "\n");
}
