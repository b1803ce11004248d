/**
 * Whose turn it is and with which dice: the turn protocol of every variant (rules 2, 6 and 7).
 *
 * A turn is a sequence of segments. Where dice are never passed on and no double chains, a segment is a roll. In gyulbar
 * the dice that a player cannot play go to the other, who plays them before he rolls himself; a double played out gives
 * an extra roll; in mad gyulbar a double stands for a chain of doubles, one segment for each value.
 */

import { HEAD } from "./position.mjs";
import { filterPlays, segment } from "./segment.mjs";
import { longestRows } from "./chain.mjs";

/**
 * How a game stands, the board aside.
 * @typedef {object} Turn
 * @property {number} seat Who acts, 0 or 1.
 * @property {number} starter Who began.
 * @property {[number, number]} rolls How often each seat has rolled.
 * @property {number[]} dice What is to be played now; nothing: the player who acts rolls.
 * @property {number[]} later What the same player has to play after these, ascending, one value after the other.
 * @property {number[]} passing What the other will have to play, ascending.
 * @property {boolean} own The dice are of the player's own roll; else they were passed on to him.
 * @property {boolean} chain They are one value of a chain of doubles.
 * @property {boolean} extra He rolls again if he plays all of his roll.
 * @property {?number} headLeft How many checkers may leave the head; null before a roll: a new budget.
 * @property {boolean} patient The last of them only when nothing else can move (A5).
 */

const NO_DICE = { dice: [], later: [], passing: [], own: true, chain: false, extra: false, patient: false };

/** A game in which seat `starter` is about to roll. @returns {Turn} */
export const begin = (starter) => ({ seat: starter, starter, rolls: [0, 0], ...NO_DICE, headLeft: null });

/**
 * A game in which seat 0 is about to roll.
 * @param {?string} firstTurn "starter" or "second": his first own turn; null: a later one, past any grace.
 * @returns {Turn}
 */
export function beforeRoll(variant, firstTurn) {
  if (![null, "starter", "second"].includes(firstTurn)) {
    throw new Error(`first turn is null, "starter" or "second", not ${JSON.stringify(firstTurn)}`);
  }
  const rolls = firstTurn === null ? Math.max(1, variant.chain_grace_turns) : 0;
  return { ...begin(firstTurn === "second" ? 1 : 0), seat: 0, rolls: [rolls, 0] };
}

/**
 * The player who acts, row 0 of `position`, has rolled `first` and `second`.
 * @param {Turn} turn
 * @returns {Turn}
 */
export function takeDice(variant, turn, position, [first, second]) {
  const rolled = turn.rolls[turn.seat];
  const double = first === second;
  const chains = double && variant.chain_moves > 0;
  const chain = chains && rolled >= variant.chain_grace_turns; // in the first turns a double is a plain one (7.8)
  const dice = double ? Array(chain ? variant.chain_moves : variant.doubles_moves).fill(first) : [first, second];
  const exception = rolled === 0 && headException(variant, turn, position, [first, second]);
  let headLeft = headBudget(variant) + (exception ? 1 : 0);
  // Where the budget is that of the whole turn, the exception is one more for the turn, too.
  if (turn.headLeft !== null) headLeft = Math.min(headLeft, turn.headLeft + (exception ? 1 : 0));
  let patient = exception && variant.head_exception_mode === "last_resort";
  const later = [];
  if (chain) {
    for (let value = first + 1; value <= 6; value++) later.push(...Array(variant.chain_moves).fill(value));
    if (variant.chain_head === "free") [headLeft, patient] = [variant.checkers, false];
  }
  // A double that is plain only because chains come later has no extra roll (7.8).
  const extra = chain ? variant.chain_extra_roll : double && variant.extra_roll && !chains;
  const rolls = turn.rolls.map((times, seat) => times + (seat === turn.seat ? 1 : 0));
  return { ...turn, rolls, dice, later, passing: [], own: true, chain, extra, headLeft, patient };
}

/** How many checkers may leave the head without an exception; without a head rule all. */
const headBudget = (variant) => variant.head || variant.checkers;

/** Whether one more checker than usual may leave the head in a first own turn (rules 3.3). */
function headException(variant, turn, position, [first, second]) {
  if (variant.head === 0) return false;
  const rule = variant.head_exception;
  const double = first === second;
  const blocking = double && [3, 4, 6].includes(first);
  if (rule === "none") return false;
  if (rule === "any_double") return double;
  if (rule === "d46") return double && (first === 4 || first === 6);
  if (rule === "d346") return blocking;
  if (rule === "seed_list") {
    const second52 = (double && first === 5) || (Math.max(first, second) === 6 && Math.min(first, second) === 2);
    if (!blocking && !(turn.seat !== turn.starter && second52)) return false;
  }
  // "Blocked" and the seeds' list: a second checker only if one cannot play the whole roll.
  const dice = double ? Array(variant.doubles_moves).fill(first) : [first, second];
  return segment(variant, position, dice, variant.head, false).plays[0].unused.length > 0;
}

/**
 * The plays of what is to be played now.
 *
 * With `chain_max_scope: chain`, where a value of an own chain can be finished, these are only the plays after which the
 * most moves can follow. Passed dice are always played value by value, each as far as it goes (rules 7.4).
 * @returns {ReturnType<typeof segment>} `unused` of a play of a chain that ends with it holds the rest of the chain, too.
 */
export function turnPlays(variant, turn, position) {
  let found = segment(variant, position, turn.dice, turn.headLeft, turn.patient);
  const complete = found.plays[0].unused.length === 0;
  if (variant.chain_max_scope === "chain" && turn.chain && turn.later.length && complete) {
    const headAnew = variant.chain_head === "group" && variant.head > 0;
    const budget = { left: turn.headLeft, heads: position[0][HEAD], patient: turn.patient && !headAnew };
    const nodes = found.layers.at(-1).filter((node) => node.index >= 0);
    const chain = { first: turn.dice[0] + 1, number: turn.dice.length, budget, headAnew };
    const lengths = longestRows(variant, nodes, chain);
    const most = Math.max(...lengths);
    const kept = new Set(nodes.filter((_, index) => lengths[index] === most));
    found = filterPlays(found, (node) => kept.has(node));
  }
  if (!complete && turn.own && variant.chain_break !== "skip") {
    for (const play of found.plays) play.unused = [...play.unused, ...turn.later];
  }
  return found;
}

/**
 * How the game stands after a play that does not win it.
 * @param {Turn} turn
 * @param {import("./segment.mjs").Play} play One of `turnPlays`.
 * @param {number} gone How many checkers it took off the head.
 * @returns {Turn}
 */
export function afterPlay(variant, turn, play, gone) {
  const headLeft = variant.head ? turn.headLeft - gone : turn.headLeft;
  const carried = variant.head_budget_scope === "whole_turn" ? headLeft : null;
  if (!turn.own) {
    if (turn.later.length) return group({ ...turn, headLeft, chain: false, extra: false, patient: false }, turn.later);
    return roll(turn, turn.seat, carried);
  }
  const breaks = play.unused.length > 0 && variant.chain_break !== "skip";
  const passing = [...turn.passing, ...play.unused];
  if (turn.later.length && !breaks) {
    // A new budget for each value holds no exception (7.7).
    const anew = variant.chain_head === "group" && variant.head > 0;
    const next = { ...turn, passing, headLeft: anew ? variant.head : headLeft, patient: turn.patient && !anew };
    return group(next, turn.later);
  }
  const double = turn.dice[0] === turn.dice[1] || turn.dice.length !== 2;
  let passes = variant.pass_when === "any_roll" || (variant.pass_when === "doubles_only" && double);
  if (turn.chain && variant.chain_break === "lose_rest") passes = false;
  if (passing.length === 0) return roll(turn, turn.extra ? turn.seat : 1 - turn.seat, turn.extra ? carried : null);
  if (!passes) return roll(turn, 1 - turn.seat, null);

  const passed = { ...turn, ...NO_DICE, seat: 1 - turn.seat, own: false, headLeft: headBudget(variant) };
  // Both dice of a roll stay one segment; a double is one anyway.
  return double || passing.length === 1 ? group(passed, passing) : { ...passed, dice: turn.dice };
}

/** Nothing is left to play: `seat` rolls. */
function roll(turn, seat, headLeft) {
  return { ...turn, ...NO_DICE, seat, headLeft };
}

/** The segment of the lowest value in `dice`, ascending, the rest to follow. */
function group(turn, dice) {
  const now = dice.filter((die) => die === dice[0]);
  return { ...turn, dice: now, later: dice.slice(now.length) };
}

/** A turn as the trainer's saved games hold it (`standing` of a game's state, and of a bundle's golden lines). */
export function toStanding(turn) {
  const [first = 0, second = 0] = turn.dice;
  return {
    seat: turn.seat, starter: turn.starter, rolls_0: turn.rolls[0], rolls_1: turn.rolls[1],
    first, second: second === first ? 0 : second, number: turn.dice.length,
    later: packed(turn.later), passing: packed(turn.passing),
    own: turn.own, chain: turn.chain, extra: turn.extra, head_left: turn.headLeft ?? -1, patient: turn.patient,
  };
}

/** The turn of such a standing. */
export function fromStanding(standing) {
  const { first, second, number } = standing;
  return {
    seat: standing.seat, starter: standing.starter, rolls: [standing.rolls_0, standing.rolls_1],
    dice: second ? [first, second] : Array(number).fill(first),
    later: unpacked(standing.later), passing: unpacked(standing.passing),
    own: standing.own, chain: standing.chain, extra: standing.extra,
    headLeft: standing.head_left < 0 ? null : standing.head_left, patient: standing.patient,
  };
}

/** Dice as 4 bits a value: value v in bits 4v … 4v + 3. */
const packed = (dice) => dice.reduce((sum, die) => sum + 16 ** die, 0);

function unpacked(steps) {
  return [1, 2, 3, 4, 5, 6].flatMap((value) => Array(Math.floor(steps / 16 ** value) % 16).fill(value));
}

/**
 * What the player who acts has still to play, as a network is told of it.
 * @returns {number[]} 7 numbers: steps of the values 1…6, then 1 if they are of his own roll; all 0 before a roll.
 */
export function pendingOf(turn) {
  const steps = new Array(7).fill(0);
  for (const die of [...turn.dice, ...turn.later]) steps[die - 1]++;
  steps[6] = turn.dice.length && turn.own ? 1 : 0;
  return steps;
}
