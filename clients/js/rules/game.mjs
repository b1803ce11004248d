/**
 * One game between two seats, decision by decision: who acts, with which dice, what is legal, and what follows.
 *
 *     const game = Game.begin(variant("gulbar"), { key: stream(7, 0) });
 *     while (!game.finished) game.play(game.randomIndex());
 *
 * A decision is one segment of dice: a roll, dice that the other player could not play and passed on, or one value of a
 * chain of doubles. So the same seat may act several times in a row; in long and short nardy it never does.
 */

import { below, checkDice, openingRoll, roll } from "./dice.mjs";
import { checkPosition, HEAD, OFF, pointsWon, startPosition, swapped } from "./position.mjs";
import { afterPlay, beforeRoll, begin, fromStanding, pendingOf, takeDice, toStanding, turnPlays } from "./turn.mjs";
import { readPlay } from "./notation.mjs";
import { makeVariant, sheetOf } from "./variant.mjs";

/**
 * What follows a play; dice ascending.
 * @typedef {object} Sequel
 * @property {number} seat Who acts next; if the play ends the game, who has won.
 * @property {boolean} rolls He rolls; else he has dice to play already.
 * @property {number[]} passedOn The dice that he has to play because the other could not.
 * @property {number[]} kept Dice that wait until the chain of doubles has ended (`chain_break: skip`).
 * @property {number[]} lost Dice that nobody will play.
 * @property {boolean} finished The play ends the game.
 */

const ascending = (dice) => [...dice].sort((a, b) => a - b);

export class Game {
  #found = null;

  /** For the static makers below. @param {{variant, key, counter, position, turn, lottery?}} state */
  constructor({ variant, key, counter, position, turn, lottery = null }) {
    /** @type {import("./variant.mjs").Variant} */
    this.variant = variant;
    /** The stream of all chance in this game (see `dice.mjs`), a BigInt, and the number of its next draw. */
    this.key = BigInt(key);
    this.counter = counter;
    /** @type {import("./position.mjs").Position} Row 0 is the player who acts; of a finished game, the winner. */
    this.position = position;
    /** @type {import("./turn.mjs").Turn} With no dice only when the game is finished. */
    this.turn = turn;
    /** @type {?[number, number]} The dice of seats 0 and 1 that decided who begins, if they did. */
    this.lottery = lottery;
  }

  /**
   * A new game. Without `starter` the lottery decides who begins (rules 2.1, 3.2, 4.2).
   * @param {{key?: bigint | number, counter?: number, starter?: ?number, dice?: ?number[]}} [options] `dice`: the first
   *   roll, for a client who throws his own dice; only with `starter`.
   */
  static begin(variant, { key = 0n, counter = 0, starter = null, dice = null } = {}) {
    let lottery = null;
    if (starter === null) {
      if (dice !== null) throw new Error("the first roll can be given only together with who begins");
      lottery = openingRoll(key, counter++);
      starter = lottery[0] > lottery[1] ? 0 : 1;
      if (variant.opening === "use_lottery") dice = lottery;
    }
    const game = new Game({ variant, key, counter, position: startPosition(variant), turn: begin(starter), lottery });
    game.#roll(dice && checkDice(dice));
    return game;
  }

  /**
   * A game entered at `position` with seat 0, row 0, on roll: on `dice`, or a random roll.
   * @param {{key?: bigint | number, counter?: number, dice?: ?number[], firstTurn?: ?string}} [options]
   *   `firstTurn`: "starter" or "second" if this is seat 0's first own turn.
   */
  static fromPosition(variant, position, { key = 0n, counter = 0, dice = null, firstTurn = null } = {}) {
    checkPosition(variant, position);
    if (position.some((side) => side[OFF] === variant.checkers)) {
      throw new Error("the game is finished: all checkers of one side are off");
    }
    const turn = beforeRoll(variant, firstTurn);
    if (firstTurn === "second") turn.rolls[1] = 1;
    if (firstTurn === null) turn.rolls[1] = turn.rolls[0];
    const game = new Game({ variant, key, counter, position, turn });
    game.#roll(dice && checkDice(dice));
    return game;
  }

  /** The game of a `state()`; also of one that the trainer's `Game.state` wrote, its key given as a text or BigInt. */
  static fromState({ variant, key, counter, position, standing }) {
    const made = makeVariant(variant);
    checkPosition(made, position);
    return new Game({ variant: made, key, counter, position, turn: fromStanding(standing) });
  }

  /** The whole game in plain types: `Game.fromState` goes on exactly from there. */
  state() {
    return {
      variant: sheetOf(this.variant), key: String(this.key), counter: this.counter,
      position: this.position.map((side) => [...side]), standing: toStanding(this.turn),
    };
  }

  /** The same game once more: what is played on one is not played on the other. */
  copy() {
    return new Game(this); // positions and turns are never changed, only replaced
  }

  /** Who acts, 0 or 1; of a finished game, the winner. */
  get seat() {
    return this.turn.seat;
  }

  /** The dice to play now, larger first: [6, 5], [4], a double of four moves [3, 3, 3, 3]; [] at the end. */
  get dice() {
    return ascending(this.turn.dice).reverse();
  }

  /** Whether the dice are not of the player's own roll: the other could not play them (rules 6.1, 7.4). */
  get passedOn() {
    return !this.turn.own;
  }

  /** The dice that the same player has still to play after these, ascending (rules 7.1, 7.4). */
  get toFollow() {
    return [...this.turn.later];
  }

  /** @type {import("./segment.mjs").Play[]} The legal plays, never empty before the end; one without moves: a pass. */
  get plays() {
    return this.finished ? [] : this.#segment.plays;
  }

  /** @type {?import("./segment.mjs").Node} Where walking the plays step by step begins; null at the end. */
  get root() {
    return this.finished ? null : this.#segment.root;
  }

  get #segment() {
    this.#found ??= turnPlays(this.variant, this.turn, this.position);
    return this.#found;
  }

  /** "starter" or "second" if the dice are the player's first own roll, else null. */
  get firstTurn() {
    if (this.finished || this.passedOn || this.turn.rolls[this.seat] !== 1) return null;
    return this.seat === this.turn.starter ? "starter" : "second";
  }

  get finished() {
    return this.turn.dice.length === 0;
  }

  /** What the winner won, cube aside (rules 8.1); 0 before the end. */
  get points() {
    return this.finished ? pointsWon(this.variant, this.position[1]) : 0;
  }

  /** The position with `seat` in row 0. */
  view(seat) {
    return seat === this.seat ? this.position : swapped(this.position);
  }

  /** What `seat` has to play, 7 numbers as `pendingOf` gives them; all 0 for the player who does not act. */
  pending(seat) {
    return seat === this.seat ? pendingOf(this.turn) : new Array(7).fill(0);
  }

  /**
   * How the game stands after `plays[index]`, which is not made: null if the play wins, no dice if a roll follows.
   * @returns {?import("./turn.mjs").Turn}
   */
  coming(index) {
    const play = this.#chosen(index);
    if (play.after[0][OFF] === this.variant.checkers) return null;
    return afterPlay(this.variant, this.turn, play, this.position[0][HEAD] - play.after[0][HEAD]);
  }

  /** What follows `plays[index]`, which is not made. @returns {Sequel} */
  sequel(index) {
    const { unused } = this.#chosen(index);
    const coming = this.coming(index);
    const nothing = { passedOn: [], kept: [], lost: [] };
    if (coming === null) return { seat: this.seat, rolls: false, ...nothing, finished: true };
    const rolls = coming.dice.length === 0;
    const told = { seat: coming.seat, rolls, ...nothing, finished: false };
    if (this.passedOn) return { ...told, lost: [...unused] };
    const left = ascending([...this.turn.passing, ...unused]);
    if (!coming.own) return { ...told, passedOn: left };
    return rolls ? { ...told, lost: left } : { ...told, kept: left };
  }

  /**
   * Make `plays[index]`; then it is somebody's turn with dice to play, or the game is finished.
   * @param {?number[]} [dice] What is rolled next, for a client who throws his own dice; by default the stream's.
   */
  play(index, dice = null) {
    const play = this.#chosen(index);
    const coming = this.coming(index);
    if (dice !== null && (coming === null || coming.dice.length)) {
      throw new Error("after this play nobody rolls: no dice can be given");
    }
    if (dice !== null) checkDice(dice);
    this.#found = null;
    if (coming === null) {
      this.position = play.after;
      this.turn = { ...begin(this.turn.starter), seat: this.seat, rolls: this.turn.rolls };
      return;
    }
    this.position = coming.seat === this.seat ? play.after : swapped(play.after);
    this.turn = coming;
    if (coming.dice.length === 0) this.#roll(dice);
  }

  /** The index of the play that `text` means: 24/18 13/12, bar/20*, 13/off, 24/18(2), pass. */
  find(text) {
    if (this.finished) throw new Error("the game is finished");
    return readPlay(this.plays, this.position, text, this.dice.join("-"));
  }

  /** The index of a legal play, all equally likely: one draw of the game's stream. */
  randomIndex() {
    return below(this.key, this.counter++, this.plays.length);
  }

  #chosen(index) {
    const play = Number.isInteger(index) ? this.plays[index] : undefined;
    if (play === undefined) {
      throw new Error(this.finished ? "the game is finished" : `play ${index} is none of the ${this.plays.length} legal`);
    }
    return play;
  }

  #roll(dice) {
    const thrown = dice ?? roll(this.key, this.counter++);
    this.turn = takeDice(this.variant, this.turn, this.position, thrown);
  }
}

/**
 * All legal plays of a roll, one for each distinct afterstate; of a chain of doubles those of its first value.
 * @param {import("./position.mjs").Position} position Row 0 moves.
 * @param {[number, number]} dice
 * @param {?string} [firstTurn] "starter" or "second" if it is the mover's first own turn.
 */
export function legalPlays(variant, position, dice, firstTurn = null) {
  return Game.fromPosition(variant, position, { dice, firstTurn }).plays;
}

/** The seat that begins the game after one that `winner` won and `starter` began; null: by lottery (A3). */
export function nextStarter(variant, winner, starter) {
  return { lottery: null, winner, alternate: 1 - starter }[variant.next_starter];
}
