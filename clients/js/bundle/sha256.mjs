/** SHA-256 of bytes: by Web Crypto, or where a page served over plain http has none, by the same sum written out. */

/** @param {Uint8Array} bytes @returns {Promise<string>} 64 hex digits */
export async function sha256(bytes) {
  const subtle = globalThis.crypto?.subtle;
  const digest = subtle ? new Uint8Array(await subtle.digest("SHA-256", bytes)) : sha256Plain(bytes);
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const firstPrimes = (count) => {
  const primes = [];
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime)) primes.push(n);
  return primes;
};
const fraction = (x) => Math.floor((x - Math.floor(x)) * 2 ** 32) >>> 0;
const ROUNDS = Uint32Array.from(firstPrimes(64), (prime) => fraction(Math.cbrt(prime)));
const START = Uint32Array.from(firstPrimes(8), (prime) => fraction(Math.sqrt(prime)));

/** The same as FIPS 180-4 writes it. @param {Uint8Array} bytes @returns {Uint8Array} 32 bytes */
export function sha256Plain(bytes) {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  const hash = Uint32Array.from(START);
  const words = new Uint32Array(64);
  const turn = (word, by) => (word >>> by) | (word << (32 - by));
  for (let block = 0; block < padded.length; block += 64) {
    for (let t = 0; t < 16; t++) words[t] = view.getUint32(block + 4 * t);
    for (let t = 16; t < 64; t++) {
      const [w15, w2] = [words[t - 15], words[t - 2]];
      const s0 = turn(w15, 7) ^ turn(w15, 18) ^ (w15 >>> 3);
      const s1 = turn(w2, 17) ^ turn(w2, 19) ^ (w2 >>> 10);
      words[t] = words[t - 16] + s0 + words[t - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let t = 0; t < 64; t++) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const first = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[t] + words[t]) | 0;
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, index) => { hash[index] += word; });
  }
  const digest = new Uint8Array(32);
  hash.forEach((word, index) => new DataView(digest.buffer).setUint32(4 * index, word));
  return digest;
}
