/**
 * A variant of the game: the options of its rule sheet, checked, and what follows from them.
 *
 * The numbers behind the options ("A6", "3.3") are those of the rules; messages name them as the trainer does.
 */

/** @typedef {Readonly<Record<string, any>>} Variant A rule sheet by option name, and the derived fields of `makeVariant`. */

const choice = (rule, first, ...others) => ({ rule, value: first, choices: [first, ...others] });
const number = (rule, value, low, high) => ({ rule, value, low, high });
const flag = (rule, value) => ({ rule, value, choices: [false, true] });

/** Every option: its default, its values or its range, and the rule it belongs to. */
export const OPTIONS = {
  name: { rule: "1", value: "house" },
  checkers: number("1", 15, 1, 15),
  start: { rule: "1", value: "24:15" },
  direction: choice("1", "parallel", "contrary"),
  hit: flag("4.4", false),
  head: number("3.3", 1, 0, 4),
  head_exception: choice("A4", "blocked", "seed_list", "d346", "d46", "any_double", "none"),
  head_exception_mode: choice("A5", "allowance", "last_resort"),
  prime_rule: choice("A6", "ahead", "home", "forbid", "off"),
  prime_check: choice("A7", "each_step", "turn_end"),
  prime_edge: choice("A8", "linear", "closed"),
  doubles_moves: number("A1", 4, 2, 4),
  opening: choice("A2", "reroll", "use_lottery"),
  next_starter: choice("A3", "lottery", "winner", "alternate"),
  bearoff: choice("A13", "standard", "exact_only"),
  bearoff_ban: choice("A13", "all_home", "each_checker"),
  bearoff_from_higher: flag("A14", false),
  single: number("A9", 1, 1, 9),
  mars: number("A9", 2, 1, 9),
  home_mars: number("A9", 2, 0, 9),
  koks: number("A9", 0, 0, 9),
  koks_long_area: choice("A10", "first_quarter", "head"),
  koks_requires_none_off: flag("A11", true),
  pass_when: choice("A16", "never", "any_roll", "doubles_only"),
  head_budget_scope: choice("A19", "segment", "whole_turn"),
  extra_roll: flag("A20", false),
  chain_moves: number("A21", 0, 0, 4),
  chain_break: choice("A22", "pass_rest", "skip", "lose_rest"),
  chain_max_scope: choice("A23", "group", "chain"),
  chain_head: choice("A24", "roll", "group", "free"),
  chain_grace_turns: number("A25", 0, 0, 99),
  chain_extra_roll: flag("A26", false),
  cube: flag("A12", false),
  cube_max: number("8.2", 64, 1, 4096),
  beaver: flag("A12", false),
  jacoby: flag("A12", false),
  crawford: flag("A12", true),
  auto_doubles: number("A12", 0, 0, 6),
};

const SHORT = {
  start: "24:2,13:5,8:3,6:5", direction: "contrary", hit: true, head: 0, head_exception: "none", prime_rule: "off",
  opening: "use_lottery", home_mars: 0, koks: 3,
};
const PRESETS = {
  long: {},
  short: SHORT,
  gulbar: { pass_when: "any_roll", extra_roll: true },
  mad_gulbar_a: { pass_when: "any_roll", chain_moves: 2 },
  mad_gulbar_b: { pass_when: "any_roll", chain_moves: 4 },
};

/** The names of the variants that need no sheet. */
export const VARIANTS = Object.keys(PRESETS);

/**
 * The variant `name` of `VARIANTS`, with some options changed.
 * @param {string} name
 * @param {Record<string, any>} [options]
 * @returns {Variant}
 */
export function variant(name, options = {}) {
  if (!Object.hasOwn(PRESETS, name)) throw new Error(`unknown variant '${name}'; known are ${VARIANTS.join(", ")}`);
  return makeVariant({ name, ...PRESETS[name], ...options });
}

/**
 * The variant of a rule sheet, as a bundle's card holds it; options that are missing have their defaults.
 * @param {Record<string, any>} sheet
 * @returns {Variant} the sheet's options, and derived from them:
 *   `startPoints` [[point, count], …] of either side, `mirror` (point 1…24 → the other player's number for it),
 *   `classPoints` the points of single, mars, home mars and koks, `classNames` what these are called, `levels` the
 *   distinct points a game can be worth, ascending, `outputs` how many probabilities describe a position, and
 *   `hasPending`: whether dice can be to play that are not of a fresh roll.
 */
export function makeVariant(sheet) {
  for (const name of Object.keys(sheet)) {
    if (!Object.hasOwn(OPTIONS, name)) throw new Error(`unknown option '${name}' in the rule sheet`);
  }
  const found = {};
  for (const [name, option] of Object.entries(OPTIONS)) {
    found[name] = Object.hasOwn(sheet, name) ? sheet[name] : option.value;
    checkOption(name, option, found[name]);
  }
  found.mirror = mirrorTable(found.direction);
  found.startPoints = readStart(found);
  checkTogether(found);

  const points = [found.single, found.mars, found.home_mars, found.koks];
  // While the cube is centred, as it always is here, Jacoby makes every win a single one (8.2).
  found.classPoints = found.jacoby ? points.map((worth) => Math.min(worth, found.single)) : points;
  found.classNames =
    found.direction === "contrary"
      ? ["single", "gammon", "home_gammon", "backgammon"]
      : ["oin", "mars", "home_mars", "koks"];
  found.levels = [...new Set(found.classPoints)].filter((worth) => worth > 0).sort((a, b) => a - b);
  found.outputs = 2 * found.levels.length - 1;
  found.hasPending = found.pass_when !== "never" || found.chain_moves > 0;
  return Object.freeze(found);
}

/** The sheet of a variant alone, in the order of `OPTIONS`: plain types for JSON. */
export function sheetOf(variant) {
  return Object.fromEntries(Object.keys(OPTIONS).map((name) => [name, variant[name]]));
}

/** The other player's number for my point 1…24 (rules 1); entries 0 and 25 are unused. */
function mirrorTable(direction) {
  const table = [0];
  for (let point = 1; point <= 24; point++) {
    table.push(direction === "contrary" ? 25 - point : point <= 12 ? point + 12 : point - 12);
  }
  return [...table, 0];
}

function complaint(name, demand, value) {
  return new Error(`option ${name} (rule ${OPTIONS[name].rule}) ${demand}; got ${JSON.stringify(value)}`);
}

function checkOption(name, option, value) {
  if (option.choices) {
    if (!option.choices.includes(value)) throw complaint(name, `must be one of ${option.choices.join(", ")}`, value);
  } else if ("low" in option) {
    if (!Number.isInteger(value) || value < option.low || value > option.high) {
      throw complaint(name, `must be a whole number from ${option.low} to ${option.high}`, value);
    }
  } else if (typeof value !== "string" || value === "") {
    throw complaint(name, "must be a text", value);
  }
}

function readStart(sheet) {
  const points = new Map();
  for (const part of sheet.start.split(",")) {
    const [, point, count] = /^\s*(\d+)\s*:\s*(\d+)\s*$/.exec(part)?.map(Number) ?? [];
    if (!(point >= 1 && point <= 24 && count >= 1) || points.has(point)) {
      throw complaint("start", "must read like 24:2,13:5, with points 1 to 24 once each", sheet.start);
    }
    points.set(point, count);
  }
  const total = [...points.values()].reduce((sum, count) => sum + count, 0);
  if (total !== sheet.checkers) {
    throw complaint("start", `must place checkers=${sheet.checkers} in all, not ${total}`, sheet.start);
  }
  for (const point of points.keys()) {
    if (points.has(sheet.mirror[point])) throw complaint("start", `puts both sides on point ${point}`, sheet.start);
  }
  return [...points];
}

function checkTogether(sheet) {
  if (sheet.cube_max & (sheet.cube_max - 1)) throw complaint("cube_max", "must be a power of two", sheet.cube_max);
  // A checker that comes in from the bar can come back to 24: "left the head" would need a memory of its own.
  if (sheet.head && sheet.hit) throw complaint("head", "must be 0 in a variant with hits (hit: true)", sheet.head);
  // Fewer moves of one value, for more of the next or for a win, could be right then: nobody says if they are legal.
  for (const [name, value] of [["chain_break", "skip"], ["bearoff_from_higher", true]]) {
    if (sheet.chain_max_scope === "chain" && sheet[name] === value) {
      throw complaint("chain_max_scope", `must be group in a variant with ${name}=${value}`, sheet.chain_max_scope);
    }
  }
  if (sheet.mars < sheet.single) throw complaint("mars", `must be at least single=${sheet.single}`, sheet.mars);
}
