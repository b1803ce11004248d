/** What a person can set, kept in the browser and overridden by the page's address (?lang=ru&pace=0). */

const KEY = "nardy";
const DEFAULTS = {
  lang: (navigator.languages ?? [navigator.language]).some((code) => code.startsWith("ru")) ? "ru" : "en",
  colour: "white", home: "right", dice: "auto", pace: "calm", evaluation: "off",
};

function stored() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {}; // a browser that keeps nothing
  }
}

const address = new URLSearchParams(location.search);

/** The settings; change them with `set`. */
export const settings = { ...DEFAULTS, ...stored() };
for (const name of Object.keys(DEFAULTS)) if (address.has(name)) settings[name] = address.get(name);

export function set(name, value) {
  settings[name] = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // Then it holds until the page is left.
  }
}

// The page's own list; else that of the repository, if it is the top of it that is served.
const LISTS = ["bundles/bundles.json", "../../checkpoints/bundles.json"];

/** What only the address says: `bundles` the list of bots, `bundle` one of them to open at once, `seed` of the dice. */
export const asked = {
  bundles: address.has("bundles") ? [address.get("bundles")] : LISTS,
  bundle: address.get("bundle"),
  seed: /^\d{1,18}$/.test(address.get("seed") ?? "") ? BigInt(address.get("seed")) : null,
};

/** A seed nobody has chosen, short enough to be noted down. */
export const freshSeed = () => BigInt(crypto.getRandomValues(new Uint32Array(1))[0]);

/** How long things take, in ms: a step of a checker, the bot's turn, a message that nobody confirms. */
export function pace() {
  if (settings.pace === "0") return { step: 0, think: 0, read: 0 }; // for tests
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const [step, think, read] = settings.pace === "quick" ? [160, 250, 1300] : [380, 700, 2200];
  return { step: still ? step / 2 : step, think, read };
}
