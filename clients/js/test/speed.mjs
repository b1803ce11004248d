/**
 * How quickly a bundle is loaded and plays whole games against itself, for `python -m benchmarks.readers`.
 *
 *     node test/speed.mjs FOLDER SECONDS
 *
 * Prints {"load": seconds, "decisions": number, "seconds": number}.
 */

import { resolve } from "node:path";
import { folderSource, loadBot } from "../bot.mjs";
import { Game, stream } from "../nardy.mjs";

const ort = await import("onnxruntime-node").catch(() => import("onnxruntime-web"));
const [folder, limit] = process.argv.slice(2);
const began = performance.now();
const bot = await loadBot(folderSource(resolve(folder)), ort);
const load = (performance.now() - began) / 1000;

let decisions = 0;
const start = performance.now();
for (let number = 0n; performance.now() - start < 1000 * limit; number++) {
  const game = Game.begin(bot.variant, { key: stream(1n, number) });
  while (!game.finished) {
    game.play((await bot.choosePlay(game)).index);
    decisions += 1;
  }
}
console.log(JSON.stringify({ load, decisions, seconds: (performance.now() - start) / 1000 }));
