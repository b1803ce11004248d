/** From a network's outputs to ratings of plays, each from the point of view of who makes the play. */

import { OFF, pointsWon } from "../rules/position.mjs";
import { pendingOf } from "../rules/turn.mjs";

/**
 * The plays of a decision as a network is asked for them.
 * @typedef {object} Batch
 * @property {Int8Array} positions [rows, 2, 26]: row 0 of each the player who acts next.
 * @property {Int8Array} pending [rows, 7]: what he has to play.
 * @property {number[]} index Of each row: the play it stands for. Plays that win are not asked for.
 * @property {number} sign 1 if who makes the play acts next, too, else -1.
 */

/** @param {import("../rules/game.mjs").Game} game @returns {Batch} */
export function batchOf(game) {
  const open = game.plays.map((_, index) => index).filter((index) => !wins(game, index));
  const coming = open.length ? game.coming(open[0]) : null; // apart from the head budget the same after each play
  const again = coming?.seat === game.seat;
  const positions = new Int8Array(open.length * 52);
  const pending = new Int8Array(open.length * 7);
  open.forEach((index, row) => {
    const [mine, his] = game.plays[index].after;
    positions.set(again ? [...mine, ...his] : [...his, ...mine], row * 52);
    pending.set(pendingOf(coming), row * 7);
  });
  return { positions, pending, index: open, sign: again ? 1 : -1 };
}

const wins = (game, index) => game.plays[index].after[0][OFF] === game.variant.checkers;

/**
 * One play as a bot rates it, for who makes it.
 * @typedef {object} Rated
 * @property {number} index Of the play in `game.plays`.
 * @property {import("../rules/segment.mjs").Play} play
 * @property {number} equity In points; of a play that wins exactly what it wins.
 * @property {number[]} probabilities Nested: of a win of each level of the variant or more, then of a loss of each level
 *   above the lowest or more.
 */

/**
 * All plays of a decision, the best first.
 * @param {Batch} batch
 * @param {{probabilities: Float32Array, equity: Float32Array}} rated The network's outputs for the rows of the batch.
 * @returns {Rated[]}
 */
export function rank(game, batch, rated) {
  const { variant, plays } = game;
  const found = plays.map((play, index) => {
    const equity = wins(game, index) ? pointsWon(variant, play.after[1]) : 0;
    return { index, play, equity, probabilities: certain(variant, equity) };
  });
  batch.index.forEach((index, row) => {
    const outputs = [...rated.probabilities.subarray(row * variant.outputs, (row + 1) * variant.outputs)];
    found[index].equity = batch.sign * rated.equity[row];
    found[index].probabilities = batch.sign > 0 ? outputs : turnedRound(variant, outputs);
  });
  return found.sort((a, b) => b.equity - a.equity || a.index - b.index);
}

/** The probabilities of one player from those of the other. */
export function turnedRound(variant, outputs) {
  const levels = variant.levels.length;
  const [wins, losses] = [outputs.slice(0, levels), outputs.slice(levels)];
  return [1 - wins[0], ...losses, ...wins.slice(1)];
}

/** The probabilities of a win of `points`. */
function certain(variant, points) {
  const { levels } = variant;
  return [...levels.map((level) => Number(points >= level)), ...levels.slice(1).map(() => 0)];
}
