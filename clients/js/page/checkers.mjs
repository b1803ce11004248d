/** The checkers on the board: one element each, that keeps its identity while it is moved, so that moves can be seen. */

import { OFF } from "../nardy.mjs";
import { CHECKER } from "./geometry.mjs";
import { drawChecker, drawEdge, svg } from "./svg.mjs";

export class Checkers {
  /** stacks[row][spot]: the elements there, the lowest first. Row 0 is the person. */
  #stacks = [new Map(), new Map()];

  /** The group in which checkers are drawn; set by the board. */
  layer = null;

  /** Lay out a whole position. Stacks that are right already keep their elements. */
  place(position, geometry) {
    if (this.layer.childElementCount === 0) this.#stacks = [new Map(), new Map()];
    for (const row of [0, 1]) {
      position[row].forEach((count, spot) => {
        const stack = this.#stack(row, spot);
        while (stack.length > count) stack.pop().remove();
        while (stack.length < count) stack.push(this.#make(row, geometry));
        this.#arrange(row, spot, geometry);
      });
    }
  }

  /** Move the top checker of a stack onto another. */
  move(row, source, target, geometry) {
    const element = this.#stack(row, source).pop();
    if (!element) return;
    this.layer.append(element); // above all others on its way
    element.classList.toggle("moved", row === 1);
    this.#stack(row, target).push(element);
    this.#arrange(row, source, geometry);
    this.#arrange(row, target, geometry);
  }

  /** The person's top checker on `lifted`, if not null, is in his hand; those on `movable` may be taken. */
  mark(lifted, movable) {
    for (const name of ["lifted", "movable"]) this.layer.querySelectorAll(`.${name}`).forEach((each) => each.classList.remove(name));
    for (const spot of movable) this.top(spot)?.classList.add("movable");
    if (lifted !== null) this.top(lifted)?.classList.add("lifted");
  }

  /** The other's last moves need no longer be marked. */
  forget() {
    this.layer.querySelectorAll(".moved").forEach((element) => element.classList.remove("moved"));
  }

  /** The person's top checker on `spot`, for dragging. */
  top(spot) {
    return this.#stack(0, spot).at(-1);
  }

  /** Put a stack back in order, after dragging. */
  settle(spot, geometry) {
    this.#arrange(0, spot, geometry);
  }

  #stack(row, spot) {
    if (!this.#stacks[row].has(spot)) this.#stacks[row].set(spot, []);
    return this.#stacks[row].get(spot);
  }

  #make(row, geometry) {
    const { width, height } = geometry.tray(row);
    const number = svg("text", { class: "count" });
    const edge = drawEdge(width - 0.16, (height - 0.1) / geometry.variant.checkers - 0.03);
    const element = svg("g", { class: `checker side-${row}` }, drawChecker(CHECKER), edge, number);
    this.layer.append(element);
    return element;
  }

  #arrange(row, spot, geometry) {
    const stack = this.#stack(row, spot);
    stack.forEach((element, level) => {
      const { x, y, flat } = geometry.checker(row, spot, level, stack.length);
      element.style.transform = `translate(${x}px, ${y}px)`;
      element.classList.toggle("flat", flat);
      const top = level === stack.length - 1 && spot !== OFF && geometry.counted(stack.length);
      element.lastElementChild.textContent = top ? stack.length : "";
      // The top one is drawn last, so that its number is seen; only where the order is not right yet.
      if (level > 0 && stack[level - 1].compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING) this.layer.append(element);
    });
  }
}
