// Axes of charts: ranges that do not magnify rounding, units with prefixes, curves that lie on each other.

const PREFIXES = { "-12": "p", "-9": "n", "-6": "\u00b5", "-3": "m", 3: "k", 6: "M", 9: "G", 12: "T" };
const PREFIXABLE = /^(m|s|N|J|W|Pa|rad|Hz|V|A)(?![\w^])/; // the first symbol of a unit, not raised to a power
const FLAT = 1e-7; // of the largest value: smaller changes are rounding
const ROUNDING = 1e-8; // and smaller than this of an axis on which other values are seen
const ALIKE = 0.006; // of the range: nearer curves look like one,
const MOSTLY = 0.9; // if they are so in most places,
const RESTING = 0.02; // but for those where they do not move: all contact forces are 0 most of the time
const SAMPLES = 240; // places at which curves are compared
const DASH = 11; // [px] that each of several curves on each other shows in turn

// Lowest and highest of curves, with the lines across that they come near, and some air.
function valueEnds(form, curves, isLog) {
  if (form.ends) return form.ends;
  let [low, high] = [Infinity, -Infinity];
  for (const curve of curves)
    for (const value of array(curve.y)) if (Number.isFinite(value) && (value > 0 || !isLog)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (!(low <= high)) return isLog ? [1e-17, 1e-10] : [-1, 1];
  if (isLog) return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high) + 1e-9)];
  const span = high - low;
  for (const { value } of form.levels) if (value > low - 1.5 * span && value < high + 1.5 * span) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const largest = Math.max(Math.abs(low), Math.abs(high));
  if (high - low > FLAT * largest && high - low >= ROUNDING * form.floor) return [low - 0.06 * (high - low), high + 0.06 * (high - low)];
  const half = 0.5 * Math.max(form.floor, 0.2 * largest) || 1;
  return [low - half, high + half];
}

// The factor and the unit with which numbers on an axis are short.
function axisUnit(unitWords, [low, high]) {
  const largest = Math.max(Math.abs(low), Math.abs(high));
  if (!(largest > 0) || (largest >= 0.02 && largest < 1e4)) return { factor: 1, unit: unitWords };
  const power = 3 * Math.floor(Math.log10(largest * 1.0001) / 3);
  if (power === 0) return { factor: 1, unit: unitWords };
  const prefix = PREFIXABLE.test(unitWords) && PREFIXES[power];
  return { factor: 10 ** -power, unit: prefix ? prefix + unitWords : `${powerOfTen(power)} ${unitWords}`.trim() };
}

function valueAt(x, y, at) {
  const k = Math.min(before(x, at), Math.max(x.length - 2, 0));
  const span = x[k + 1] - x[k];
  return span > 0 ? y[k] + ((y[k + 1] - y[k]) * clamp(at - x[k], 0, span)) / span : y[k];
}

// Of every curve its place among those that lie on it, and how many they are; height: of a value on the axis.
function overlaps(curves, [low, high], height) {
  const groups = [];
  for (const curve of curves) {
    const [x, y] = [acrossOf(curve), array(curve.y)];
    const lies = (other) => {
      const [a, b] = [acrossOf(other), array(other.y)];
      if (!x.length || Math.abs(a[0] - x[0]) + Math.abs(a[a.length - 1] - x[x.length - 1]) > 1e-6 * Math.abs(x[x.length - 1] - x[0])) return false;
      let [near, far, resting] = [0, 0, 0];
      for (let k = 0; k < SAMPLES; k++) {
        const at = x[0] + ((k + 0.5) / SAMPLES) * (x[x.length - 1] - x[0]);
        const [own, its] = [height(valueAt(x, y, at)), height(valueAt(a, b, at))];
        const isNear = Math.abs(own - its) <= ALIKE * (high - low);
        const isResting = [own - height(y[0]), its - height(b[0])].every((way) => Math.abs(way) <= RESTING * (high - low));
        if (isNear && isResting) resting++;
        else if (isNear) near++;
        else far++;
      }
      return far ? near >= MOSTLY * (near + far) : near + resting > 0;
    };
    const group = curve.dashed || !isRising(x) ? null : groups.find((one) => lies(one[0]));
    if (group) group.push(curve);
    else groups.push([curve]);
  }
  return new Map(groups.flatMap((group) => group.map((curve, place) => [curve, { place, count: group.length }])));
}

function isRising(x) {
  for (let k = 1; k < x.length; k++) if (x[k] < x[k - 1]) return false;
  return true;
}

// Curves on each other show in turn: each leaves gaps through which those below are seen.
function dashOf(curve, round, { place, count }) {
  if (count > 1 && place > 0) return `${DASH * (count - place)}px,${DASH * place}px`;
  return ["solid", "dash", "dot"][(round + (curve.dashed ? 1 : 0)) % 3];
}
