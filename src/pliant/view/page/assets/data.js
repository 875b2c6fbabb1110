// The page's data: arrays as typed arrays, numbers as words.

const DATA = JSON.parse(document.getElementById("data").textContent);
const STEPS = 65534; // of rounded values
const KINDS = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, i4: Int32Array };
const decoded = [];

// Array number k of the page.
function array(k) {
  if (!decoded[k]) {
    const text = DATA.arrays[k];
    const isRounded = text.startsWith("u2");
    const [low, step, packed] = isRounded ? text.slice(2).split(" ") : ["", "", text.slice(2)];
    const raw = atob(packed);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    if (isRounded) decoded[k] = Float64Array.from(new Uint16Array(bytes.buffer), (level) => (level > STEPS ? NaN : Number(low) + Number(step) * level));
    else decoded[k] = new KINDS[text.slice(0, 2)](bytes.buffer);
    DATA.arrays[k] = null;
  }
  return decoded[k];
}

function byId(id) {
  return document.getElementById(id);
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

// Last index with times[index] <= t.
function before(times, t) {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}

// 1, 2 or 5 times a power of ten, at most `most`.
function niceStep(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  return [5, 2, 1].find((factor) => factor * power <= most * (1 + 1e-9)) * power;
}

const SUPERSCRIPTS = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";

function powerOfTen(power) {
  return `10${[...String(power)].map((c) => (c === "-" ? "\u207b" : SUPERSCRIPTS[Number(c)])).join("")}`;
}

// A unit with its powers raised: m/s^2.
function raised(unitWords) {
  return unitWords.replace(/\^(-?\d)/g, (_, power) => powerOfTen(power).slice(2));
}

// A number for people: a few digits, powers of ten written out.
function readable(value, digits = 3) {
  if (!Number.isFinite(value)) return "not available";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
  let words;
  if (size >= -3 && size < 6) words = String(Number(value.toPrecision(digits)));
  else {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    words = `${Number(mantissa)} \u00d7 ${powerOfTen(Number(exponent))}`;
  }
  return words.replace("-", "\u2212");
}

function withUnit(value, unit, digits = 3) {
  return unit ? `${readable(value, digits)} ${unit}` : readable(value, digits);
}
