/**
 * A trained bot: a bundle (a folder with `card.json` and `policy.onnx`), loaded with onnxruntime, which the caller passes.
 *
 *     import * as ort from "onnxruntime-node"; // in a page: onnxruntime-web
 *     const bot = await loadBot(folderSource("bundles/long"), ort);
 *     const game = Game.begin(bot.variant, { key: stream(7, 0) });
 *     const { index, equity } = await bot.choosePlay(game);
 */

import { BundleError, GOLDEN, POLICY, readCard, readVerified } from "./bundle/card.mjs";
import { batchOf, rank } from "./bundle/rating.mjs";

export { BundleError, readCard } from "./bundle/card.mjs";
export { checkGolden } from "./bundle/golden.mjs";

/** Files below an address, which a page can fetch. @returns {import("./bundle/card.mjs").Source} */
export function urlSource(url) {
  const base = String(url).replace(/\/*$/, "");
  return {
    name: decodeURI(base.split("/").pop()),
    async read(file) {
      const answer = await fetch(`${base}/${file}`);
      if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
      return new Uint8Array(await answer.arrayBuffer());
    },
  };
}

/** Files that a person picked or dropped on a page. @param {Iterable<File>} files */
export function filesSource(files) {
  const byName = new Map([...files].map((file) => [file.name, file]));
  const folder = [...files].map((file) => file.webkitRelativePath?.split("/").at(-2)).find(Boolean);
  return {
    name: folder ?? "the files",
    async read(file) {
      return new Uint8Array(await byName.get(file).arrayBuffer());
    },
  };
}

/** A folder, in Node. */
export function folderSource(path) {
  return {
    name: path.replace(/\/*$/, "").split("/").pop(),
    async read(file) {
      const { readFile } = await import("node:fs/promises");
      return new Uint8Array(await readFile(`${path}/${file}`));
    },
  };
}

/**
 * The bot of a bundle. Throws a BundleError, one line, for a bundle that is truncated, changed or of another format.
 * @param {import("./bundle/card.mjs").Source} source
 * @param {typeof import("onnxruntime-web")} ort onnxruntime-web or onnxruntime-node.
 */
export async function loadBot(source, ort) {
  const { card, variant } = await readCard(source);
  const bytes = await readVerified(source, card, POLICY);
  let session;
  try {
    session = await ort.InferenceSession.create(bytes);
  } catch (error) {
    throw new BundleError("network", `${source.name}/${POLICY} cannot be played: ${firstLine(error)}`, POLICY);
  }
  const wanted = variant.hasPending ? ["positions", "pending"] : ["positions"];
  const fits = wanted.every((name) => session.inputNames.includes(name)) && session.inputNames.length === wanted.length;
  if (!fits || !["probabilities", "equity"].every((name) => session.outputNames.includes(name))) {
    throw new BundleError("network", `${source.name}/${POLICY} has other inputs or outputs than a bundle of ${variant.name}`, POLICY);
  }
  return new Bot({ source, card, variant, session, ort });
}

const firstLine = (error) => String(error?.message ?? error).split("\n")[0];

export class Bot {
  #session;
  #ort;
  #source;
  #last = Promise.resolve(); // a session does one thing at a time

  constructor({ source, card, variant, session, ort }) {
    /** What the bot is: `card.json` of its bundle. */
    this.card = card;
    /** The rules it plays by. */
    this.variant = variant;
    this.#source = source;
    this.#session = session;
    this.#ort = ort;
  }

  get name() {
    return this.card.name ?? this.#source.name;
  }

  /**
   * The network's view of positions, in one call.
   * @param {Int8Array} positions [rows, 2, 26], row 0 of each the player who acts.
   * @param {Int8Array} pending [rows, 7]: what he has to play; not looked at in variants without pending dice.
   * @returns {Promise<{probabilities: Float32Array, equity: Float32Array}>} [rows, outputs] and [rows], for him.
   */
  async evaluate(positions, pending) {
    const rows = positions.length / 52;
    if (rows === 0) return { probabilities: new Float32Array(0), equity: new Float32Array(0) };
    const { Tensor } = this.#ort;
    const feeds = { positions: new Tensor("int8", positions, [rows, 2, 26]) };
    if (this.variant.hasPending) feeds.pending = new Tensor("int8", pending, [rows, 7]);
    const done = this.#last.then(() => this.#session.run(feeds));
    this.#last = done.catch(() => {});
    const { probabilities, equity } = await done;
    return { probabilities: probabilities.data, equity: equity.data };
  }

  /**
   * What the bot would play in the decision in which `game` stands, by the greatest equity after the play.
   * @param {import("./rules/game.mjs").Game} game Of the bot's variant; it is not changed.
   * @returns {Promise<{index: number, play: import("./rules/segment.mjs").Play, equity: number,
   *   probabilities: number[], ranked: import("./bundle/rating.mjs").Rated[]}>} The best play, and all, the best first.
   */
  async choosePlay(game) {
    if (game.finished) throw new Error("the game is finished");
    const batch = batchOf(game);
    const ranked = rank(game, batch, await this.evaluate(batch.positions, batch.pending));
    return { ...ranked[0], ranked };
  }

  /** The golden cases of the bundle, one object a line, verified; see `checkGolden`. */
  async goldenCases() {
    const bytes = await readVerified(this.#source, this.card, GOLDEN);
    return new TextDecoder().decode(bytes).trim().split("\n").map((line) => JSON.parse(line));
  }
}
