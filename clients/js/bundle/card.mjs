/** The card of a bundle, read and verified: what the bot is, and the SHA-256 of its files. */

import { sha256 } from "./sha256.mjs";
import { makeVariant } from "../rules/variant.mjs";

export const FORMAT = 2;
export const CARD = "card.json";
export const POLICY = "policy.onnx";
export const GOLDEN = "golden.jsonl";

/** What is wrong with a bundle, in one line; `problem` and `file` tell a page how to say it in its own language. */
export class BundleError extends Error {
  constructor(problem, message, file = "") {
    super(message);
    this.name = "BundleError";
    this.problem = problem;
    this.file = file;
  }
}

/**
 * Where a bundle's files come from.
 * @typedef {{name: string, read: (file: string) => Promise<Uint8Array>}} Source `read` rejects if there is no such file.
 */

/** @returns {Promise<Uint8Array>} Throws a BundleError if `source` has no such file. */
export async function readFile(source, file) {
  try {
    return await source.read(file);
  } catch {
    throw new BundleError("missing", `${source.name} is no whole bundle: it has no ${file}`, file);
  }
}

/**
 * The card of a bundle and its variant. Other files are not looked at.
 * @param {Source} source
 */
export async function readCard(source) {
  const damaged = (what) => new BundleError("card", `${source.name}/${CARD} ${what}`, CARD);
  const text = new TextDecoder().decode(await readFile(source, CARD));
  let card;
  try {
    card = JSON.parse(text);
  } catch {
    throw damaged("is truncated or no card of a bundle");
  }
  if (card === null || typeof card !== "object" || !("format" in card)) throw damaged("is no card of a bundle");
  if (card.format !== FORMAT) {
    const message = `${source.name}/${CARD} has bundle format ${card.format}; this client reads format ${FORMAT}`;
    throw new BundleError("format", message, CARD);
  }
  if ("sha256" in card && card.sha256 !== (await cardDigest(text))) throw damaged("is damaged: it is not what was written");
  if (typeof card.files?.[POLICY] !== "string" || !Array.isArray(card.outputs)) {
    throw damaged("is no card of a bundle: it does not list a bundle's files and outputs");
  }
  let variant;
  try {
    variant = makeVariant(card.variant ?? {});
  } catch (error) {
    throw damaged(`has rules that this client cannot play: ${error.message}`);
  }
  if (card.outputs.length !== variant.outputs || card.has_pending !== variant.hasPending) {
    throw damaged("is damaged: its outputs do not fit its variant");
  }
  return { card, variant };
}

/** The file of a bundle whose card is `card`. Throws a BundleError unless it is the one that the card lists. */
export async function readVerified(source, card, file) {
  if (typeof card.files[file] !== "string") {
    throw new BundleError("missing", `${source.name} is no whole bundle: its card lists no ${file}`, file);
  }
  const bytes = await readFile(source, file);
  if ((await sha256(bytes)) !== card.files[file]) {
    const message = `${source.name}/${file} is damaged: it is not the file of which ${CARD} has the SHA-256`;
    throw new BundleError("damaged", message, file);
  }
  return bytes;
}

/**
 * The SHA-256 of a card's content without the key that holds it. The content counts as the exporter writes it: keys
 * sorted, ASCII only, and every number with the digits of the file, which JavaScript would not keep.
 */
async function cardDigest(text) {
  const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
  const numbersAsTexts = text.replace(token, (found) => (found[0] === '"' ? found : `"\\u0000${found}"`));
  const { sha256: _, ...content } = JSON.parse(numbersAsTexts);
  return sha256(new TextEncoder().encode(canonical(content)));
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const pairs = Object.keys(value).sort().map((key) => `${canonical(key)}: ${canonical(value[key])}`);
    return `{${pairs.join(", ")}}`;
  }
  if (typeof value !== "string") return JSON.stringify(value);
  if (value[0] === "\0") return value.slice(1);
  const escape = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escape);
}
