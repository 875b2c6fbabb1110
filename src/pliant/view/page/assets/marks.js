// Signs over the picture: contact points that flash, arrows of forces, axes, scale, colour bar, words.

const FLASH = 350; // [ms] that a contact stays visible
const ARROW = 0.28; // length of the largest arrow, of the robot

function drawWords(ctx, words, x, y, align = "left", colour = theme.muted) {
  ctx.save();
  ctx.font = `12px ${theme.font}`;
  ctx.textAlign = align;
  ctx.lineJoin = "round";
  ctx.lineWidth = 3;
  ctx.strokeStyle = theme.card;
  ctx.strokeText(words, x, y);
  ctx.fillStyle = colour;
  ctx.fillText(words, x, y);
  ctx.restore();
}

function drawArrow(ctx, a, b, colour, width) {
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
  if (length < 3) return;
  const [x, y] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
  const head = Math.min(9, 0.6 * length);
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = width;
  ctx.lineCap = "butt";
  strokeLine(ctx, [a, [b[0] - 0.8 * head * x, b[1] - 0.8 * head * y]]);
  ctx.beginPath();
  ctx.moveTo(b[0], b[1]);
  ctx.lineTo(b[0] - head * x - 0.45 * head * y, b[1] - head * y + 0.45 * head * x);
  ctx.lineTo(b[0] - head * x + 0.45 * head * y, b[1] - head * y - 0.45 * head * x);
  ctx.closePath();
  ctx.fill();
}

// Which contacts are seen: those that touch now, and those passed a moment ago while playing.
class Flashes {
  constructor(film) {
    this.film = film;
    this.seen = film.contact ? film.contact.names.map(() => ({ time: -1e9, normal: [0, 0, 0], friction: [0, 0, 0], place: [0, 0, 0] })) : [];
    this.t = film.first;
  }

  force(k, m) {
    const { contact } = this.film;
    const width = contact.names.length;
    const get = (values) => Array.from(values.subarray(3 * (k * width + m), 3 * (k * width + m) + 3));
    return { normal: get(contact.normal), friction: get(contact.friction), place: get(contact.place) };
  }

  // From the time of the last picture to t; isPlaying: contacts in between count too.
  update(t, at, isPlaying, wall) {
    const { film } = this;
    const from = isPlaying && t >= this.t ? this.t : t;
    this.seen.forEach((one, m) => {
      const touches = film.contact.touches[m];
      const touch = touches.find(([start, end]) => start <= t && end >= from);
      one.isTouching = Boolean(touch);
      if (touch) {
        one.time = wall;
        // the largest force passed, else the one now
        let best = this.force(Math.min(at[0] + (at[1] > 0.5 ? 1 : 0), film.t.length - 1), m);
        for (let k = before(film.t, from) + 1; k <= at[0]; k++) {
          const other = this.force(k, m);
          if (Math.hypot(...other.normal) > Math.hypot(...best.normal)) best = other;
        }
        Object.assign(one, best);
      }
      const age = wall - one.time;
      one.strength = isPlaying ? clamp(1 - age / FLASH, 0, 1) : one.isTouching ? 1 : 0;
    });
    this.t = t;
  }

  get isFading() {
    return this.seen.some((one) => one.strength > 0 && !one.isTouching);
  }

  draw(ctx, camera, show) {
    const { film } = this;
    const largest = film.contact ? film.contact.largest || 1 : 1;
    ctx.save();
    for (const one of this.seen) {
      if (!one.strength) continue;
      const at = camera.pixels(one.place);
      ctx.globalAlpha = one.strength;
      ctx.fillStyle = ctx.strokeStyle = theme.normal;
      ctx.beginPath();
      ctx.arc(at[0], at[1], 4, 0, 2 * Math.PI);
      ctx.fill();
      ctx.lineWidth = 2;
      ctx.globalAlpha = 0.7 * one.strength;
      ctx.beginPath();
      ctx.arc(at[0], at[1], calm.matches ? 10 : 7 + 12 * (1 - one.strength), 0, 2 * Math.PI);
      ctx.stroke();
      ctx.globalAlpha = one.strength;
      if (!show.forces) continue;
      // lengths as the root of the force: small ones are seen beside large ones
      const end = (force) => {
        const size = Math.hypot(...force);
        const length = size > 0 ? (ARROW * film.box * Math.sqrt(size / largest)) / size : 0;
        return camera.pixels(one.place.map((value, c) => value + length * force[c]));
      };
      const [normal, friction] = [Math.hypot(...one.normal), Math.hypot(...one.friction)];
      const tip = end(one.normal);
      drawArrow(ctx, at, tip, theme.normal, 2.4);
      if (friction > 1e-9 * largest) drawArrow(ctx, at, end(one.friction), theme.friction, 2.4);
      const { factor, unit: words } = axisUnit("N", [0, normal]);
      if (normal > 1e-4 * largest) drawWords(ctx, withUnit(factor * normal, words), tip[0] + 7, tip[1] + 4, "left", theme.ink);
    }
    ctx.restore();
  }
}

function drawTriad(ctx, camera, film) {
  const origin = [38, camera.height - 34];
  ["x", "y", "z"].forEach((name, c) => {
    const [x, y] = [24 * camera.right[c], -24 * camera.up[c]];
    if (Math.hypot(x, y) < 2) return;
    drawArrow(ctx, origin, [origin[0] + x, origin[1] + y], theme.muted, 1.4);
    drawWords(ctx, name, origin[0] + 1.42 * x, origin[1] + 1.42 * y + 4, "center");
  });
  // where down is, if not where one takes it to be
  const g = Math.hypot(...film.down);
  const [up] = film.down.filter((value) => value);
  if (g === 0 || (up < 0 && Math.abs(up) === g && !film.down[0])) return;
  const [x, y] = [inner(film.down, camera.right), -inner(film.down, camera.up)].map((value) => (28 * value) / g);
  const from = [origin[0] + 64, origin[1] - 14];
  drawArrow(ctx, from, [from[0] + x, from[1] + y], theme.muted, 1.4);
  drawWords(ctx, "gravity", from[0], from[1] - 8, "center");
}

function drawScale(ctx, camera) {
  const length = niceStep(150 / camera.scale);
  const [x, y] = [camera.width - 18, camera.height - 18];
  const start = x - length * camera.scale;
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 1.4;
  strokeLine(ctx, [[start, y - 5], [start, y], [x, y], [x, y - 5]]);
  drawWords(ctx, withUnit(length, "m"), 0.5 * (start + x), y - 7, "center");
}

const COLOUR_WORDS = { stress: ["axial stress, outer fibre", "Pa"], strain: ["axial strain, outer fibre", ""], moment: ["bending moment", "N m"] };

function drawColourBar(ctx, camera, show) {
  if (!show.colour) return;
  const [words, unitWords] = COLOUR_WORDS[show.colour];
  const [width, x, y] = [Math.min(180, 0.4 * camera.width), 16, 34];
  for (let k = 0; k < width; k++) {
    ctx.fillStyle = toCss(mapColour(k / (width - 1)));
    ctx.fillRect(x + k, y, 1.5, 8);
  }
  drawWords(ctx, `${words}${unitWords ? ` [${unitWords}]` : ""}`, x, y - 8, "left", theme.ink);
  drawWords(ctx, "0", x, y + 22);
  drawWords(ctx, readable(show.largest), x + width, y + 22, "right");
}

function drawNotes(ctx, film, camera, show) {
  const words = [];
  const stop = clock.isPlaying ? null : film.stops.find(({ t }) => Math.abs(t - clock.t) <= 1e-9 * (film.last - film.first));
  if (stop) words.push(...stop.words.slice(0, 3), ...(stop.words.length > 3 ? [`and ${stop.words.length - 3} more`] : []));
  if (show.enlarge !== 1 && film.beams.length) words.push(`deformation \u00d7 ${readable(show.enlarge)}, dashed: straight`);
  if (show.forces && film.contact) words.push("arrow length \u221d \u221aforce");
  // beside the colour bar, or below it where the picture is narrow
  const isNarrow = camera.width < 560;
  const top = isNarrow && show.colour ? 76 : 26;
  words.forEach((line, k) => drawWords(ctx, line, isNarrow ? 16 : camera.width - 16, top + 17 * k, isNarrow ? "left" : "right"));
}
