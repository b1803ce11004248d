/** Which single steps are legal: landing, head, bear-off and block, each judged at that moment (rules 2 to 4). */

import { BAR, HEAD, OFF } from "./position.mjs";

/**
 * What stays the same while one segment of dice is played.
 * @typedef {object} Budget
 * @property {number} left How many checkers may leave the head with these dice.
 * @property {number} heads How many stood there before the first step.
 * @property {boolean} patient Whether the last of them waits until nothing else can move (A5, `last_resort`).
 */

/**
 * One checker moved by one die: from `source` (25: the bar) to `target` (0: borne off), the mover's own numbers.
 * @typedef {{source: number, target: number, hit: boolean, die: number, own: import("./position.mjs").Side,
 *   opp: import("./position.mjs").Side}} Step `own` and `opp` are the sides after it.
 */

/**
 * The steps that `die` allows the mover, rearmost checker first; of two targets of one checker bearing off comes first.
 * @param {import("./position.mjs").Side} own
 * @param {import("./position.mjs").Side} opp
 * @param {Budget} budget
 * @returns {Step[]}
 */
export function legalSteps(variant, own, opp, die, budget) {
  const left = budget.left - budget.heads + own[HEAD];
  const home = allHome(own);
  const found = [];
  const offAboveDie = []; // A14: these come before all others
  for (let source = BAR; source > OFF; source--) {
    if (own[source] === 0) continue;
    if (own[BAR] && source !== BAR) break;
    if (source === HEAD && left <= 0) continue;
    if (home && mayBearOff(variant, own, source, die)) {
      (source > die ? offAboveDie : found).push([source, OFF]);
    }
    const target = source - die;
    if (target > OFF && isOpen(variant, opp, target) && (source > 6 || mayMoveInside(variant, home))) {
      found.push([source, target]);
    }
  }
  let steps = [...offAboveDie, ...found].map(([source, target]) => take(variant, own, opp, source, target, die));
  if (variant.prime_check === "each_step") steps = steps.filter((step) => !illegalBlock(variant, step.own, step.opp));
  return budget.patient && left <= 1 ? withoutLastHead(steps) : steps;
}

/** The checker that only the exception lets go stays on the head while another can be moved with this die (A5). */
function withoutLastHead(steps) {
  const others = steps.filter((step) => step.source !== HEAD);
  return others.length ? others : steps;
}

function isOpen(variant, opp, point) {
  const enemies = opp[variant.mirror[point]];
  return enemies === 0 || (enemies === 1 && variant.hit);
}

function allHome(own) {
  for (let point = 7; point <= BAR; point++) if (own[point]) return false;
  return true;
}

/** Whether this die takes a checker off from `source`, all being at home (rules 2.8, A13, A14). */
function mayBearOff(variant, own, source, die) {
  if (source === die) return true;
  if (variant.bearoff === "exact_only") return false;
  if (source > die) return variant.bearoff_from_higher && own[die] === 0;
  for (let higher = source + 1; higher <= 6; higher++) if (own[higher]) return false;
  return true;
}

/** Whether a checker that stands in its home may move on inside it (A13). */
function mayMoveInside(variant, home) {
  return variant.bearoff === "standard" || (variant.bearoff_ban === "all_home" && !home);
}

function take(variant, own, opp, source, target, die) {
  const mine = [...own];
  mine[source]--;
  mine[target]++;
  const there = variant.mirror[target];
  const hit = target !== OFF && opp[there] > 0;
  if (!hit) return { source, target, hit, die, own: mine, opp };
  const his = [...opp];
  his[there]--;
  his[BAR]++;
  return { source, target, hit, die, own: mine, opp: his };
}

/** Whether six points of mine in a row, on the other's path, may not stand as they are (rules 3.4, A6, A8). */
export function illegalBlock(variant, own, opp) {
  const rule = variant.prime_rule;
  if (rule === "off") return false;
  const mine = (his) => own[variant.mirror[his]] > 0;
  let run = 0;
  for (let point = 1; point <= 24; point++) {
    run = mine(point) ? run + 1 : 0;
    if (run < 6) continue;
    if (rule === "forbid") return true;
    // He has to have passed the first block on his way out, or be in his home; borne off counts as both.
    const passed = rule === "ahead" ? point - 6 : 6;
    if (!opp.some((count, his) => count && his <= passed)) return true;
  }
  if (variant.prime_edge !== "closed" || opp[OFF]) return false;
  for (let first = 20; first <= 24; first++) {
    let there = 0;
    while (there < 6 && mine(((first + there - 1) % 24) + 1)) there++;
    if (there === 6) return true;
  }
  return false;
}
