/**
 * Bundles of stand-in bots for tests: networks that were never trained and only know who is ahead, and to fear for blots.
 *
 *     node test/standin.mjs FOLDER [variant …]
 */

import { mkdir, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { sha256 } from "../bundle/sha256.mjs";
import { sheetOf, variant as preset, VARIANTS } from "../nardy.mjs";
import { constant, FLOAT, INT8, model, node, value } from "./onnx_writer.mjs";

/** The network: logits are weighted pips, checkers off and lone checkers, a little less for each higher level. */
export function standinPolicy(variant) {
  const { outputs } = variant;
  const levels = variant.levels.length;
  const weights = new Float32Array(104 * outputs); // 52 counts, then whether each is 1
  const bias = new Float32Array(outputs);
  const pendingWeights = new Float32Array(7 * outputs);
  for (let output = 0; output < outputs; output++) {
    const wins = output < levels;
    const level = wins ? output : output - levels + 1;
    bias[output] = 0.1 - 1.4 * level;
    for (let point = 0; point < 26; point++) {
      const worth = (wins ? 1 : -1) * (point === 0 ? 0.08 : -0.02 * point);
      weights[point * outputs + output] = worth;
      weights[(26 + point) * outputs + output] = -worth;
      // A lone checker that may be hit has the more to lose the nearer it is to home.
      const fear = variant.hit && point > 0 && point < 25 ? 0.012 * (25 - point) * (wins ? -1 : 1) : 0;
      weights[(52 + point) * outputs + output] = fear;
      weights[(78 + point) * outputs + output] = -fear / 2;
    }
    for (let die = 1; die <= 6; die++) pendingWeights[(die - 1) * outputs + output] = (wins ? 0.02 : -0.02) * die;
  }
  const nodes = [
    node("Cast", ["positions"], "counts", ["to", FLOAT]),
    node("Reshape", ["counts", "flat"], "sides"),
    node("Equal", ["sides", "one"], "lone"),
    node("Cast", ["lone"], "lone.inputs", ["to", FLOAT]),
    node("Concat", ["sides", "lone.inputs"], "inputs", ["axis", 1]),
    node("MatMul", ["inputs", "weights"], "product"),
    node("Add", ["product", "bias"], "rated"),
  ];
  const constants = [
    constant("flat", [2], BigInt64Array.of(0n, 52n)),
    constant("column", [1], BigInt64Array.of(-1n)),
    constant("one", [1], Float32Array.of(1)),
    constant("weights", [104, outputs], weights),
    constant("bias", [outputs], bias),
    constant("equity.weights", [outputs, 1], equityWeights(variant)),
    constant("equity.bias", [1], Float32Array.of(-variant.levels[0])),
  ];
  const inputs = [value("positions", INT8, ["N", 2, 26])];
  if (variant.hasPending) {
    inputs.push(value("pending", INT8, ["N", 7]));
    constants.push(constant("pending.weights", [7, outputs], pendingWeights));
    nodes.push(node("Cast", ["pending"], "steps", ["to", FLOAT]), node("MatMul", ["steps", "pending.weights"], "steps.rated"));
    nodes.push(node("Add", ["rated", "steps.rated"], "logits"));
  } else nodes.push(node("Add", ["rated", "bias.none"], "logits"));
  if (!variant.hasPending) constants.push(constant("bias.none", [1], Float32Array.of(0)));
  nodes.push(
    node("Sigmoid", ["logits"], "probabilities"),
    node("MatMul", ["probabilities", "equity.weights"], "equity.product"),
    node("Add", ["equity.product", "equity.bias"], "equity.sum"),
    node("Reshape", ["equity.sum", "column"], "equity"),
  );
  return model(nodes, constants, inputs, [value("probabilities", FLOAT, ["N", outputs]), value("equity", FLOAT, ["N"])]);
}

/** equity = weights · probabilities - lowest level, for nested probabilities of the same player. */
function equityWeights({ levels }) {
  const steps = levels.map((level, index) => level - (levels[index - 1] ?? 0));
  return Float32Array.of(2 * steps[0], ...steps.slice(1), ...steps.slice(1).map((step) => -step));
}

/** Writes the bundle of a stand-in for `variant` into `folder`. */
export async function writeStandin(folder, variant, name = `stand-in ${variant.name}`) {
  await mkdir(folder, { recursive: true });
  const policy = standinPolicy(variant);
  const higher = variant.levels.slice(1);
  const card = {
    format: 2, name, version: "0", variant: sheetOf(variant), levels: variant.levels,
    outputs: ["win", ...higher.map((level) => `win_${level}`), ...higher.map((level) => `loss_${level}`)],
    has_pending: variant.hasPending, training: { games: 0 }, strength: [], files: { "policy.onnx": await sha256(policy) },
  };
  await writeFile(`${folder}/policy.onnx`, policy);
  await writeFile(`${folder}/card.json`, JSON.stringify(card, null, 1));
}

/** Writes a stand-in of each variant and the list of them into `folder`. */
export async function writeStandins(folder, names = VARIANTS) {
  for (const name of names) await writeStandin(`${folder}/${name}`, preset(name));
  await writeFile(`${folder}/bundles.json`, JSON.stringify({ bundles: names }));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [folder, ...names] = process.argv.slice(2);
  await writeStandins(folder, names.length ? names : VARIANTS);
}
