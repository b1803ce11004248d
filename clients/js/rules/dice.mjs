/**
 * Dice that can be replayed, the same as the trainer's: every draw depends on (seed, index, counter) alone.
 *
 * A game owns a stream, `stream(seed, index)`, and counts its draws: draw number c is a function of the stream's key and
 * c. The generator is SplitMix64 (Steele, Lea, Flood 2014), entered at any point of its sequence. Keys are BigInts.
 */

const GAMMA = 0x9e3779b97f4a7c15n; // 2^64 / golden ratio
const word = (value) => BigInt.asUintN(64, value);

function mix(value) {
  let mixed = word(value);
  mixed = word((mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n);
  mixed = word((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
  return mixed ^ (mixed >> 31n);
}

/** The key of stream number `index` (of a game in a series, say) under `seed`; a BigInt from -2^63 to 2^63 - 1. */
export function stream(seed, index) {
  return BigInt.asIntN(64, mix(mix(BigInt(seed) + GAMMA) + (BigInt(index) + 1n) * GAMMA));
}

/** A whole number from 0 to n - 1, all equally likely: draw number `counter` (0, 1, 2, …) of stream `key`. */
export function below(key, counter, n) {
  const bits = mix(BigInt(key) + (BigInt(counter) + 1n) * GAMMA);
  return Number(((bits >> 32n) * BigInt(n)) >> 32n);
}

/** Two dice, each 1…6, independent and unsorted. One draw. */
export function roll(key, counter) {
  const both = below(key, counter, 36);
  return [Math.floor(both / 6) + 1, (both % 6) + 1];
}

/** The lottery (rules 2.1): one die each, ties thrown again; the larger die begins. One draw. */
export function openingRoll(key, counter) {
  const both = below(key, counter, 30);
  const mine = Math.floor(both / 5) + 1;
  const other = (both % 5) + 1;
  return [mine, other + (other >= mine ? 1 : 0)];
}

/** Throws an Error unless `dice` are two whole numbers from 1 to 6. */
export function checkDice(dice) {
  const fine = Array.isArray(dice) && dice.length === 2 && dice.every((die) => Number.isInteger(die) && die > 0 && die < 7);
  if (!fine) throw new Error(`dice are two whole numbers from 1 to 6, not ${JSON.stringify(dice)}`);
  return dice;
}
