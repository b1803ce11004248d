/** Golden cases: decisions with all legal plays, their values and the play to choose, to check a port against. */

import { OFF } from "../rules/position.mjs";
import { Game } from "../rules/game.mjs";
import { fromStanding, pendingOf } from "../rules/turn.mjs";
import { batchOf, rank } from "./rating.mjs";

const PROBABILITY = 1e-5; // what a probability may differ by …
const TOLERANCE = 1e-4; // … and an equity, of several

/**
 * What differs between a bot with the rules here and its bundle's golden cases.
 * @param {import("../bot.mjs").Bot} bot
 * @param {object[]} cases As `bot.goldenCases()` gives them.
 * @returns {Promise<{cases: number, afterstates: number, largest: number, faults: string[]}>} `largest`: the greatest
 *   difference of a probability; `faults`: one line each for a case with other plays, values or choice.
 */
export async function checkGolden(bot, cases) {
  const told = { cases: cases.length, afterstates: 0, largest: 0, faults: [] };
  for (const [number, golden] of cases.entries()) {
    const fault = (what) => told.faults.push(`golden case ${number + 1}: ${what}`);
    const game = gameOf(bot.variant, golden);
    const mine = new Map(game.plays.map((play, index) => [play.after.join(";"), index]));
    const theirs = golden.afterstates.map((after) => after.map((side) => side.join(",")).join(";"));
    told.afterstates += theirs.length;
    if (theirs.length !== mine.size || !theirs.every((after) => mine.has(after))) {
      fault(`${mine.size} plays here, ${theirs.length} there, or others`);
      continue;
    }
    if (golden.next && game.plays.some((play) => play.after[0][OFF] < bot.variant.checkers)) {
      const coming = game.coming(game.plays.findIndex((play) => play.after[0][OFF] < bot.variant.checkers));
      const next = [coming.seat === game.seat, ...pendingOf(coming)].join();
      if (next !== [golden.next.same_player, ...golden.next.pending].join()) fault(`another player or other dice follow: ${next}`);
    }
    const batch = batchOf(game);
    const rated = await bot.evaluate(batch.positions, batch.pending);
    const rowOf = new Map(batch.index.map((index, row) => [index, row]));
    const apart = theirs.flatMap((after, index) => {
      const row = rowOf.get(mine.get(after));
      if (row === undefined) return []; // a play that wins
      return golden.probabilities[index].map((value, output) => Math.abs(value - rated.probabilities[row * bot.variant.outputs + output]));
    });
    const most = Math.max(0, ...apart);
    told.largest = Math.max(told.largest, most);
    if (!(most <= PROBABILITY)) fault(`a probability differs by ${most}`);
    const ranked = rank(game, batch, rated);
    const equities = new Map(ranked.map(({ index, equity }) => [index, equity]));
    const differences = theirs.map((after, index) => Math.abs(equities.get(mine.get(after)) - golden.equities[index]));
    const largest = Math.max(...differences);
    if (!(largest <= TOLERANCE)) fault(`an equity differs by ${largest}`);
    if (ranked[0].index !== mine.get(theirs[golden.choice])) fault("another play is chosen");
  }
  return told;
}

/** The decision of a golden case as a game: seat 0, row 0, to play. */
export function gameOf(variant, { position, dice, first_turn: firstTurn = null, standing = null }) {
  if (standing === null) return Game.fromPosition(variant, position, { dice, firstTurn });
  if ("rolls_0" in standing) return new Game({ variant, key: 0n, counter: 0, position, turn: fromStanding(standing) });
  const later = standing.steps.slice(0, 6).flatMap((steps, index) => {
    const value = index + 1;
    return Array(steps - standing.now.filter((die) => die === value).length).fill(value);
  });
  const passing = standing.passing.flatMap((steps, index) => Array(steps).fill(index + 1));
  const { own, chain, extra, head_left: headLeft, patient } = standing;
  const turn = { seat: 0, starter: 0, rolls: [1, 1], dice: standing.now, later, passing, own, chain, extra, headLeft, patient };
  return new Game({ variant, key: 0n, counter: 0, position, turn });
}
