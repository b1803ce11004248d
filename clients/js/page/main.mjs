/** The page: choosing a bot, the table, settings; everything that touches the document's own elements. */

import { BundleError } from "../bot.mjs";
import { startPosition } from "../nardy.mjs";
import { Board, seenBy } from "./board.mjs";
import { droppedSource, listBots, openBot, pickedSource } from "./bundles.mjs";
import { askRoll, diceToDraw, html, showEvaluation, showFollowing, showLog, statusText } from "./panel.mjs";
import { BOT, Session, YOU } from "./session.mjs";
import { asked, freshSeed, pace, set, settings } from "./settings.mjs";
import { languageInUse, say, setLanguage } from "./strings.mjs";

const at = (id) => document.getElementById(id);
const narrow = matchMedia("(max-width: 640px)");

let session = null;
let bots = null; // as `listBots` gives them
let lastError = null;
let opening = "";
let byKeys = false; // whether the person used the keyboard last

const board = new Board(at("board"), {
  sources: () => session?.sources() ?? [],
  targets: (source) => [...(session?.targets(source).keys() ?? [])],
  move: (source, target) => session.move(source, target),
});

const view = {
  changed: () => show(),
  moved: (row, steps) => board.animate(row, steps, row === YOU && steps.length === 1 ? 0 : pace().step),
  pause: (what) => new Promise((resolve) => setTimeout(resolve, pace()[what])),
  dice: (seat) => askRoll(at("throw"), say(seat === YOU ? "throwFor_you" : "throwFor_bot")),
};

/** Everything on the page as it stands now. */
function show() {
  document.documentElement.lang = languageInUse();
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  at("choose").hidden = session !== null;
  at("table").hidden = session === null;
  at("problem").textContent = lastError === null ? opening && say("loading", { name: opening }) : sayError(lastError);
  at("problem").hidden = lastError === null && !opening;
  if (session === null) return showBots();

  at("bot-name").textContent = session.bot.name;
  at("variant-name").textContent = variantName(session.variant);
  at("score").textContent = say("score", { you: session.score[YOU], bot: session.score[BOT] });
  at("number").textContent = say("game", { number: session.number });
  at("seed").textContent = settings.dice === "hand" ? "" : say("seed", { seed: session.seed });
  // What happened in one line, what is to be done in another: the board below keeps its place.
  const sentences = statusText(session);
  const lines = [sentences.slice(0, -1).join(" "), sentences.at(-1)];
  const status = lines.filter(Boolean).map((line) => html("p", {}, line));
  if (at("status").textContent !== status.map((line) => line.textContent).join("")) at("status").replaceChildren(...status);
  at("status").dataset.phase = session.phase;
  showTable();
}

let shownTurn = -1;

function showTable() {
  const { game, phase } = session;
  const position = phase === "you" ? [session.node.own, session.node.opp] : seenBy(game, YOU);
  board.show(position, diceToDraw(session));
  at("undo").disabled = !session.canUndo;
  at("done").hidden = phase === "over";
  at("done").disabled = !session.canFinish;
  at("next").hidden = phase !== "over";
  if (phase === "over" && document.activeElement === document.body) at("next").focus();
  // Who plays by keys finds himself on the board when his turn begins.
  const turn = session.log.length;
  if (phase === "you" && byKeys && turn !== shownTurn && !document.activeElement?.closest?.("aside")) board.focus(board.active[0]);
  if (phase === "you") shownTurn = turn;
  showFollowing(at("then"), session);
  showLog(at("log"), session);
  at("evaluate").setAttribute("aria-pressed", settings.evaluation === "on");
  showAnalysis();
}

async function showAnalysis() {
  const { game } = session;
  const analysis = settings.evaluation === "on" ? await session.analyse() : null;
  if (session?.game === game || analysis === null) {
    showEvaluation(at("evaluation"), session?.variant, analysis, (index) => session.show(index));
  }
}

function variantName(variant) {
  const known = ["short", "long", "gulbar", "mad_gulbar_a", "mad_gulbar_b"].includes(variant.name);
  return known ? say(`variant_${variant.name}`) : say("house", { name: variant.name });
}

function sayError(error) {
  if (!(error instanceof BundleError)) return String(error?.message ?? error);
  return error.problem === "runtime" ? say("noRuntime") : say(`problem_${error.problem}`, { file: error.file });
}

function showBots() {
  const cards = (bots ?? []).map(({ folder, source, card, variant, error }) => {
    if (error) return html("li", { className: "unusable" }, html("b", {}, folder), html("span", {}, sayError(error)));
    const games = card.training?.games ? say("games", { games: card.training.games.toLocaleString(languageInUse()) }) : "";
    const button = html("button", { type: "button", onclick: () => play(source) },
      html("b", {}, variantName(variant)), html("span", {}, card.name), html("span", { className: "quiet" }, games));
    return html("li", {}, button);
  });
  at("bots").replaceChildren(...cards);
  at("no-bots").hidden = bots === null || bots.length > 0;
}

/** Open a bot and begin a series of games against it. */
async function play(source) {
  lastError = null;
  opening = source.name;
  show();
  try {
    const bot = await openBot(source);
    session = new Session({ bot, seed: asked.seed ?? freshSeed(), view, byHand: () => settings.dice === "hand" });
    layOut();
  } catch (error) {
    lastError = error;
  }
  opening = "";
  if (lastError) show();
  else await begin();
}

async function begin() {
  at("throw").close?.();
  try {
    await session.begin();
  } catch (error) {
    fail(error);
  }
}

function fail(error) {
  lastError = error;
  show();
}

function layOut() {
  if (session === null) return;
  board.layOut({ narrow: narrow.matches, homeLeft: settings.home === "left", colour: settings.colour, variant: session.variant });
  if (session.game) show();
  else board.show(startPosition(session.variant), { yours: [], theirs: [] });
}

function askToAbandon() {
  const going = session?.game && session.phase !== "over" && session.log.length > 0;
  return !going || confirm(say("abandon"));
}

const ACTIONS = {
  undo: () => session?.undo(),
  done: () => session?.finish().catch(fail),
  evaluate: () => { set("evaluation", settings.evaluation === "on" ? "off" : "on"); show(); },
  next: begin,
  again: () => { at("settings").close(); if (session && askToAbandon()) begin(); },
  other: () => {
    at("settings").close();
    if (!askToAbandon()) return;
    session?.abandon();
    at("throw").close?.();
    session = null;
    show();
  },
  language: () => { set("lang", languageInUse() === "en" ? "ru" : "en"); setLanguage(settings.lang); show(); },
  "open-settings": () => { at("game-settings").hidden = session === null; at("settings").showModal(); },
  "close-settings": () => at("settings").close(),
};
for (const [id, action] of Object.entries(ACTIONS)) at(id).addEventListener("click", action);

for (const input of document.querySelectorAll("#settings input[type=radio]")) {
  input.checked = settings[input.name] === input.value;
  input.addEventListener("change", () => { set(input.name, input.value); layOut(); });
}

document.addEventListener("pointerdown", () => { byKeys = false; }, true);
document.addEventListener("keydown", (event) => {
  byKeys = true;
  if (event.ctrlKey || event.metaKey || event.altKey || at("settings").open || session === null) return;
  const id = { KeyU: "undo", KeyD: "done", KeyE: "evaluate" }[event.code];
  if (!id) return;
  event.preventDefault();
  at(id).click();
});

at("folder").addEventListener("change", ({ target }) => { const source = pickedSource(target.files); if (source) play(source); });
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  const source = await droppedSource(event.dataTransfer);
  if (source && askToAbandon()) { session?.abandon(); session = null; play(source); }
});
narrow.addEventListener("change", layOut);

setLanguage(settings.lang);
// A phone picks files, not folders.
if (narrow.matches && navigator.maxTouchPoints > 0) at("folder").removeAttribute("webkitdirectory");
bots = await listBots(asked.bundles);
show();
const wanted = bots.find(({ folder }) => folder === asked.bundle);
if (wanted) play(wanted.source);
