/**
 * Chains of doubles in which the most moves of all values together must be played (rules 7.2, A23 `chain`).
 *
 * What remains of a chain is one row of dice, all of a value before the next. Its length is the number of moves up to the
 * first die that cannot be played; a row that bears off the last checker wins, and counts as one of all dice. A play is
 * right if the longest row that can follow it is as long as after any other.
 *
 * The search is depth first, leaving out what an upper bound or an earlier search shows to be no longer than what was
 * found.
 */

import { BAR, HEAD, OFF, pips, sideKey } from "./position.mjs";
import { illegalBlock, legalSteps } from "./steps.mjs";

const PATIENCE = 1 << 20; // moves tried, some seconds

/**
 * The length of the longest row that can follow each of `nodes`, where some other is not longer: a shorter one may be
 * given as one less than the longest before it.
 * @param {{own: number[], opp: number[]}[]} nodes After the moves of the value before `first`.
 * @param {{first: number, number: number, budget: import("./steps.mjs").Budget, headAnew: boolean}} chain `number` moves
 *   of each value from `first` on; headAnew: with a new head budget for each value.
 */
export function longestRows(variant, nodes, chain) {
  const search = { ...chain, variant, known: new Map(), tried: 0, enough: chain.number * (7 - chain.first), length: 0 };
  search.supply = supplyOf(variant, chain, nodes);
  let most = 0;
  return nodes.map(({ own, opp }) => {
    search.length = most - 1;
    visit(search, own, opp, 0, own[HEAD]);
    most = Math.max(most, search.length);
    return search.length;
  });
}

/** Look for a row longer than `search.length` over this position; true when none can be longer than that found. */
function visit(search, own, opp, depth, heads) {
  const { variant, first, number } = search;
  if (++search.tried > PATIENCE) {
    throw new Error("option chain_max_scope (rule A23) asks for the longest chain of doubles, which takes too long here");
  }
  const value = first + Math.floor(depth / number);
  const played = depth % number;
  const legal = variant.prime_check === "each_step" || !illegalBlock(variant, own, opp);
  const length = own.some((count, point) => count && point !== OFF) ? depth : search.enough;
  if (legal && length > search.length) {
    search.length = length;
    if (length >= search.enough) return true;
  }
  if (played === 0 && !legal) return false;
  if (played === 0) heads = own[HEAD];
  const key = `${sideKey(own)}${variant.hit ? sideKey(opp) : ""}${depth}.${search.headAnew ? heads : ""}`;
  if ((search.known.get(key) ?? Infinity) <= search.length) return false;
  if (depth + atMost(search, own, value, played) <= search.length) return false;
  const budget = search.headAnew ? { left: variant.head, heads, patient: false } : search.budget;
  for (const step of legalSteps(variant, own, opp, value, budget)) {
    if (visit(search, step.own, step.opp, depth + 1, heads)) return true;
  }
  search.known.set(key, search.length);
  return false;
}

/** No more moves can follow, if `played` of this value are made: as if no checker was in another's way. */
function atMost({ variant, supply, budget, headAnew, number }, own, value, played) {
  const heads = own[HEAD];
  const may = headAnew ? variant.head * (7 - value) : budget.left - budget.heads + heads;
  const leaving = Math.min(heads, may);
  // Nothing is ever borne off if a checker cannot come home.
  const comeHome = leaving === heads && own.every((count, point) => !count || point === OFF || supply.home[value][point]);
  const table = supply.counts[comeHome ? 1 : 0][value];
  const checkers = own.reduce((sum, count, point) => sum + (point === OFF ? 0 : count), 0);
  const dice = number * (7 - value) - played;
  const dicePips = (number * (42 - value * (value - 1))) / 2 - played * value;
  if (comeHome && checkers <= dice && pips(own) <= dicePips) return dice; // it might win
  const total = new Array(7).fill(0); // moves of each value; 0: pips
  for (let point = 1; point <= BAR; point++) {
    const count = point === HEAD ? leaving : own[point];
    if (count) for (let entry = 0; entry < 7; entry++) total[entry] += count * table[point][entry];
  }
  let moves = 0;
  let way = total[0];
  let needed = number - played;
  for (let now = value; now < 7; now++) {
    const there = Math.min(total[now], Math.floor(way / now));
    if (there < needed) return moves + there;
    moves += needed;
    way -= needed * now;
    needed = number;
  }
  return moves;
}

/**
 * What a checker on each point can contribute to the rest of a chain if it has the board to itself.
 * @returns {{counts: number[][][][], home: boolean[][]}} `counts[bearsOff][value][point]`: the most pips, then the most
 *   moves of the values 1…6, of what is to be played from `value` on; `home[value][point]`: whether it can come home.
 */
function supplyOf(variant, { first, number }, nodes) {
  // Points that are open in one of the positions at least: the bound has to hold for all.
  const open = (point) => nodes.some(({ opp }) => {
    const enemies = opp[variant.mirror[point]];
    return enemies === 0 || (enemies === 1 && variant.hit);
  });
  const openPoints = Array.from({ length: 25 }, (_, point) => point > 0 && open(point));
  const nothing = () => Array.from({ length: 26 }, () => new Array(7).fill(0));
  const counts = [[], []];
  const home = [];
  home[7] = Array.from({ length: 26 }, (_, point) => point <= 6);
  for (const bearsOff of [0, 1]) {
    counts[bearsOff][7] = nothing();
    for (let value = 6; value >= first; value--) {
      const table = nothing();
      if (!bearsOff) home[value] = new Array(26).fill(false);
      for (let point = 1; point <= BAR; point++) {
        for (let now = point, moved = 0; now >= 0 && moved <= number; moved++) {
          const later = counts[bearsOff][value + 1][now];
          for (let entry = 0; entry < 7; entry++) {
            const more = entry === 0 ? moved * value : entry === value ? moved : 0;
            table[point][entry] = Math.max(table[point][entry], (now ? later[entry] : 0) + more);
          }
          if (!bearsOff) home[value][point] ||= now <= 6 || home[value + 1][now];
          now = aloneTo(variant, now, value, bearsOff, openPoints);
        }
      }
      counts[bearsOff][value] = table;
    }
  }
  return { counts, home };
}

/** Where a checker comes that has the board to itself, 0 borne off, or -1. */
function aloneTo(variant, point, die, bearsOff, openPoints) {
  const exact = variant.bearoff === "exact_only";
  const target = point - die;
  if (target > 0 && openPoints[target] && (point > 6 || !exact || variant.bearoff_ban !== "each_checker")) return target;
  const fits = target === 0 || (target < 0 && !exact);
  return bearsOff && point > 0 && point <= 6 && fits ? 0 : -1;
}
