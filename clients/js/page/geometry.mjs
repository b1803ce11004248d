/** Where everything on the board lies, in units of one point's width. The person sits below, his home at a lower corner. */

import { BAR, OFF } from "../nardy.mjs";

/** How a board is proportioned: for wide windows, and for phones, where every unit of width counts. */
const WIDE = { edge: 0.3, tray: 0.95, gap: 0.2, bar: 1.1, rim: 0.72, height: 12.4, point: 4.75 };
const NARROW = { edge: 0.1, tray: 0.72, gap: 0.1, bar: 0.8, rim: 0.62, height: 15.2, point: 5.9 };

export const CHECKER = 0.44; // radius
const STACK = 5; // checkers of a stack that fit; a taller one is pushed together and counted

/**
 * @param {{narrow: boolean, homeLeft: boolean, variant: import("../rules/variant.mjs").Variant}} options
 */
export class Geometry {
  constructor({ narrow, homeLeft, variant }) {
    const shape = narrow ? NARROW : WIDE;
    this.edge = shape.edge;
    this.trayWidth = shape.tray;
    this.bar = shape.bar;
    this.rim = shape.rim;
    this.height = shape.height;
    this.point = shape.point;
    this.homeLeft = homeLeft;
    this.variant = variant;
    this.narrow = narrow;
    this.field = shape.edge + shape.tray + shape.gap; // left edge of the left field
    this.width = 2 * this.field + 12 + shape.bar;
    this.stack = narrow ? STACK + 1 : STACK;
  }

  /** The left edge of column 0…11. */
  column(number) {
    return this.field + number + (number >= 6 ? this.bar : 0);
  }

  #across(x) {
    return this.homeLeft ? this.width - x : x;
  }

  /** Where the person's point 1…24 lies: the centre of its column, whether at the upper edge, and the y of its base. */
  place(point) {
    const upper = point > 12;
    const x = this.#across(this.column(upper ? point - 13 : 12 - point) + 0.5);
    return { x, upper, base: upper ? this.rim : this.height - this.rim };
  }

  /** The triangle of a point, as a path. */
  triangle(point) {
    const { x, upper, base } = this.place(point);
    const tip = base + (upper ? this.point : -this.point);
    return `M${x - 0.46} ${base}H${x + 0.46}L${x} ${tip}Z`;
  }

  /** Whether the borne-off checkers of a side, 0 the person's, lie at the right edge: beside its home. */
  #trayAtRight(row) {
    const homeRight = row === 0 || this.variant.direction === "contrary";
    return homeRight !== this.homeLeft;
  }

  /** The tray of a side, as {x, y, width, height}. */
  tray(row) {
    const half = this.height / 2;
    const x = this.#trayAtRight(row) ? this.width - this.edge - this.trayWidth : this.edge;
    return { x, y: row === 0 ? half + 0.25 : this.rim, width: this.trayWidth, height: half - 0.25 - this.rim };
  }

  /** The area in which a tap means a spot of the person: a point 1…24, his bar, or his tray. */
  area(spot) {
    const half = this.height / 2;
    if (spot === OFF) {
      const { x, y, width, height } = this.tray(0);
      return { x: x - 0.1, y, width: width + 0.2, height: height + this.rim };
    }
    if (spot === BAR) return { x: (this.width - this.bar) / 2, y: half, width: this.bar, height: half };
    const { x, upper } = this.place(spot);
    return { x: x - 0.5, y: upper ? 0 : half, width: 1, height: half };
  }

  /** The spot whose area holds (x, y), of those in `spots`; undefined if none does. */
  spotAt(x, y, spots) {
    return spots.find((spot) => {
      const area = this.area(spot);
      return x >= area.x && x <= area.x + area.width && y >= area.y && y <= area.y + area.height;
    });
  }

  /**
   * Where a checker lies.
   * @param {number} row 0 the person's, 1 the other's.
   * @param {number} spot In its owner's numbering; 25 the bar, 0 borne off.
   * @param {number} level How many lie under it.
   * @param {number} count How many lie there in all.
   * @returns {{x: number, y: number, flat: boolean}} flat: it lies on edge, as borne-off checkers do.
   */
  checker(row, spot, level, count) {
    if (spot === OFF) {
      const { x, y, width, height } = this.tray(row);
      const slot = (height - 0.1) / this.variant.checkers;
      return { x: x + width / 2, y: row === 0 ? y + height - 0.05 - slot * (level + 0.5) : y + 0.05 + slot * (level + 0.5), flat: true };
    }
    if (spot === BAR) {
      const away = 1.2 + this.#pitch(level, count, 0.86);
      return { x: this.width / 2, y: this.height / 2 + (row === 0 ? away : -away), flat: false };
    }
    const { x, upper, base } = this.place(row === 0 ? spot : this.variant.mirror[spot]);
    const up = 0.5 + this.#pitch(level, count, 0.9);
    return { x, y: upper ? base + up : base - up, flat: false };
  }

  /** How far from the first checker the one on `level` lies: stacks that are too tall are pushed together. */
  #pitch(level, count, step) {
    return level * step * Math.min(1, (this.stack - 1) / Math.max(count - 1, 1));
  }

  /** Whether a stack of so many is told in figures. */
  counted(count) {
    return count > this.stack;
  }
}
