/** Where bots come from: the list beside the page, a picked folder or files, or a folder dropped on the page. */

import { BundleError, filesSource, loadBot, readCard, urlSource } from "../bot.mjs";

const RUNTIME = new URL("../node_modules/onnxruntime-web/dist/", import.meta.url);
let runtime = null;

/** onnxruntime-web, from the page's own folder: no other server is asked. */
async function loadRuntime() {
  runtime ??= import(new URL("ort.wasm.min.mjs", RUNTIME).href).then((ort) => {
    ort.env.wasm.wasmPaths = RUNTIME.href;
    ort.env.wasm.numThreads = 1; // more need headers that a plain server does not send
    return ort;
  });
  try {
    return await runtime;
  } catch {
    runtime = null;
    throw new BundleError("runtime", "onnxruntime-web is missing: run npm install in the folder of this page");
  }
}

/** The bot of a source. Throws a BundleError. */
export async function openBot(source) {
  return loadBot(source, await loadRuntime());
}

/**
 * The bots that the first list found tells: {"bundles": ["folder", …]}, folders beside the list.
 * @param {string[]} addresses Where lists may be, relative to the page.
 * @returns {Promise<{folder: string, source: object, card: ?object, variant: ?object, error: ?Error}[]>} Empty without a list.
 */
export async function listBots([address, ...others]) {
  if (address === undefined) return [];
  const list = new URL(address, document.baseURI);
  let folders;
  try {
    folders = (await (await fetch(list)).json()).bundles;
  } catch {
    return listBots(others);
  }
  return Promise.all(folders.map(async (folder) => {
    const source = urlSource(new URL(folder, list).href);
    try {
      return { folder, source, ...(await readCard(source)), error: null };
    } catch (error) {
      return { folder, source, card: null, variant: null, error };
    }
  }));
}

/** The source of picked files; null if there are none. @param {FileList} files */
export const pickedSource = (files) => (files.length ? filesSource(files) : null);

/** The source of what was dropped: a folder, or its files. @param {DataTransfer} data */
export async function droppedSource(data) {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const folder = entries.find((entry) => entry.isDirectory);
  if (!folder) return pickedSource(data.files);
  const reader = folder.createReader();
  const inside = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    inside.push(...some);
  }
  const files = inside.filter((entry) => entry.isFile);
  const opened = await Promise.all(files.map((entry) => new Promise((resolve, reject) => entry.file(resolve, reject))));
  return { ...filesSource(opened), name: folder.name };
}
