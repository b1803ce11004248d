/**
 * The page in a real browser: a whole game of each variant by clicks, and what else a person does with it.
 *
 * CHROMIUM is the path of the browser; NARDY_BUNDLES a folder of bundles of the exporter, each with golden cases.
 */

import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { VARIANTS } from "../nardy.mjs";
import { serve } from "./serve.mjs";
import { writeStandins } from "./standin.mjs";

const DESK = { width: 1180, height: 800 };
const SMALL = { width: 400, height: 600 }; // quick to paint
const PHONE = { width: 360, height: 740 };
let folder, server, browser;

before(async () => {
  folder = await mkdtemp(`${tmpdir()}/nardy-`);
  await writeStandins(folder);
  server = await serve(folder);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  server?.close();
  if (folder) await rm(folder, { recursive: true });
});

/** A fresh page at the table, the person to act; what goes wrong in it is collected in `page.faults`. */
async function open(address, { viewport = DESK, ...options } = {}) {
  const context = await browser.newContext({ viewport, ...options });
  context.setDefaultTimeout(60_000); // a busy machine takes its time over the network's runtime
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
  await page.goto(server.url + address);
  return page;
}

async function atTable(address, options) {
  const page = await open(address, options);
  await page.waitForSelector('#status:is([data-phase="you"], [data-phase="over"], [data-phase="dice"])');
  return page;
}

/** What the person can do: the phase, and the middle of each marked area on the screen. */
const look = (page) => page.evaluate(() => {
  const middle = (spot) => {
    const { left, top, width, height } = spot.querySelector(".area").getBoundingClientRect();
    return { spot: Number(spot.dataset.spot), x: left + width / 2, y: top + height / 2 };
  };
  const places = (kind) => [...document.querySelectorAll(`.spot.${kind}`)].map(middle);
  return {
    phase: document.getElementById("status").dataset.phase, done: !document.getElementById("done").disabled,
    sources: places("source"), targets: places("target"), turn: document.querySelectorAll("#log li").length,
  };
});

const waits = (page) => page.waitForFunction(() => document.getElementById("status").dataset.phase !== "bot");

/** The person's turns by the mouse, some play or other, until so many clicks are made or the page asks for something. */
async function playByMouse(page, most) {
  for (let clicks = 0; clicks < most;) {
    const seen = await look(page);
    if (seen.phase === "over" || seen.phase === "dice") return;
    if (seen.done) await page.click("#done");
    else if (seen.phase !== "you") await waits(page);
    else {
      const source = seen.sources[clicks % seen.sources.length];
      await page.mouse.click(source.x, source.y);
      const { targets } = await look(page);
      assert.ok(targets.length > 0, `nowhere to go from ${source.spot}`);
      const target = targets[clicks % targets.length];
      await page.mouse.click(target.x, target.y);
    }
    clicks += 2;
  }
}

/** The rest of a game by the same clicks, made inside the page, which is quicker. Returns how many there were. */
const playOn = (page) => page.evaluate(async () => {
  const click = (element) => {
    const { left, top, width, height } = element.querySelector(".area").getBoundingClientRect();
    const where = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true, button: 0, pointerId: 77 };
    // What is not a finger or a mouse cannot be captured.
    document.querySelector(".board").setPointerCapture = () => {};
    element.dispatchEvent(new PointerEvent("pointerdown", where));
    element.dispatchEvent(new PointerEvent("pointerup", where));
  };
  const some = (kind, number) => {
    const marked = document.querySelectorAll(`.spot.${kind}`);
    return marked[number % marked.length];
  };
  for (let clicks = 0; clicks < 3000; clicks++) {
    const { phase } = document.getElementById("status").dataset;
    const done = document.getElementById("done");
    if (phase === "over") return clicks;
    if (phase === "you" && !done.disabled) done.click();
    else if (phase === "you") click(some("target", clicks) ?? some("source", clicks));
    // Only the bot needs time; to paint every step would take most of it.
    await (phase === "you" && done.disabled ? null : new Promise((resolve) => setTimeout(resolve)));
  }
  throw new Error("the game goes on for ever");
});

const text = (page, id) => page.textContent(`#${id}`);

for (const name of VARIANTS) {
  test(`a whole game of ${name} can be played by clicks`, async () => {
    const page = await atTable(`?bundle=${name}&seed=3&pace=0&lang=en`, { viewport: SMALL, reducedMotion: "reduce" });
    await playByMouse(page, 12);
    assert.ok((await playOn(page)) > 60);
    assert.match(await text(page, "status"), /wins? \d points? \((oin|mars|home mars|single|gammon|backgammon)\)/);
    assert.match(await text(page, "score"), /^You (0 : [1-3]|[1-3] : 0) bot$/);
    await page.click("#next");
    await page.waitForSelector('#status[data-phase="you"]');
    assert.equal(await text(page, "number"), "Game 2");
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
}

const { NARDY_BUNDLES: exported } = process.env;
test("exported bundles give their golden values and choices in a browser", { skip: !exported && "NARDY_BUNDLES names no folder" }, async (t) => {
  const other = await serve(exported);
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${other.url}package.json`); // any page of that server
  for (const name of await readdir(exported)) {
    const told = await page.evaluate(async (bundle) => {
      const [{ openBot }, { checkGolden, urlSource }] = await Promise.all([import("/page/bundles.mjs"), import("/bot.mjs")]);
      const bot = await openBot(urlSource(`/bundles/${bundle}`));
      return checkGolden(bot, await bot.goldenCases());
    }, name);
    assert.deepEqual(told.faults, []);
    assert.ok(told.cases > 0);
    t.diagnostic(`${name}: ${told.cases} cases, ${told.afterstates} plays, probabilities to ${told.largest.toExponential(1)}`);
  }
  await page.context().close();
  other.close();
});

test("served from the top of the repository, the page has the bots in the box", async () => {
  const top = fileURLToPath(new URL("../../..", import.meta.url));
  const { bundles } = JSON.parse(await readFile(`${top}/checkpoints/bundles.json`));
  const other = await serve(folder, top);
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${other.url}clients/js/?lang=en&pace=0`);
  await page.waitForSelector("#bots li");
  assert.equal(await page.locator("#bots li").count(), bundles.length);
  await page.goto(`${other.url}clients/js/?lang=en&pace=0&bundle=${bundles[0]}`);
  await page.waitForSelector('#status[data-phase="you"]');
  await page.context().close();
  other.close();
});

test("a move can be dragged and taken back, and dice in any order", async () => {
  const page = await atTable("?bundle=short&seed=1&pace=0&lang=en");
  const { sources } = await look(page);
  const from = sources.at(-1);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + 30, from.y - 20, { steps: 4 });
  const { targets } = await look(page);
  assert.ok(targets.length > 0);
  await page.mouse.move(targets[0].x, targets[0].y, { steps: 4 });
  await page.mouse.up();
  await page.waitForSelector("#undo:not([disabled])");
  await page.click("#undo");
  await page.waitForSelector("#undo[disabled]");
  assert.deepEqual((await look(page)).sources.map(({ spot }) => spot), sources.map(({ spot }) => spot));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("a turn can be played by keys alone", async () => {
  const page = await atTable("?bundle=long&seed=4&pace=0&lang=en");
  const before = (await look(page)).turn;
  await page.focus(".spot.source");
  for (let press = 0; press < 12 && !(await look(page)).done; press++) await page.keyboard.press("Enter");
  assert.ok((await look(page)).done);
  await page.keyboard.press("d");
  await page.waitForFunction((turn) => document.querySelectorAll("#log li").length > turn + 1, before);
  await page.waitForSelector('#status[data-phase="you"]');
  assert.equal(await page.evaluate(() => document.activeElement.classList.contains("spot")), true);
  await page.context().close();
});

test("the bot tells what it thinks, and its play can be put on the board", async () => {
  const page = await atTable("?bundle=short&seed=2&pace=0&lang=en&evaluation=on");
  await page.waitForSelector("#evaluation tbody button");
  assert.match(await text(page, "evaluation"), /You win.*gammon or more.*backgammon.*Equity/s);
  await page.click("#evaluation tbody tr:nth-child(2) button");
  await page.waitForSelector("#done:not([disabled])");
  await page.click("#evaluate");
  await page.waitForSelector("#evaluation", { state: "hidden" });
  await page.context().close();
});

test("dice can be thrown by hand, also where both play them", async () => {
  const page = await atTable("?bundle=gulbar&seed=5&pace=0&lang=en&dice=hand");
  for (let roll = 0; roll < 4; roll++) {
    await page.click('#throw button[aria-label="6-6"]');
    await waits(page);
    await playByMouse(page, 20);
  }
  assert.match(await text(page, "log"), /→ 6/); // sixes that the enemy's head stops are handed over
  await page.context().close();
});

test("a picked bundle is played, a damaged one refused in one line", async () => {
  const page = await open("?pace=0&lang=en");
  await page.setInputFiles("#folder", `${folder}/long`);
  await page.waitForSelector('#status[data-phase="you"]');
  const broken = `${folder}/broken`;
  const bytes = await readFile(`${folder}/long/policy.onnx`);
  await cp(`${folder}/long`, broken, { recursive: true });
  bytes[bytes.length - 200] ^= 1;
  await writeFile(`${broken}/policy.onnx`, bytes);
  const other = await open("?pace=0&lang=en");
  await other.setInputFiles("#folder", broken);
  await other.waitForSelector("#problem:not([hidden]):has-text('damaged')");
  assert.equal(await text(other, "problem"), "policy.onnx is damaged: it is not the file that the bundle's card lists.");
  await rm(broken, { recursive: true });
  await page.context().close();
  await other.context().close();
});

test("it fits a phone, speaks Russian, and keeps still for who asks for it", async () => {
  const page = await atTable("?bundle=mad_gulbar_a&seed=7&lang=ru&pace=0", { viewport: PHONE, hasTouch: true, reducedMotion: "reduce" });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= PHONE.width, `the page is ${width} wide`);
  assert.equal(await page.evaluate(() => document.documentElement.lang), "ru");
  assert.match(await text(page, "variant-name"), /Бешеный гюльбар/);
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector(".checker")).transitionDuration), "0s");
  const { sources } = await look(page);
  await page.touchscreen.tap(sources[0].x, sources[0].y);
  assert.ok((await look(page)).targets.length > 0);
  await page.click("#language");
  assert.match(await text(page, "variant-name"), /Mad gyulbar/);
  await page.context().close();
});

test("every text is there in both languages, with the same values", async () => {
  const { LANGUAGES: { en, ru } } = await import("../page/strings.mjs");
  assert.deepEqual(Object.keys(ru), Object.keys(en));
  const values = (line) => [...line.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();
  for (const key of Object.keys(en)) assert.deepEqual(values(ru[key]), values(en[key]), key);
});
