/** Pieces of SVG that the board is made of. */

const NAMESPACE = "http://www.w3.org/2000/svg";

/** An SVG element with attributes and children. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const stop = (offset, colour) => svg("stop", { offset, "stop-color": colour });

const gradient = (id, colours, attributes) =>
  svg("linearGradient", { id, ...attributes }, ...colours.map((colour, index) => stop(index / (colours.length - 1), colour)));

const ball = (id, light, middle, dark) =>
  svg("radialGradient", { id, cx: 0.36, cy: 0.3, r: 0.85 }, stop(0, light), stop(0.55, middle), stop(1, dark));

/** What the parts of a board refer to. */
export function definitions() {
  return svg("defs", {},
    gradient("wood", ["#5b3520", "#4a2a19", "#56321e", "#44261a"], { x1: 0, y1: 0, x2: 0.25, y2: 1 }),
    gradient("felt", ["#c99a63", "#d0a570", "#c4925a"], { x1: 0, y1: 0, x2: 1, y2: 0.3 }),
    gradient("hollow", ["#2c1810", "#3d2417"], { x1: 0, y1: 0, x2: 0, y2: 1 }),
    gradient("dark-point", ["#7d3d28", "#6a3021"], { x1: 0, y1: 0, x2: 1, y2: 0 }),
    gradient("light-point", ["#f0d9b0", "#e6cb9c"], { x1: 0, y1: 0, x2: 1, y2: 0 }),
    ball("white", "#fffaf0", "#efe2c8", "#c9b48d"),
    ball("black", "#6c5a54", "#3b2f2c", "#211917"),
    gradient("ivory", ["#fffdf6", "#ece0c8"], { x1: 0, y1: 0, x2: 1, y2: 1 }));
}

/** A checker round the origin; flat: as it lies on edge in a tray of `width` with `height` for each. */
export function drawChecker(radius) {
  return svg("g", { class: "face" },
    svg("circle", { class: "shadow", cx: 0.03, cy: 0.06, r: radius }),
    svg("circle", { class: "body", r: radius }),
    svg("circle", { class: "ring", r: radius * 0.68 }),
    svg("circle", { class: "ring inner", r: radius * 0.4 }));
}

/** A borne-off checker, on edge. */
export function drawEdge(width, height) {
  return svg("rect", { class: "edge", x: -width / 2, y: -height / 2, width, height, rx: Math.min(0.07, height / 3) });
}

const PIPS = {
  1: [[0, 0]],
  2: [[-1, -1], [1, 1]],
  3: [[-1, -1], [0, 0], [1, 1]],
  4: [[-1, -1], [1, 1], [-1, 1], [1, -1]],
  5: [[-1, -1], [1, 1], [-1, 1], [1, -1], [0, 0]],
  6: [[-1, -1], [-1, 0], [-1, 1], [1, -1], [1, 0], [1, 1]],
};

/** A die of width 2 · `half` round (x, y). */
export function drawDie(value, x, y, half, kind) {
  const eyes = PIPS[value].map(([dx, dy]) => svg("circle", { cx: dx * half * 0.52, cy: dy * half * 0.52, r: half * 0.19 }));
  return svg("g", { class: `die ${kind}`, transform: `translate(${x} ${y})` },
    svg("rect", { class: "shadow", x: -half + 0.04, y: -half + 0.08, width: 2 * half, height: 2 * half, rx: half * 0.34 }),
    svg("rect", { class: "face", x: -half, y: -half, width: 2 * half, height: 2 * half, rx: half * 0.34 }), ...eyes);
}

/** A small die for a line of text. */
export function inlineDie(value) {
  return svg("svg", { class: "small-die", viewBox: "-0.6 -0.6 1.2 1.2", "aria-hidden": "true" }, drawDie(value, 0, 0, 0.5, ""));
}
