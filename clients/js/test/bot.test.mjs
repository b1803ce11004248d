/** Bots from bundles: what they choose, and that nothing damaged is played. Needs onnxruntime-node, else -web. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { after, before, test } from "node:test";
import { sha256, sha256Plain } from "../bundle/sha256.mjs";
import { batchOf } from "../bundle/rating.mjs";
import { BundleError, checkGolden, folderSource, loadBot } from "../bot.mjs";
import { Game, parsePosition, pointsWon, stream, variant, VARIANTS } from "../nardy.mjs";
import { writeStandins } from "./standin.mjs";

const ort = await import("onnxruntime-node").catch(() => import("onnxruntime-web")).catch(() => null);
const skip = ort === null && "onnxruntime is not installed: npm install";
// A folder of bundles of the exporter, each with golden cases.
const { NARDY_BUNDLES: exported } = process.env;
let folder;

before(async () => {
  folder = await mkdtemp(`${tmpdir()}/nardy-`);
  await writeStandins(folder);
});
after(() => rm(folder, { recursive: true }));

const bots = new Map();
async function botOf(name) {
  if (!bots.has(name)) bots.set(name, await loadBot(folderSource(`${folder}/${name}`), ort));
  return bots.get(name);
}

for (const name of VARIANTS) {
  test(`a bot plays ${name} to the end by the greatest equity`, { skip }, async () => {
    const bot = await botOf(name);
    const game = Game.begin(bot.variant, { key: stream(3, 0) });
    while (!game.finished) {
      const { index, equity, probabilities, ranked } = await bot.choosePlay(game);
      assert.equal(ranked.length, game.plays.length);
      assert.ok(ranked.every((rated, place) => place === 0 || rated.equity <= ranked[place - 1].equity));
      assert.equal(probabilities.length, bot.variant.outputs);
      assert.ok(Math.abs(equity - equityOf(bot.variant, probabilities)) < 1e-5);
      game.play(index);
    }
    assert.ok(bot.variant.levels.includes(game.points));
  });
}

/** Points by nested probabilities of a player: each level of a win counts its step, each of a loss against him. */
function equityOf({ levels }, probabilities) {
  const steps = levels.map((level, index) => level - (levels[index - 1] ?? 0));
  const wins = probabilities.slice(0, levels.length);
  const losses = [1 - wins[0], ...probabilities.slice(levels.length)];
  return steps.reduce((sum, step, index) => sum + step * (wins[index] - losses[index]), 0);
}

test("a play that wins is worth its points, and is not asked for", { skip }, async () => {
  const bot = await botOf("short");
  const position = parsePosition(bot.variant, "X=2:1,1:1; O=22:1,6:14");
  const game = Game.fromPosition(bot.variant, position, { dice: [6, 5] });
  const choice = await bot.choosePlay(game);
  assert.equal(batchOf(game).index.length, 0);
  assert.equal(choice.equity, 3);
  assert.deepEqual(choice.probabilities, [1, 1, 1, 0, 0]);
  assert.equal(choice.equity, pointsWon(bot.variant, choice.play.after[1]));
});

test("who acts again is rated from his own side, with what he has to play", () => {
  const game = Game.fromPosition(variant("mad_gulbar_a"), parsePosition(variant("mad_gulbar_a"), "X=24:13,11:2; O=24:15"), { dice: [4, 4] });
  const batch = batchOf(game);
  assert.equal(batch.sign, 1);
  assert.deepEqual([...batch.pending.subarray(0, 7)], [0, 0, 0, 0, 2, 2, 1]);
  const long = Game.begin(variant("long"), { key: 1n });
  assert.equal(batchOf(long).sign, -1);
  assert.deepEqual([...batchOf(long).pending.subarray(0, 7)], new Array(7).fill(0));
});

test("both ways to a SHA-256 give the same sum", async () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 1000]) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 37) % 256);
    const right = createHash("sha256").update(bytes).digest("hex");
    assert.equal(await sha256(bytes), right);
    assert.equal(Buffer.from(sha256Plain(bytes)).toString("hex"), right);
  }
});

test("a bundle that is not what was written is refused in one line", { skip }, async () => {
  const refuses = async (problem, message, change) => {
    const copy = `${folder}/changed`;
    await cp(`${folder}/short`, copy, { recursive: true });
    await change(copy);
    await assert.rejects(loadBot(folderSource(copy), ort), (error) => {
      assert.ok(error instanceof BundleError);
      assert.equal(error.problem, problem);
      assert.match(error.message, message);
      assert.ok(!error.message.includes("\n"));
      return true;
    });
    await rm(copy, { recursive: true });
  };
  const rewrite = (change) => async (copy) => {
    const card = JSON.parse(await readFile(`${copy}/card.json`, "utf8"));
    change(card);
    await writeFile(`${copy}/card.json`, JSON.stringify(card));
  };
  await refuses("missing", /changed is no whole bundle: it has no policy.onnx/, (copy) => rm(`${copy}/policy.onnx`));
  await refuses("missing", /it has no card.json/, (copy) => rm(`${copy}/card.json`));
  await refuses("damaged", /policy.onnx is damaged/, async (copy) => {
    const bytes = await readFile(`${copy}/policy.onnx`);
    await writeFile(`${copy}/policy.onnx`, bytes.subarray(0, bytes.length - 1));
  });
  await refuses("card", /is truncated or no card/, async (copy) => {
    await writeFile(`${copy}/card.json`, (await readFile(`${copy}/card.json`)).subarray(0, 300));
  });
  await refuses("format", /has bundle format 1; this client reads format 2/, rewrite((card) => { card.format = 1; }));
  await refuses("card", /does not list/, rewrite((card) => { delete card.files; }));
  await refuses("card", /option head \(rule 3.3\)/, rewrite((card) => { card.variant.head = 7; }));
  await refuses("card", /outputs do not fit/, rewrite((card) => { card.outputs.pop(); }));
  await refuses("card", /is damaged: it is not what was written/, rewrite((card) => { card.sha256 = "0".repeat(64); }));
  await refuses("network", /cannot be played/, async (copy) => {
    await writeFile(`${copy}/policy.onnx`, "nothing");
    await rewrite((card) => { card.files["policy.onnx"] = createHash("sha256").update("nothing").digest("hex"); })(copy);
  });
});

test("exported bundles give their golden values and choices", { skip: skip || (!exported && "NARDY_BUNDLES names no folder") }, async (t) => {
  for (const name of await readdir(exported)) {
    const bot = await loadBot(folderSource(`${exported}/${name}`), ort);
    const told = await checkGolden(bot, await bot.goldenCases());
    assert.deepEqual(told.faults, []);
    t.diagnostic(`${name}: ${told.cases} cases, ${told.afterstates} plays, probabilities to ${told.largest.toExponential(1)}`);
  }
});
