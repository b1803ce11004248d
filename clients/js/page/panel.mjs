/** What stands beside the board in words: status, the dice that follow, the bot's opinion, the list of moves. */

import { movesText } from "../nardy.mjs";
import { languageInUse, say, sayPoints } from "./strings.mjs";
import { inlineDie } from "./svg.mjs";
import { YOU } from "./session.mjs";

const SHOWN = 8; // plays of the bot's opinion

/** An HTML element with properties and children. */
export function html(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

const playName = (play) => (play.moves.length ? movesText(play.moves) : say("pass"));

/** What has happened, and what is to be done, as sentences. @param {import("./session.mjs").Session} session */
export function statusText(session) {
  const told = session.notices.map((notice) => {
    const values = { ...notice };
    if (notice.dice) values.dice = notice.dice.join("-");
    if (notice.points) values.points = sayPoints(notice.points);
    if (notice.kind) values.kind = say(`kind_${notice.kind}`);
    return say(notice.key, values);
  });
  const { game, phase } = session;
  if (phase === "you") told.push(session.canFinish ? say("confirm") : say("turn_you", { dice: game.dice.join("-") }));
  if (phase === "bot") told.push(say("thinking", { dice: game.dice.join("-") }));
  return told;
}

/** The dice to draw on the board, in the half of whoever plays them. */
export function diceToDraw(session) {
  const none = { yours: [], theirs: [] };
  const { game, phase } = session;
  if (phase === "over" || phase === "dice" || phase === "wait" || game.finished) return none;
  const left = phase === "you" ? [...session.node.dice] : [...game.dice];
  const drawn = game.dice.map((value) => {
    const at = left.indexOf(value);
    if (at >= 0) left.splice(at, 1);
    return { value, kind: [at < 0 && "used", game.passedOn && "passed"].filter(Boolean).join(" ") };
  });
  return game.seat === YOU ? { ...none, yours: drawn } : { ...none, theirs: drawn };
}

/** The dice that the same player plays after these: chain groups, or what else was passed on to him. */
export function showFollowing(host, { game, phase }) {
  const dice = phase === "over" || game.finished ? [] : game.toFollow;
  host.hidden = dice.length === 0;
  if (host.hidden) return host.replaceChildren();
  const groups = [...new Set(dice)].map((value) => {
    const group = html("span", { className: "group" }, ...dice.filter((die) => die === value).map(inlineDie));
    group.setAttribute("role", "img");
    group.setAttribute("aria-label", dice.filter((die) => die === value).join("-"));
    return group;
  });
  host.replaceChildren(html("span", {}, say("then") + (game.passedOn ? ` (${say("passedOn")})` : "") + ":"), ...groups);
}

/**
 * The bot's opinion of the person's dice.
 * @param {?object} analysis As `Session.analyse` gives it.
 * @param {(index: number) => void} choose Called with a play that the person wants to see on the board.
 */
export function showEvaluation(host, variant, analysis, choose) {
  host.hidden = analysis === null;
  if (analysis === null) return host.replaceChildren();
  const { equity, probabilities, ranked } = analysis;
  const rows = ranked.slice(0, SHOWN).map((rated) => {
    const button = html("button", { type: "button", title: say("showPlay"), onclick: () => choose(rated.index) }, playName(rated.play));
    const loss = rated.equity - equity;
    return html("tr", {}, html("td", {}, button), html("td", {}, signed(rated.equity)), html("td", {}, loss ? signed(loss) : ""));
  });
  const head = html("tr", {}, ...["play", "equity", "loss"].map((key) => html("th", { scope: "col" }, say(key))));
  const more = ranked.length > SHOWN ? html("p", { className: "quiet" }, say("more", { number: ranked.length - SHOWN })) : null;
  host.replaceChildren(
    html("h2", {}, say("evaluation")), html("p", { className: "quiet" }, say("forYou")),
    html("div", { className: "chances" }, ...chances(variant, probabilities)),
    html("p", { className: "equity" }, `${say("equity")} `, html("b", {}, signed(equity))),
    html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows)), ...[more].filter(Boolean),
  );
}

const signed = (number) => (number < 0 ? "−" : "+") + Math.abs(number).toFixed(3);

/** A bar for each probability, of winning and of losing. */
function chances(variant, probabilities) {
  const { levels } = variant;
  const kindOf = (level) => say(`kind_${variant.classNames[variant.classPoints.indexOf(level)]}`);
  const side = (title, values, className) => [
    html("div", { className: `chance ${className}` }, html("span", {}, title), meter(values[0]), html("span", {}, percent(values[0]))),
    ...levels.slice(1).map((level, index) =>
      html("div", { className: `chance part ${className}` },
        html("span", {}, index + 2 < levels.length ? say("orMore", { kind: kindOf(level) }) : kindOf(level)),
        meter(values[index + 1]), html("span", {}, percent(values[index + 1])))),
  ];
  const wins = probabilities.slice(0, levels.length);
  return [...side(say("win"), wins, "win"), ...side(say("lose"), [1 - wins[0], ...probabilities.slice(levels.length)], "lose")];
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;

function meter(share) {
  const bar = html("i");
  bar.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return html("span", { className: "meter" }, bar);
}

/** All moves of the game, the last first. */
export function showLog(host, session) {
  const shown = [languageInUse(), session.seed, session.number, session.log.length].join();
  if (host.dataset.shown === shown) return;
  host.dataset.shown = shown;
  const rows = [...session.log].reverse().map(({ seat, dice, passedOn, text }) =>
    html("li", { className: seat === YOU ? "mine" : "theirs" },
      html("span", { className: "who" }, say(seat === YOU ? "you" : "bot")),
      html("span", { className: "rolled" }, (passedOn ? "→ " : "") + dice.join("-")),
      html("span", {}, text === "pass" ? say("pass") : text)));
  const list = rows.length ? html("ol", {}, ...rows) : html("p", { className: "quiet" }, say("noPlays"));
  host.replaceChildren(html("h2", {}, say("log")), list);
}

/** All 21 rolls as buttons; resolves with the one that is pressed. */
export function askRoll(host, title) {
  return new Promise((resolve) => {
    const close = (dice) => {
      host.hidden = true;
      host.replaceChildren();
      host.close = null;
      resolve(dice);
    };
    const rows = [6, 5, 4, 3, 2, 1].map((larger) => html("div", { className: "rolls" },
      ...Array.from({ length: larger }, (_, index) => larger - index).map((smaller) => {
        const button = html("button", { type: "button", onclick: () => close([larger, smaller]) }, inlineDie(larger), inlineDie(smaller));
        button.setAttribute("aria-label", `${larger}-${smaller}`);
        return button;
      })));
    host.close = () => close(null);
    host.replaceChildren(html("h2", {}, title), ...rows);
    host.hidden = false;
    host.querySelector("button").focus();
  });
}
