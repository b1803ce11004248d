/** The board as SVG: what lies where, and taps, drags and keys on it as moves. The person sits below. */

import { BAR, OFF, pips, swapped } from "../nardy.mjs";
import { Checkers } from "./checkers.mjs";
import { Geometry } from "./geometry.mjs";
import { pointerMoves } from "./pointer.mjs";
import { say } from "./strings.mjs";
import { definitions, drawDie, svg } from "./svg.mjs";

const SPOTS = [...Array.from({ length: 24 }, (_, index) => 24 - index), BAR, OFF];

/**
 * @typedef {object} Moves What the board asks when the person touches it.
 * @property {() => number[]} sources Where he can take a checker now.
 * @property {(source: number) => number[]} targets Where that checker can go.
 * @property {(source: number, target: number) => void} move
 */

export class Board {
  #spots = new Map(); // spot → its group
  #selected = null;
  #moving = 0; // animations under way: until they are over the checkers lie where these have put them

  /** @param {HTMLElement} host @param {Moves} moves */
  constructor(host, moves) {
    this.host = host;
    this.moves = moves;
    this.svg = svg("svg", { class: "board", role: "group" });
    host.replaceChildren(this.svg);
    this.checkers = new Checkers();
    pointerMoves(this);
    this.svg.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Draw the empty board anew: at the start, and when its proportions or sides change. */
  layOut({ narrow, homeLeft, colour, variant }) {
    this.geometry = new Geometry({ narrow, homeLeft, variant });
    const { width, height } = this.geometry;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.dataset.colour = colour;
    this.#spots.clear();
    this.#selected = null;
    this.diceLayer = svg("g", { class: "dice" });
    this.pipsLayer = svg("g", { class: "pips" });
    this.checkers.layer = svg("g", { class: "checkers" });
    this.svg.replaceChildren(definitions(), this.#ground(), this.#drawSpots(), this.pipsLayer, this.diceLayer, this.checkers.layer);
  }

  #ground() {
    const { width, height, field, bar, rim } = this.geometry;
    const ground = svg("g", { class: "ground" }, svg("rect", { class: "frame", width, height, rx: 0.25 }));
    for (const x of [field, field + 6 + bar]) {
      ground.append(svg("rect", { class: "field", x, y: rim, width: 6, height: height - 2 * rim, rx: 0.06 }));
    }
    for (const row of [0, 1]) ground.append(svg("rect", { class: "tray", rx: 0.1, ...this.geometry.tray(row) }));
    ground.append(svg("line", { class: "hinge", x1: width / 2, y1: 0, x2: width / 2, y2: height }));
    for (let point = 1; point <= 24; point++) {
      const { x, upper } = this.geometry.place(point);
      const dark = (point % 2 === 0) === upper;
      ground.append(svg("path", { class: dark ? "point dark" : "point light", d: this.geometry.triangle(point) }));
      const label = svg("text", { class: "label", x, y: upper ? rim / 2 : height - rim / 2 });
      label.textContent = point;
      ground.append(label);
    }
    ground.append(this.#arrow(0), this.#arrow(1));
    return ground;
  }

  /** Which way a side goes, on the rim above or below the middle of its path. */
  #arrow(row) {
    const { height, homeLeft, variant, width, bar, rim } = this.geometry;
    // Along the lower edge the person goes towards his home; along the upper the other goes to his own.
    const right = row === 0 || variant.direction === "contrary" ? !homeLeft : homeLeft;
    const y = row === 0 ? height - rim / 2 : rim / 2;
    const [from, to] = right ? [-0.26, 0.26] : [0.26, -0.26];
    const d = `M${from} 0H${to}M${to * 0.3} -0.14L${to} 0L${to * 0.3} 0.14`;
    return svg("path", { class: `arrow side-${row}`, d, transform: `translate(${width / 2} ${y}) scale(${Math.min(1, bar)})` });
  }

  #drawSpots() {
    const layer = svg("g", { class: "spots" });
    for (const spot of SPOTS) {
      const mark = spot === OFF ? svg("rect", { class: "mark", rx: 0.1, ...this.geometry.tray(0) })
        : spot === BAR ? svg("circle", { class: "mark", cx: this.geometry.width / 2, cy: this.geometry.height / 2 + 1.2, r: 0.5 })
        : svg("path", { class: "mark", d: this.geometry.triangle(spot) });
      const group = svg("g", { class: "spot", role: "button", tabindex: -1, "data-spot": spot },
        svg("rect", { class: "area", ...this.geometry.area(spot) }), mark);
      this.#spots.set(spot, group);
      layer.append(group);
    }
    return layer;
  }

  /**
   * Show a position at once.
   * @param {import("../rules/position.mjs").Position} position Row 0 the person's.
   * @param {{yours: object[], theirs: object[]}} dice Dice to draw in each half: {value, kind}.
   */
  show(position, dice) {
    this.position = position;
    if (this.#moving === 0) this.checkers.place(position, this.geometry);
    this.#drawDice(dice);
    this.#drawPips(position);
    this.refresh();
  }

  /** Move checkers one after the other, so that it can be seen. */
  async animate(row, steps, pace) {
    this.select(null);
    this.#moving++;
    if (row === 0) this.checkers.forget();
    for (const step of steps) {
      const there = step.target > OFF && step.target < BAR ? this.geometry.variant.mirror[step.target] : 0;
      this.checkers.move(row, step.source, step.target, this.geometry);
      if (step.hit) this.checkers.move(1 - row, there, BAR, this.geometry);
      if (step.unhit) this.checkers.move(1 - row, BAR, this.geometry.variant.mirror[step.source], this.geometry);
      if (pace) await new Promise((resolve) => setTimeout(resolve, pace));
    }
    this.#moving--;
  }

  #drawDice({ yours, theirs }) {
    const { field, bar, height, narrow } = this.geometry;
    const half = narrow ? 0.5 : 0.42;
    const draw = (dice, middle) => dice.map(({ value, kind }, place) =>
      drawDie(value, middle + (place - (dice.length - 1) / 2) * half * 2.7, height / 2, half, kind));
    this.diceLayer.replaceChildren(...draw(yours, field + 9 + bar), ...draw(theirs, field + 3));
  }

  #drawPips(position) {
    const { width, height, rim } = this.geometry;
    const places = [[0, height - rim - 0.02 - 0.3], [1, rim + 0.32]];
    this.pipsLayer.replaceChildren(...places.map(([row, y]) => {
      const text = svg("text", { class: "pip-count", x: width / 2, y });
      text.textContent = pips(position[row]);
      return text;
    }));
  }

  /** Mark what can be moved, and name every spot for those who hear the board. */
  refresh() {
    const sources = this.moves.sources();
    if (this.#selected !== null && !sources.includes(this.#selected)) this.#selected = null;
    const targets = this.#selected === null ? [] : this.moves.targets(this.#selected);
    this.active = this.#selected === null ? sources : [...targets, ...sources];
    const first = this.active[0];
    for (const [spot, group] of this.#spots) {
      const [source, target] = [sources.includes(spot), targets.includes(spot)];
      group.classList.toggle("source", source && this.#selected === null);
      group.classList.toggle("target", target);
      group.classList.toggle("selected", spot === this.#selected);
      group.setAttribute("tabindex", spot === first ? 0 : -1);
      group.setAttribute("aria-disabled", !(source || target));
      group.setAttribute("aria-pressed", spot === this.#selected);
      group.setAttribute("aria-label", this.#name(spot, source, target));
    }
    this.svg.setAttribute("aria-label", say("board"));
    this.checkers.mark(this.#selected, this.#selected === null ? sources : []);
  }

  #name(spot, source, target) {
    const [mine, other] = this.position;
    const theirs = spot >= 1 && spot <= 24 ? other[this.geometry.variant.mirror[spot]] : 0;
    const place = spot === BAR ? say("bar") : spot === OFF ? say("off") : say("point", { number: spot });
    const who = mine[spot] ? say("mine", { number: mine[spot] }) : theirs ? say("theirs", { number: theirs }) : say("empty");
    const can = target ? say("canLand") : source ? say("canMove") : "";
    return [place, who, can].filter(Boolean).join(", ");
  }

  get selected() {
    return this.#selected;
  }

  select(spot) {
    if (this.#selected === spot) return;
    this.#selected = spot;
    this.refresh();
  }

  /** A tap on a spot, or Enter: take a checker, put it down, or change one's mind. */
  press(spot) {
    const target = this.#selected !== null && this.moves.targets(this.#selected).includes(spot);
    if (target) {
      const source = this.#selected;
      this.select(null);
      this.moves.move(source, spot);
    } else this.select(this.#selected !== spot && this.moves.sources().includes(spot) ? spot : null);
  }

  #key(event) {
    const spot = Number(event.target.closest?.(".spot")?.dataset.spot ?? NaN);
    const along = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (along && this.active.length) {
      const order = [...new Set(this.active)].sort((a, b) => b - a);
      const next = order[(order.indexOf(spot) + along + order.length) % order.length];
      this.focus(next);
    } else if ((event.key === "Enter" || event.key === " ") && !Number.isNaN(spot)) {
      this.press(spot);
      if (this.#selected !== null) this.focus(this.active[0]);
    } else if (event.key === "Escape") this.select(null);
    else return;
    event.preventDefault();
  }

  focus(spot) {
    this.#spots.get(spot)?.focus({ preventScroll: true });
  }

  /** Where a point of the window lies on the board, in its units. */
  toUnits(clientX, clientY) {
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return { x, y };
  }

  spotAt(x, y, spots = SPOTS) {
    return this.geometry.spotAt(x, y, spots);
  }
}

/** A position with the person in row 0. */
export const seenBy = (game, seat) => (game.seat === seat ? game.position : swapped(game.position));
