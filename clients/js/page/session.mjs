/**
 * A series of games of a person, seat 0, against a bot, seat 1: whose turn it is, what he has moved so far, what follows.
 *
 * Knows nothing of a page. It tells a `view` what to show and waits for it:
 * @typedef {object} View
 * @property {() => void} changed Anything may have changed: show it.
 * @property {(row: number, steps: object[]) => Promise<void>} moved A side's checkers were moved, 0 the person's.
 * @property {(what: "think" | "read") => Promise<void>} pause Time to see what happened.
 * @property {(seat: number) => Promise<?number[]>} dice What a seat has thrown by hand; null: the computer throws.
 */

import { Game, movesText, nextStarter, resultClass, stream } from "../nardy.mjs";

export const YOU = 0;
export const BOT = 1;

export class Session {
  #run = 0; // counts games, so that what an abandoned one still waits for comes to nothing

  /** @param {{bot: import("../bot.mjs").Bot, seed: bigint, view: View, byHand?: () => boolean}} options */
  constructor({ bot, seed, view, byHand = () => false }) {
    this.bot = bot;
    this.variant = bot.variant;
    this.seed = seed;
    this.view = view;
    this.byHand = byHand;
    this.score = [0, 0];
    this.number = 0;
    this.starter = null; // of the next game; null: by lottery
    this.game = null;
  }

  /** Begin the next game of the series. */
  async begin() {
    const run = ++this.#run;
    this.notices = [];
    this.log = [];
    this.phase = "wait";
    const key = stream(this.seed, this.number++);
    this.game = Game.begin(this.variant, { key, starter: this.starter });
    if (this.game.lottery) {
      const [mine, other] = this.game.lottery;
      this.notices.push({ key: "lottery", mine, other });
    }
    this.notices.push({ key: this.game.seat === YOU ? "begins_you" : "begins_bot" });
    if (this.byHand() && !(this.game.lottery && this.variant.opening === "use_lottery")) {
      const starter = this.game.seat;
      const dice = await this.#thrown(starter, run);
      if (run !== this.#run) return;
      this.game = Game.begin(this.variant, { key, starter, dice });
    }
    await this.#goOn(run);
  }

  /** What a seat has thrown by hand, null for the computer's dice. */
  async #thrown(seat, run) {
    if (!this.byHand() || run !== this.#run) return null;
    this.phase = "dice";
    this.view.changed();
    const dice = await this.view.dice(seat);
    if (run === this.#run) this.phase = "wait";
    return dice;
  }

  /** Play on until the person has to choose, or the game is over. */
  async #goOn(run) {
    for (;;) {
      if (run !== this.#run) return;
      if (this.game.finished) return this.#finish();
      if (this.game.seat === YOU) {
        this.#offer();
        if (this.game.plays[0].moves.length) return this.view.changed();
        this.phase = "pass";
        this.notices.push({ key: "pass_you", dice: this.game.dice });
        this.view.changed();
        await this.view.pause("read");
        if (run === this.#run) await this.#play(0, run);
      } else await this.#botPlays(run);
    }
  }

  async #botPlays(run) {
    this.phase = "bot";
    this.view.changed();
    const [choice] = await Promise.all([this.bot.choosePlay(this.game.copy()), this.view.pause("think")]);
    if (run !== this.#run) return;
    this.notices = [];
    const { dice } = this.game;
    if (choice.play.moves.length === 0) {
      this.notices.push({ key: "pass_bot", dice });
      this.view.changed();
      await this.view.pause("read");
    } else {
      this.notices.push({ key: "played_bot", dice, play: movesText(choice.play.moves) });
      await this.view.moved(BOT, choice.play.moves);
    }
    if (run === this.#run) await this.#play(choice.index, run);
  }

  /** The person is to choose a play: from here he walks the graph of legal steps. */
  #offer() {
    this.phase = "you";
    this.node = this.game.root;
    this.past = []; // what can be undone: {game, node, step}
    this.analysis = null;
  }

  /** Make play `index` of the game, say what follows from it, and have the next dice thrown. */
  async #play(index, run) {
    const { game } = this;
    const seat = game.seat;
    const sequel = game.sequel(index);
    this.log.push({ seat, dice: game.dice, passedOn: game.passedOn, text: movesText(game.plays[index].moves) });
    if (seat === YOU) this.notices = [];
    const name = (text) => `${text}_${seat === YOU ? "you" : "bot"}`;
    if (sequel.passedOn.length) {
      this.notices.push({ key: seat === YOU ? "passed_to_bot" : "passed_to_you", dice: sequel.passedOn });
    }
    if (sequel.lost.length && game.plays[index].moves.length) this.notices.push({ key: name("lost"), dice: sequel.lost });
    if (sequel.kept.length) this.notices.push({ key: "kept", dice: sequel.kept });
    if (sequel.rolls && sequel.seat === seat && !game.passedOn) this.notices.push({ key: name("extra") });
    const dice = sequel.rolls ? await this.#thrown(sequel.seat, run) : null;
    if (run !== this.#run) return;
    game.play(index, dice);
  }

  #finish() {
    const { game } = this;
    this.phase = "over";
    this.notices = [{ key: game.seat === YOU ? "won" : "lost", points: game.points, kind: resultName(game) }];
    this.score[game.seat] += game.points;
    this.starter = nextStarter(this.variant, game.seat, game.turn.starter);
    this.view.changed();
  }

  /** Leave the game, if one is going on: nothing more comes of it. */
  abandon() {
    this.#run++;
    this.phase = "wait";
  }

  /** The spots from which the person can move a checker now. @returns {number[]} */
  sources() {
    return this.phase === "you" ? [...new Set(this.node.steps.map((step) => step.source))] : [];
  }

  /**
   * Where the checker on `source` can go, by one die or several.
   * @returns {Map<number, object[]>} Target → the steps that lead there. Of ways with equally many dice that which hits
   *   more comes first, then the one with the larger die first.
   */
  targets(source) {
    const found = new Map();
    if (this.phase !== "you") return found;
    const hits = (steps) => steps.filter((step) => step.hit).length;
    let ways = [{ node: this.node, at: source, steps: [] }];
    while (ways.length) {
      const longer = ways.flatMap(({ node, at, steps }) =>
        node.steps.filter((step) => step.source === at).map((step) => ({ node: step.node, at: step.target, steps: [...steps, step] })));
      for (const { at, steps } of longer) {
        const known = found.get(at);
        if (!known || (known.length === steps.length && hits(steps) > hits(known))) found.set(at, steps);
      }
      ways = longer.filter((way) => way.at > 0);
    }
    return found;
  }

  /** Move the checker on `source` to `target`. Returns false if that is no legal move. */
  async move(source, target) {
    const steps = this.targets(source).get(target);
    if (!steps) return false;
    await this.#take(steps);
    return true;
  }

  async #take(steps) {
    const run = this.#run;
    for (const step of steps) {
      this.past.push({ game: this.game, node: this.node, step });
      this.node = step.node;
    }
    const moving = this.view.moved(YOU, steps);
    this.#nextGroup();
    this.view.changed();
    await moving;
    if (run === this.#run) this.view.changed();
  }

  /** Dice that follow without a roll are offered at once, so that a whole chain can be undone. */
  #nextGroup() {
    if (this.node.steps.length) return;
    const sequel = this.game.sequel(this.node.index);
    if (sequel.seat !== YOU || sequel.rolls || sequel.finished) return;
    const next = this.game.copy();
    next.play(this.node.index);
    if (next.plays[0].moves.length === 0) return; // the turn ends here: first he may want to undo
    this.past.at(-1).logged = { seat: YOU, dice: this.game.dice, passedOn: this.game.passedOn, text: this.#textSoFar() };
    this.log.push(this.past.at(-1).logged);
    this.game = next;
    this.node = next.root;
    this.analysis = null;
  }

  #textSoFar() {
    return movesText(this.past.filter((entry) => entry.game === this.game).map((entry) => entry.step));
  }

  get canUndo() {
    return this.phase === "you" && this.past.length > 0;
  }

  /** Whether all is played that can be: the person may end his turn. */
  get canFinish() {
    return this.phase === "you" && this.node.steps.length === 0;
  }

  /** Take the last step back. */
  async undo() {
    if (!this.canUndo) return;
    const { game, node, step, logged } = this.past.pop();
    if (logged) this.log.pop();
    if (game !== this.game) this.analysis = null;
    this.game = game;
    this.node = node;
    const back = this.view.moved(YOU, [{ source: step.target, target: step.source, unhit: step.hit }]);
    this.view.changed();
    await back;
  }

  /** The play is as the person wants it. */
  async finish() {
    if (!this.canFinish) return;
    const run = this.#run;
    const { index } = this.node;
    this.phase = "wait";
    this.past = [];
    await this.#play(index, run);
    await this.#goOn(run);
  }

  /** What the bot thinks of the person's dice: see `Bot.choosePlay`. Null where he has nothing to choose. */
  async analyse() {
    if (this.phase !== "you") return null;
    const { game } = this;
    this.analysis ??= await this.bot.choosePlay(game.copy());
    return game === this.game ? this.analysis : null;
  }

  /** Put play `index` on the board in place of what was moved with these dice. */
  async show(index) {
    if (this.phase !== "you") return;
    const { game } = this;
    while (this.past.length && this.past.at(-1).game === game) await this.undo();
    const steps = [];
    let { node } = this;
    for (const move of game.plays[index].moves) {
      const step = node.steps.find((each) => each.source === move.source && each.target === move.target && each.hit === move.hit);
      if (!step) return;
      steps.push(step);
      node = step.node;
    }
    if (steps.length) await this.#take(steps);
  }
}

/** What a finished game is called: one of the variant's class names. */
function resultName({ variant, position }) {
  return variant.classNames[resultClass(variant, position[1])];
}
