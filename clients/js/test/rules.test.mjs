/**
 * The rules against games of the Python core, which `tests/test_client_js.py` writes.
 *
 * NARDY_DUMPS: the folder with `variants.jsonl`, whole games of each variant, and `options.jsonl`, games under every value
 * of every option, with rival sheets under which each of them would have gone another way.
 */

import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { differences, enter, sameAsLegalPlays } from "./compare.mjs";
import { Game, legalPlays, makeVariant, parsePosition, playText, positionText, rollName, startPosition, variant, VARIANTS }
  from "../nardy.mjs";

const { NARDY_DUMPS: dumps } = process.env;
const skip = dumps === undefined && "NARDY_DUMPS names no folder of games";

async function* records(file) {
  for await (const line of createInterface({ input: createReadStream(`${dumps}/${file}`) })) yield JSON.parse(line);
}

async function compareAll(t, file) {
  const counts = new Map();
  for await (const record of records(file)) {
    const name = record.sheet ?? record.variant.name;
    const found = differences(record);
    assert.deepEqual(found.slice(0, 3), [], name);
    assert.ok(sameAsLegalPlays(record), name);
    for (const rival of record.unlike ?? []) {
      assert.ok(differs(record, rival), `${name}: nothing else comes of ${JSON.stringify(rival)}`);
    }
    counts.set(name, (counts.get(name) ?? 0) + record.decisions.length);
  }
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  t.diagnostic(`${all} decisions under ${counts.size} rule sheets, at least ${Math.min(...counts.values())} each`);
  return counts;
}

/** Whether the rules here, too, lead another way under the rival sheet. */
function differs(record, rival) {
  try {
    return differences(record, rival).length > 0;
  } catch {
    return true; // a position that cannot be under it
  }
}

test("whole games of every variant go as in the Python core", { skip }, async (t) => {
  const counts = await compareAll(t, "variants.jsonl");
  assert.deepEqual([...counts.keys()].sort(), [...VARIANTS].sort());
});

test("every value of every option does what it does in the Python core, and nothing else", { skip }, async (t) => {
  await compareAll(t, "options.jsonl");
});

test("the same key gives the same random game as in the Python core", { skip }, async () => {
  for await (const record of records("random.jsonl")) {
    const game = enter(makeVariant(record.variant), { begin: record.begin });
    while (!game.finished) game.play(game.randomIndex());
    assert.deepEqual([game.seat, game.points, game.counter, positionText(game.position)], record.end);
  }
});

test("positions and plays are read and written as the books do", () => {
  const long = variant("long");
  const position = parsePosition(long, "X=24:14,13:1; O=24:12,14:1,7:1,6:1");
  assert.equal(positionText(position), "X=24:14,13:1; O=24:12,14:1,7:1,6:1");
  assert.throws(() => parsePosition(long, "X=24:16; O=24:15"), /places 16 checkers instead of 15/);
  assert.throws(() => parsePosition(long, "X=24:14,12:1; O=24:15"), /both sides stand on own point 12/);
  const short = variant("short");
  const game = Game.fromPosition(short, startPosition(short), { dice: [3, 1] });
  assert.equal(playText(game.plays[game.find("8/5 6/5")]), "8/5 6/5");
  assert.equal(playText(game.plays[game.find("13/10/9")]), "13/10 10/9");
  assert.throws(() => game.find("8/4 8/7"), /is no legal play of 3-1/);
  assert.throws(() => game.find("8x5"), /cannot read the move/);
  assert.throws(() => game.find("pass"), /a pass is not legal/);
  const [bar] = legalPlays(short, parsePosition(short, "X=bar:1,6:14; O=20:1,13:14"), [5, 5]);
  assert.equal(playText(bar), "bar/20 20/15 15/10 10/5*");
  assert.equal(rollName([5, 6]), "шеш-беш");
});

test("the first turns of the rules' own examples", () => {
  const finals = (name, position, dice, firstTurn) =>
    legalPlays(variant(name), parsePosition(variant(name), position), dice, firstTurn).map(({ after }) => positionText(after).slice(2).split(";")[0]).sort();
  assert.deepEqual(finals("long", "X=24:15; O=24:15", [3, 3], "starter"), ["24:13,18:2", "24:13,21:1,15:1"]);
  assert.deepEqual(finals("long", "X=24:15; O=24:14,4:1", [6, 2], "second"), ["24:13,22:1,18:1"]);
  assert.deepEqual(finals("gulbar", "X=24:14,13:1; O=24:12,14:1,7:1,6:1", [6, 5], null), ["24:14,7:1"]);
  assert.equal(finals("short", "X=24:2,13:5,8:3,6:5; O=24:2,13:5,8:3,6:5", [1, 1], null).length, 42);
});

test("a game that is saved goes on as if it had not been", () => {
  for (const name of VARIANTS) {
    const game = Game.begin(variant(name), { key: 11n });
    for (let turn = 0; turn < 30 && !game.finished; turn++) game.play(game.randomIndex());
    const again = Game.fromState(JSON.parse(JSON.stringify(game.state())));
    for (let turn = 0; turn < 10 && !game.finished; turn++) {
      game.play(game.randomIndex());
      again.play(again.randomIndex());
    }
    assert.deepEqual(again.state(), game.state());
  }
});

test("a rule sheet is refused in one line that names option, rule and value", () => {
  assert.throws(() => makeVariant({ head: 5 }), /^Error: option head \(rule 3.3\) must be a whole number from 0 to 4; got 5$/);
  assert.throws(() => makeVariant({ pass_when: "sometimes" }), /option pass_when \(rule A16\) must be one of never, any_roll/);
  assert.throws(() => makeVariant({ start: "24:14" }), /must place checkers=15 in all, not 14/);
  assert.throws(() => makeVariant({ hit: true }), /option head \(rule 3.3\) must be 0 in a variant with hits/);
  assert.throws(() => makeVariant({ chain: 2 }), /unknown option 'chain'/);
  assert.throws(() => variant("six_one"), /unknown variant 'six_one'/);
});
