// What stands around the robot: ground, planes of contact, supports, shadow, trails, forces, axes, scale, colours.

function strokeLine(ctx, points) {
  ctx.beginPath();
  points.forEach((point, k) => (k ? ctx.lineTo(point[0], point[1]) : ctx.moveTo(point[0], point[1])));
  ctx.stroke();
}

// A line with short strokes on one side, the sign of the ground; side: a unit vector of pixels.
function drawHatched(ctx, a, b, side, depth = 8) {
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
  const along = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
  ctx.strokeStyle = theme.ground;
  ctx.lineWidth = 2;
  strokeLine(ctx, [a, b]);
  ctx.lineWidth = 1.1;
  ctx.beginPath();
  for (let s = 0; s <= length; s += 9) {
    const [x, y] = [a[0] + s * along[0], a[1] + s * along[1]];
    ctx.moveTo(x, y);
    ctx.lineTo(x + depth * (side[0] - 0.8 * along[0]), y + depth * (side[1] - 0.8 * along[1]));
  }
  ctx.stroke();
}

function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function inner(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function unit(a) {
  const size = Math.hypot(...a) || 1;
  return a.map((value) => value / size);
}

// Planes that are drawn: those of contact, else a floor below everything.
function groundPlanes(film, pose, camera) {
  if (film.planes.length)
    return film.planes.map(({ body, point, normal, name }) =>
      body < 0 ? { name, point, normal, isWorld: true } : { name, point: moved(pose.bodies[body], ...point), normal: turn(pose.bodies[body].R, 0, ...normal), isWorld: false },
    );
  // planar models have none, nor has what is seen flat
  if (!film.floor || (film.flat && (film.starts_flat || camera.isFlat))) return [];
  const up = film.upright === "y" ? [0, 1, 0] : [0, 0, 1];
  const point = film.low.map((value, c) => (up[c] ? value : 0.5 * (value + film.high[c])));
  return [{ name: "", point, normal: up, isWorld: true }];
}

function drawGround(ctx, film, camera, plane) {
  const size = plane.isWorld ? 0.56 * Math.max(...film.high.map((value, c) => value - film.low[c]), film.box) : 0.5 * film.box;
  const middle = film.low.map((value, c) => 0.5 * (value + film.high[c]) + camera.shift[c]);
  const above = inner(middle.map((value, c) => value - plane.point[c]), plane.normal);
  const centre = plane.isWorld ? middle.map((value, c) => value - above * plane.normal[c]) : plane.point;
  if (Math.abs(inner(plane.normal, camera.toward)) < 0.02) {
    const along = unit(cross(plane.normal, camera.toward));
    // as wide as the picture where the ground stands still
    const reach = plane.isWorld ? Math.max(size, camera.width / camera.scale) : size;
    const [a, b] = [-1, 1].map((s) => camera.pixels(centre.map((value, c) => value + s * reach * along[c])));
    const down = [-inner(plane.normal, camera.right), inner(plane.normal, camera.up)];
    const ends = plane.isWorld ? clipped(a, b, camera) : [a, b];
    return drawHatched(ctx, ...ends, unit([...down, 0]));
  }
  const first = unit(cross(plane.normal, Math.abs(plane.normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]));
  const second = cross(plane.normal, first);
  const at = (u, v) => camera.pixels(centre.map((value, c) => value + u * first[c] + v * second[c]));
  const step = niceStep(size / 4);
  const n = Math.ceil(size / step);
  const reach = n * step;
  const isBelow = inner(plane.normal, camera.toward) < 0;
  ctx.save();
  ctx.globalAlpha = isBelow ? 0.25 : 0.7;
  ctx.fillStyle = theme.grid;
  ctx.beginPath();
  [[-1, -1], [1, -1], [1, 1], [-1, 1]].forEach(([u, v], k) => (k ? ctx.lineTo : ctx.moveTo).apply(ctx, at(u * reach, v * reach)));
  ctx.closePath();
  ctx.globalAlpha *= 0.6;
  ctx.fill();
  ctx.globalAlpha = isBelow ? 0.25 : 0.75;
  ctx.strokeStyle = theme.line;
  ctx.lineWidth = 1;
  for (let k = -n; k <= n; k++) {
    strokeLine(ctx, [at(k * step, -reach), at(k * step, reach)]);
    strokeLine(ctx, [at(-reach, k * step), at(reach, k * step)]);
  }
  ctx.restore();
}

// Where nothing stands: a faint grid of the world, by which one sees how the robot drifts and turns.
function drawSpace(ctx, film, camera) {
  if (film.floor || film.planes.length) return;
  const up = film.upright === "y" ? [0, 1, 0] : [0, 0, 1];
  const normal = camera.isFlat ? camera.toward : up;
  const middle = film.low.map((value, c) => 0.5 * (value + film.high[c]));
  const low = up.findIndex(Boolean) === 1 ? film.low[1] : film.low[2];
  const first = camera.isFlat ? camera.right : unit(cross(normal, Math.abs(normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]));
  const second = cross(normal, first);
  const size = camera.isFlat ? 0.75 * Math.max(camera.width, camera.height) / camera.scale : 1.1 * Math.max(...film.high.map((value, c) => value - film.low[c]), film.box);
  const step = niceStep(size / 5);
  const n = Math.ceil(size / step);
  // lines stay where they are while the robot is followed
  const now = camera.isFlat ? camera.target : middle;
  const [u, v] = [first, second].map((axis) => step * Math.round(inner(now.map((value, c) => value + camera.shift[c]), axis) / step));
  const at = (a, b) => camera.pixels([0, 1, 2].map((c) => (u + a) * first[c] + (v + b) * second[c] + (camera.isFlat ? 0 : low * normal[c])));
  ctx.save();
  ctx.strokeStyle = theme.grid;
  ctx.lineWidth = 1;
  for (let k = -n; k <= n; k++) {
    strokeLine(ctx, [at(k * step, -n * step), at(k * step, n * step)]);
    strokeLine(ctx, [at(-n * step, k * step), at(n * step, k * step)]);
  }
  ctx.restore();
}

// Ends of a long line kept near the picture, so that its strokes are few.
function clipped(a, b, camera) {
  const far = 2 * Math.max(camera.width, camera.height);
  const middle = [0.5 * camera.width, 0.5 * camera.height];
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
  const along = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
  const foot = (middle[0] - a[0]) * along[0] + (middle[1] - a[1]) * along[1];
  // whole strokes, so that they do not crawl
  const low = Math.max(0, Math.floor((foot - far) / 9) * 9);
  const high = Math.min(length, foot + far);
  return [low, high].map((s) => [a[0] + s * along[0], a[1] + s * along[1]]);
}

// The robot straight down on the ground, as one shape: equally dark where bodies stand over each other.
function drawShadow(ctx, film, pose, camera, plane) {
  if (!plane.isWorld || inner(plane.normal, camera.toward) < 0.05) return;
  const drop = (p) => {
    const above = inner([0, 1, 2].map((c) => p[c] - plane.point[c]), plane.normal);
    return [0, 1, 2].map((c) => p[c] - above * plane.normal[c]);
  };
  const first = unit(cross(plane.normal, Math.abs(plane.normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]));
  const second = cross(plane.normal, first);
  ctx.beginPath();
  // all one way round, so that none cuts a hole into another
  const polygon = (points) => {
    const area = points.reduce((sum, [x, y], k) => sum + x * points.at(k - 1)[1] - y * points.at(k - 1)[0], 0);
    if (Math.abs(area) < 0.02) return;
    (area < 0 ? points.reverse() : points).forEach(([x, y], k) => (k ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
    ctx.closePath();
  };
  const bar = (a, b, half) => {
    const side = unit(cross(plane.normal, b.map((value, c) => value - a[c]))).map((value) => value * Math.max(half, 1 / camera.scale));
    polygon([[a, 1], [b, 1], [b, -1], [a, -1]].map(([p, s]) => camera.pixels(p.map((value, c) => value + s * side[c]))));
  };
  film.bodies.forEach((body, i) => {
    for (const k of body.solids) {
      const shape = film.shapes[k];
      if (shape.tone !== "body") continue;
      const corner = (m) => drop(moved(pose.bodies[i], ...shape.v.slice(3 * m, 3 * m + 3)));
      if (shape.line) bar(...[0, 3].map((c) => drop(moved(pose.bodies[i], ...shape.line.slice(c, c + 3)))), shape.r);
      else if (shape.ball) {
        const centre = corner(0);
        const turns = Array.from({ length: 24 }, (_, k) => (k * Math.PI) / 12);
        polygon(turns.map((a) => camera.pixels(centre.map((value, c) => value + shape.r * (Math.cos(a) * first[c] + Math.sin(a) * second[c])))));
      } else {
        const points = Array.from({ length: shape.v.length / 3 }, (_, m) => camera.pixels(corner(m)));
        for (const face of shape.f) polygon(face.map((m) => points[m]));
      }
    }
  });
  film.beams.forEach((beam, k) => {
    const bent = pose.beams[k];
    const at = (s) => drop(bent.p.subarray(3 * s, 3 * s + 3));
    for (let s = 2; s < beam.n; s += 2) bar(at(s - 2), at(s), beam.half[0]);
  });
  ctx.save();
  ctx.globalAlpha = 0.13;
  ctx.fillStyle = theme.shadow || "#000";
  ctx.fill("nonzero");
  ctx.restore();
}

// What the world holds: a foot under each held root, a rail along each that slides.
function drawSupports(ctx, film, camera) {
  for (const rail of film.rails) {
    const [a, b] = [0, 3].map((k) => camera.pixels(rail.slice(k, k + 3)));
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    const sign = b[0] >= a[0] ? 1 : -1;
    drawHatched(ctx, a, b, [(-sign * (b[1] - a[1])) / length, (sign * (b[0] - a[0])) / length]);
  }
  film.feet.forEach(({ at, size: half }) => {
    const size = clamp(1.5 * half * camera.scale, 10, 60);
    const [x, y] = camera.pixels(at);
    ctx.fillStyle = theme.grid;
    ctx.strokeStyle = theme.ground;
    ctx.lineWidth = 1.4;
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x - 0.8 * size, y + 1.2 * size);
    ctx.lineTo(x + 0.8 * size, y + 1.2 * size);
    ctx.closePath();
    ctx.fill();
    ctx.stroke();
    drawHatched(ctx, [x - 1.4 * size, y + 1.2 * size], [x + 1.4 * size, y + 1.2 * size], [0, 1], 0.45 * size);
  });
}

function drawTrails(ctx, film, pose, camera, show) {
  const [k, share] = pose.at;
  const shown = film.trails.filter((trail) => trail.chosen);
  ctx.save();
  ctx.lineJoin = "round";
  ctx.lineCap = "butt";
  shown.forEach((trail, place) => {
    const path = film.path(trail, show.enlarge);
    const colour = place === 0 ? theme.trail : theme.curves[(place + 1) % theme.curves.length];
    ctx.strokeStyle = ctx.fillStyle = colour;
    const point = (m) => camera.pixels(path.subarray(3 * m, 3 * m + 3));
    const now = share && k + 1 < film.t.length ? camera.pixels([0, 1, 2].map((c) => path[3 * k + c] + share * (path[3 * k + 3 + c] - path[3 * k + c]))) : point(k);
    // the way to come, faint; the way behind, stronger towards now
    ctx.lineWidth = 1.2;
    ctx.globalAlpha = 0.16;
    const coming = [now];
    for (let m = k + 1; m < film.t.length; m++) coming.push(point(m));
    strokeLine(ctx, coming);
    ctx.lineWidth = 1.8;
    const parts = 12;
    for (let part = 0; part < parts; part++) {
      const [from, to] = [Math.floor((part * k) / parts), Math.floor(((part + 1) * k) / parts)];
      const points = [];
      for (let m = from; m <= to; m++) points.push(point(m));
      if (part === parts - 1) points.push(now);
      ctx.globalAlpha = 0.25 + 0.75 * ((part + 1) / parts) ** 2;
      if (points.length > 1) strokeLine(ctx, points);
    }
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.arc(now[0], now[1], 3, 0, 2 * Math.PI);
    ctx.fill();
  });
  ctx.restore();
}
