/**
 * A position: where the checkers of both players stand, each in his owner's own numbering.
 *
 * @typedef {number[]} Side 26 counts: index 0 borne off, 1…24 the points of the owner's path (24 farthest, 6…1 his
 *   home), 25 the bar.
 * @typedef {[Side, Side]} Position Row 0 is the player who acts (or the mover), row 1 the other.
 */

export const OFF = 0;
export const HEAD = 24;
export const BAR = 25;
export const POINTS = 26;

/**
 * The position in which a game of `variant` begins.
 * @returns {Position}
 */
export function startPosition(variant) {
  const side = new Array(POINTS).fill(0);
  for (const [point, count] of variant.startPoints) side[point] = count;
  return [side, [...side]];
}

/** The same position with the other player in row 0. */
export const swapped = ([own, opp]) => [opp, own];

/** How many pips a side has still to move. */
export const pips = (side) => side.reduce((sum, count, point) => sum + count * point, 0);

/** Whether two positions are the same. */
export const samePosition = (a, b) => sideKey(a[0]) === sideKey(b[0]) && sideKey(a[1]) === sideKey(b[1]);

/** A side as a short text, one letter a point: a key for maps. */
export const sideKey = (side) => String.fromCharCode(...side.map((count) => 65 + count));

/**
 * Throws an Error if `position` cannot stand on the board of `variant`.
 * @param {Position} position
 */
export function checkPosition(variant, position) {
  const [own, opp] = position;
  for (const [name, side] of [["own", own], ["opp", opp]]) {
    if (side?.length !== POINTS || !side.every((count) => Number.isInteger(count) && count >= 0)) {
      throw new Error(`${name} must be ${POINTS} whole numbers from 0`);
    }
    const total = side.reduce((sum, count) => sum + count, 0);
    if (total !== variant.checkers) {
      throw new Error(`${name} has ${total} checkers, variant ${variant.name} has ${variant.checkers}`);
    }
    if (side[BAR] && !variant.hit) {
      throw new Error(`${name} has a checker on the bar, but nobody is hit in variant ${variant.name}`);
    }
  }
  for (let point = 1; point <= 24; point++) {
    if (own[point] && opp[variant.mirror[point]]) {
      throw new Error(`both sides stand on own point ${point} (the opponent's ${variant.mirror[point]})`);
    }
  }
}

/**
 * The result class of a lost game, 0 single, 1 mars, 2 home mars, 3 koks: the highest that holds (rules 8.1).
 * @param {Side} loser
 */
export function resultClass(variant, loser) {
  const noneOff = loser[OFF] === 0;
  if (variant.classPoints[3] && (noneOff || !variant.koks_requires_none_off)) {
    const headOnly = variant.koks_long_area === "head" && variant.direction === "parallel";
    const behind = headOnly ? [HEAD] : [19, 20, 21, 22, 23, 24, BAR];
    if (behind.some((point) => loser[point])) return 3;
  }
  if (!noneOff) return 0;
  const atHome = loser.slice(1, 7).reduce((sum, count) => sum + count, 0);
  return variant.classPoints[2] && atHome === variant.checkers ? 2 : 1;
}

/** What the winner has won against a `loser` standing so, cube aside. */
export const pointsWon = (variant, loser) => variant.classPoints[resultClass(variant, loser)];
