/**
 * The rules of long and short nardy, gyulbar, mad gyulbar and any rule sheet: positions, plays, turns, dice.
 *
 * No dependencies; runs in browsers and in Node. Everything listed here is stable, the rest may change.
 */

export { makeVariant, sheetOf, variant, VARIANTS } from "./rules/variant.mjs";
export { BAR, checkPosition, HEAD, OFF, pips, pointsWon, POINTS, resultClass, samePosition, startPosition, swapped }
  from "./rules/position.mjs";
export { Game, legalPlays, nextStarter } from "./rules/game.mjs";
export { movesText, parsePosition, parseSide, playText, positionText, rollName, sideText } from "./rules/notation.mjs";
export { below, checkDice, openingRoll, roll, stream } from "./rules/dice.mjs";
export { fromStanding, pendingOf, toStanding } from "./rules/turn.mjs";
