/**
 * The plays of one segment of dice: those of a roll, or equal ones that were passed on or belong to a chain of doubles.
 *
 * All positions after one step, after two, …: what uses fewer dice than another play is dropped (rules 2.5), and what is
 * left is a graph of steps that a client can walk, checker by checker, in any order that leads to a legal play.
 */

import { HEAD, sideKey } from "./position.mjs";
import { illegalBlock, legalSteps } from "./steps.mjs";

/**
 * The middle of a play.
 * @typedef {object} Node
 * @property {import("./position.mjs").Side} own The mover's checkers.
 * @property {import("./position.mjs").Side} opp
 * @property {number[]} dice Those still to play, larger first.
 * @property {number} played How many steps lead here.
 * @property {{source: number, target: number, hit: boolean, die: number, node: Node}[]} steps The steps from here that
 *   are part of a legal play; empty where a play ends.
 * @property {number} index Of the play that ends here, or -1.
 */

/**
 * One way to play a segment.
 * @typedef {object} Play
 * @property {{source: number, target: number, hit: boolean}[]} moves In an order in which they can be played.
 * @property {import("./position.mjs").Position} after The position after it; the mover is still row 0.
 * @property {number[]} unused The dice that are not played, ascending.
 */

/**
 * @param {import("./position.mjs").Position} position Row 0 is the mover.
 * @param {number[]} dice
 * @param {number} headLeft How many checkers may leave the head.
 * @param {boolean} patient See `steps.mjs`.
 * @returns {{root: Node, plays: Play[]}} At least one play: without moves where nothing can be moved.
 */
export function segment(variant, [own, opp], dice, headLeft, patient) {
  const budget = { left: headLeft, heads: own[HEAD], patient };
  const root = newNode(own, opp, [...dice].sort((a, b) => b - a), 0, []);
  const layers = [[root]];
  let depth = 0;
  let endings = [root];
  for (;;) {
    const layer = nextLayer(variant, layers.at(-1), budget);
    if (layer.length === 0) break;
    layers.push(layer);
    // Where blocks are judged at the end only, a longer way counts if it ends without one (A7).
    const legal = layer.filter((node) => variant.prime_check === "each_step" || !illegalBlock(variant, node.own, node.opp));
    if (legal.length) [endings, depth] = [legal, layers.length - 1];
  }
  // Of two dice of which only one can be played it is the larger: the smaller is left (rules 2.6).
  const least = Math.min(...endings.map((node) => node.dice[0] ?? 0));
  const kept = endings.filter((node) => (node.dice[0] ?? 0) === least);
  return keep({ root, layers: layers.slice(0, depth + 1) }, kept);
}

/** The segment with only those plays whose position `wanted` returns true for. */
export function filterPlays({ root, layers }, wanted) {
  return keep({ root, layers }, layers.at(-1).filter((node) => node.index >= 0 && wanted(node)));
}

/** The segment in which exactly `endings`, nodes of the last layer, are plays. */
function keep({ root, layers }, endings) {
  const live = new Set(endings);
  for (const layer of layers) for (const node of layer) node.index = -1;
  endings.forEach((node, index) => { node.index = index; });
  for (let depth = layers.length - 1; depth >= 0; depth--) {
    for (const node of layers[depth]) {
      node.steps = depth === layers.length - 1 ? [] : node.steps.filter((step) => live.has(step.node));
      if (node.steps.length) live.add(node);
    }
  }
  const plays = endings.map((node) => ({
    moves: node.path, after: [node.own, node.opp], unused: [...node.dice].reverse(),
  }));
  return { root, layers, plays };
}

function newNode(own, opp, dice, played, path) {
  return { own, opp, dice, played, path, steps: [], index: -1 };
}

/** The positions one step on from `layer`, each once; the steps are written into its nodes. */
function nextLayer(variant, layer, budget) {
  const found = new Map();
  for (const node of layer) {
    for (const die of new Set(node.dice)) {
      const dice = node.dice.toSpliced(node.dice.indexOf(die), 1);
      for (const { source, target, hit, own, opp } of legalSteps(variant, node.own, node.opp, die, budget)) {
        const key = sideKey(own) + (opp === node.opp && !variant.hit ? "" : sideKey(opp)) + dice.join("");
        let after = found.get(key);
        if (after === undefined) {
          after = newNode(own, opp, dice, node.played + 1, [...node.path, { source, target, hit }]);
          found.set(key, after);
        }
        node.steps.push({ source, target, hit, die, node: after });
      }
    }
  }
  return [...found.values()];
}
