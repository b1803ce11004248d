/** Just enough of ONNX to write a small network: records of Protocol Buffers, by the field numbers of onnx.proto. */

export const INT8 = 3, INT64 = 7, FLOAT = 1;

const join = (parts) => Uint8Array.from(parts.flatMap((part) => [...part]));

function varint(value) {
  const bytes = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 128);
  }
}

/** One field: a whole number, a text, bytes, or a nested record. */
function field(number, value) {
  if (typeof value === "number") return join([varint(number * 8), varint(value)]);
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return join([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

const record = (...fields) => join(fields.map(([number, value]) => field(number, value)));

/** An operation, with one attribute at most: its name and a whole number. */
export function node(operation, inputs, output, [name, setting] = []) {
  const attribute = name === undefined ? [] : [[5, record([1, name], [3, setting], [20, 2])]];
  return record(...inputs.map((input) => [1, input]), [2, output], [3, output], [4, operation], ...attribute);
}

/** A constant; `values` a Float32Array or BigInt64Array. */
export function constant(name, dims, values) {
  const type = values instanceof BigInt64Array ? INT64 : FLOAT;
  return record(...dims.map((size) => [1, size]), [2, type], [8, name], [9, new Uint8Array(values.buffer)]);
}

/** The name, type and shape of an input or output; a dimension without a fixed size is a text. */
export function value(name, type, dims) {
  const shape = record(...dims.map((size) => [1, typeof size === "number" ? record([1, size]) : record([2, size])]));
  return record([1, name], [2, record([1, record([1, type], [2, shape])])]);
}

export function model(nodes, constants, inputs, outputs) {
  const graph = record(
    ...nodes.map((each) => [1, each]), [2, "policy"], ...constants.map((each) => [5, each]),
    ...inputs.map((each) => [11, each]), ...outputs.map((each) => [12, each]),
  );
  return record([1, 8], [2, "nardy stand-in"], [7, graph], [8, record([1, ""], [2, 17])]);
}
