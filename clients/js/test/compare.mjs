/** Comparing the rules here with games that the Python core wrote out (`tests/client_js_dumps.py`). */

import { Game, legalPlays, makeVariant, playText } from "../nardy.mjs";

const sideOf = (letters) => [...letters].map((letter) => letter.charCodeAt(0) - 65);
const positionOf = (letters) => [sideOf(letters.slice(0, 26)), sideOf(letters.slice(26))];
const lettersOf = (position) => String.fromCharCode(...position.flat().map((count) => 65 + count));
const text = (value) => JSON.stringify(value);

/** The game as it was entered, with its first dice to play. */
export function enter(variant, record) {
  if (record.begin) return Game.begin(variant, { key: BigInt(record.begin) });
  const { position, dice, first_turn: firstTurn, key } = record.from;
  return Game.fromPosition(variant, positionOf(position), { key: BigInt(key), dice, firstTurn });
}

/** A state in the form of the dump: the key of the stream, the counter, 52 letters, and the standing. */
export function told(game) {
  const { key, counter, position, standing } = game.state();
  return { key, counter, position: lettersOf(position), standing };
}

const stateText = ({ key, counter, position, standing }) => text([key, counter, position, Object.entries(standing).sort()]);

/** The game that goes on from a state of the dump, under `sheet`. */
export function gameAt(sheet, { key, counter, position, standing }) {
  return Game.fromState({ variant: sheet, key: BigInt(key), counter, position: positionOf(position), standing });
}

/**
 * Every difference between a game of the dump and the rules here, as one line each.
 *
 * Each decision is looked at for itself, from the state that the dump gives: the plays with what they leave, what the
 * player is told, and the state after the play that was made, dice and all.
 * @returns {string[]}
 */
export function differences(record, sheet = record.variant) {
  const found = [];
  const differ = (number, what, mine, theirs) => {
    if (mine !== theirs) found.push(`decision ${number}, ${what}: here ${mine}, there ${theirs}`);
  };
  const variant = makeVariant(sheet);
  const states = [...record.decisions.map((decision) => decision.state), { ...record.end, points: record.points }];
  const first = enter(variant, record);
  differ(0, "state", stateText(told(first)), stateText(states[0]));

  record.decisions.forEach((decision, number) => {
    const game = gameAt(sheet, decision.state);
    const mine = game.plays.map((play) => [lettersOf(play.after), playText(play), play.unused]);
    differ(number, "plays", text(mine), text(decision.plays));
    differ(number, "told", text([game.dice, game.passedOn, game.toFollow, game.firstTurn]), text(decision.told));
    differ(number, "pending", text(game.pending(game.seat)), text(decision.pending));
    const chosen = mine.findIndex(([after]) => after === decision.plays[decision.chosen][0]);
    if (chosen < 0) return;
    const { seat, rolls, passedOn, kept, lost, finished } = game.sequel(chosen);
    const theirs = decision.sequel;
    const sequel = [theirs.seat, theirs.rolls, theirs.passed_on, theirs.kept, theirs.lost, theirs.finished];
    differ(number, "sequel", text([seat, rolls, passedOn, kept, lost, finished]), text(sequel));
    game.play(chosen);
    differ(number, "next state", stateText(told(game)), stateText(states[number + 1]));
    if (number === record.decisions.length - 1) differ(number, "points", game.points, record.points);
  });
  return found;
}

/** Whether `legalPlays` gives the plays of every fresh roll in the game, too. */
export function sameAsLegalPlays(record) {
  const variant = makeVariant(record.variant);
  return record.decisions.every(({ state, told: [dice, passedOn, , firstTurn], plays }) => {
    const { standing } = state;
    const fresh = !passedOn && !standing.chain && standing.passing === 0 && (firstTurn !== null || variant.chain_grace_turns === 0);
    if (!fresh || variant.head_budget_scope === "whole_turn") return true;
    const pair = [standing.first, standing.second || standing.first];
    return legalPlays(variant, positionOf(state.position), pair, firstTurn).length === plays.length;
  });
}
