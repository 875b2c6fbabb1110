// Colours of the canvas and the charts, from the style sheet; they follow light and dark.

const LEVELS = 24; // of shading
const LIGHT = [-0.35, 0.55, 0.76]; // direction to the light in the view: right, up, toward
// a map that grows evenly in lightness (after viridis)
const MAP = ["#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const theme = {};

function toRgb(colour) {
  const text = colour.trim();
  return [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16));
}

function toCss(rgb, alpha = 1) {
  const [r, g, b] = rgb.map((value) => Math.round(clamp(value, 0, 255)));
  return alpha === 1 ? `rgb(${r},${g},${b})` : `rgba(${r},${g},${b},${alpha})`;
}

function mix(a, b, share) {
  return a.map((value, k) => value + share * (b[k] - value));
}

// A colour of the map, share 0 .. 1.
function mapColour(share) {
  const place = clamp(share, 0, 1) * (MAP.length - 1);
  const k = Math.min(Math.floor(place), MAP.length - 2);
  return mix(toRgb(MAP[k]), toRgb(MAP[k + 1]), place - k);
}

// The colour from shadow to light.
function shades(rgb) {
  const found = [];
  for (let k = 0; k < LEVELS; k++) {
    const share = k / (LEVELS - 1);
    found.push(toCss(share < 0.6 ? mix(mix(rgb, [0, 0, 0], 0.5), rgb, share / 0.6) : mix(rgb, [255, 255, 255], (share - 0.6) * 0.8)));
  }
  return found;
}

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  for (const name of ["card", "ink", "muted", "line", "grid", "edge", "trail", "ground", "bad", "page"]) theme[name] = get(name);
  theme.curves = [0, 1, 2, 3, 4, 5].map((k) => get(`curve${k}`)).concat(theme.ink);
  theme.normal = get("force");
  theme.friction = get("friction");
  theme.tones = {};
  for (const tone of ["body", "body2", "joint", "mass", "base", "lit"]) theme.tones[tone] = shades(toRgb(get(`tone-${tone}`)));
  theme.mapped = [];
  for (let k = 0; k < 64; k++) theme.mapped.push(shades(mapColour(k / 63)));
  theme.font = style.getPropertyValue("font-family") || "sans-serif";
}
readTheme();

const dark = window.matchMedia("screen and (prefers-color-scheme: dark)");
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
dark.addEventListener("change", readTheme);
