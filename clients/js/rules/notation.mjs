/** Text forms, both ways: sides, positions and plays (rules 1), and the names of the rolls (rules 12). */

import { BAR, checkPosition, OFF, POINTS } from "./position.mjs";

/** How the play without moves is written. */
export const PASS = "pass";

const nameOf = (point) => (point === BAR ? "bar" : point === OFF ? "off" : String(point));
const NUMBERS = Object.fromEntries(Array.from({ length: POINTS }, (_, point) => [nameOf(point), point]));

/** One side in its own numbering, rearmost first: `bar:1,24:14`; what is missing is off. */
export function sideText(side) {
  const parts = side.map((count, point) => (point !== OFF && count ? `${nameOf(point)}:${count}` : null));
  return parts.reverse().filter(Boolean).join(",");
}

/** Both sides, each in its own numbering: `X=24:15; O=24:15`. X is row 0. */
export const positionText = ([own, opp]) => `X=${sideText(own)}; O=${sideText(opp)}`;

/** The side of such a text; `off:3` may be written, it is checked. */
export function parseSide(text, checkers = 15) {
  const side = new Array(POINTS).fill(0);
  const named = new Set();
  for (const part of text.split(",").map((piece) => piece.trim().toLowerCase()).filter(Boolean)) {
    const [, name, count] = /^(\w+):(\d+)$/.exec(part) ?? [];
    if (name === undefined || !Object.hasOwn(NUMBERS, name)) {
      throw new Error(`cannot read '${part}' in '${text}'; a side reads like 24:14,13:1 (also bar:1, off:2)`);
    }
    if (named.has(name)) throw new Error(`point ${name} is named twice in '${text}'`);
    named.add(name);
    side[NUMBERS[name]] = Number(count);
  }
  const total = side.reduce((sum, count) => sum + count, 0);
  if (total > checkers || (named.has("off") && total !== checkers)) {
    throw new Error(`'${text}' places ${total} checkers instead of ${checkers}`);
  }
  side[OFF] += checkers - total;
  return side;
}

/** The position of such a text. @returns {import("./position.mjs").Position} */
export function parsePosition(variant, text) {
  const [, own, opp] = /^\s*X=([^;]*);\s*O=([^;]*)$/.exec(text) ?? [];
  if (own === undefined) throw new Error(`cannot read '${text}'; a position reads like X=24:15; O=24:14,13:1`);
  const position = [parseSide(own, variant.checkers), parseSide(opp, variant.checkers)];
  checkPosition(variant, position);
  return position;
}

/** Moves as the books write them: `24/18(2)`, `13/off`, `bar/20*`; rearmost first; `pass` without moves. */
export function movesText(moves) {
  const groups = new Map();
  for (const { source, target, hit } of [...moves].sort((a, b) => b.source - a.source || b.target - a.target)) {
    const name = `${nameOf(source)}/${nameOf(target)}`;
    const group = groups.get(name) ?? { times: 0, hit: false };
    groups.set(name, { times: group.times + 1, hit: group.hit || hit });
  }
  const parts = [...groups].map(([name, { times, hit }]) => name + (hit ? "*" : "") + (times > 1 ? `(${times})` : ""));
  return parts.join(" ") || PASS;
}

/** A play of `Game.plays` in the same form. */
export const playText = (play) => movesText(play.moves);

/**
 * The index of the play that `text` means among the legal `plays` of row 0; `dice` names them in messages.
 *
 * Moves may stand in any order, those of one checker may be merged (24/14 for 24/18 18/14, 24/18/14), and `*` may be left
 * out where it makes no difference. Throws an Error that names what cannot be read, is not legal or is ambiguous.
 */
export function readPlay(plays, position, text, dice) {
  if (text.trim().toLowerCase() === PASS) {
    if (plays[0].moves.length) throw new Error(`a pass is not legal: the roll can be played, for instance ${playText(plays[0])}`);
    return 0;
  }
  const { row, hits } = readMoves(text, position[0]);
  const legal = plays.map((_, index) => index).filter((index) => plays[index].after[0].join() === row.join());
  if (legal.length === 0) {
    const examples = plays.slice(0, 3).map(playText).join(", ");
    throw new Error(`'${text}' is no legal play of ${dice}; among the ${plays.length} legal: ${examples}`);
  }
  const hitsOf = (play) => [...new Set(play.moves.filter((move) => move.hit).map((move) => move.target))].sort().join();
  const exact = legal.find((index) => hitsOf(plays[index]) === [...hits].sort().join());
  if (exact !== undefined) return exact;
  if (hits.size) throw new Error(`'${text}' hits where nothing can be hit; legal is ${playText(plays[legal[0]])}`);
  if (legal.length > 1) {
    throw new Error(`'${text}' is ambiguous: ${legal.map((index) => playText(plays[index])).join(" or ")}`);
  }
  return legal[0];
}

/** The mover's row after the moves in `text`, and the set of points on which it hits. */
function readMoves(text, before) {
  const row = [...before];
  const hits = new Set();
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) throw new Error(`an empty text is no play; a play without moves is written '${PASS}'`);
  for (const word of words) {
    const [, path, times = "1"] = /^(\w+\*?(?:\/\w+\*?)+)(?:\((\d)\))?$/.exec(word) ?? [];
    if (path === undefined) {
      throw new Error(`cannot read the move '${word}'; a move reads like 24/18, bar/20*, 13/off or 24/18(2)`);
    }
    const stops = path.split("/").map((stop) => {
      const name = stop.replace("*", "");
      if (!Object.hasOwn(NUMBERS, name)) throw new Error(`'${stop}' in '${word}' is no point; use 1 to 24, bar or off`);
      return { point: NUMBERS[name], hit: stop.endsWith("*") };
    });
    stops.slice(1).forEach(({ point, hit }, index) => {
      if (point >= stops[index].point) throw new Error(`'${word}' does not move forwards, to a lower number`);
      if (hit) hits.add(point);
    });
    row[stops[0].point] -= Number(times);
    row[stops.at(-1).point] += Number(times);
  }
  row.forEach((count, point) => {
    if (count < 0) throw new Error(`'${text}' moves more checkers from ${nameOf(point)} than stand there`);
  });
  return { row, hits };
}

const ROLL_NAMES = {
  "6-6": "ду-шеш", "5-5": "ду-беш", "4-4": "дур-чар", "3-3": "ду-сэ", "2-2": "ду-бара", "1-1": "яган",
  "6-5": "шеш-беш", "6-4": "шеш-чар", "6-3": "шеш-сэ", "6-2": "шеш-ду", "6-1": "шеш-як", "5-4": "пянджи-чар",
  "5-3": "пянджи-сэ", "5-2": "пянджи-ду", "5-1": "пянджи-як", "4-3": "чари-сэ", "4-2": "чари-ду", "4-1": "чари-як",
  "3-2": "сэ бай ду", "3-1": "сэ-як", "2-1": "ду-як",
};

/** What players call a roll of two dice, in Russian. */
export const rollName = ([first, second]) => ROLL_NAMES[`${Math.max(first, second)}-${Math.min(first, second)}`];
