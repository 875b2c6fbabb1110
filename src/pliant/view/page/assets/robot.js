// The robot's own pieces at a pose: bodies as polygons, bent links as bands of polygons along their sections.

const THINNEST = 1.3; // half a thickness [px] below which a line is drawn
const MANY = 60; // bodies
const THICKEST = 30; // and up to which an outline is drawn

function bodyPieces(pieces, film, pose, show) {
  film.bodies.forEach((body, i) => {
    const placed = pose.bodies[i];
    pieces.body = i;
    for (const k of body.solids) {
      // very many bodies: without marks of joints and masses
      if (film.bodies.length > MANY && film.shapes[k].ball && film.shapes[k].tone !== "body") continue;
      shapePieces(pieces, film.shapes[k], placed, toneOf(film, i));
    }
    if (body.slides) {
      const jointFrame = film.place(pose, body.parent, body.joint_frame, show.enlarge);
      pieces.line(pieces.camera.pixels(jointFrame), pieces.camera.pixels(placed.p), theme.ground, 2);
    }
    for (const arm of body.arms) {
      const foot = film.place(pose, i, [arm[0], 0, 0], show.enlarge);
      const end = film.place(pose, i, arm, show.enlarge);
      pieces.line(pieces.camera.pixels(foot), pieces.camera.pixels(end), theme.edge, 1.4);
    }
  });
  pieces.body = -1;
  for (const rod of film.rods) pieces.line(...rod.map(({ body, at }) => pieces.camera.pixels(film.place(pose, body, at, show.enlarge))), theme.edge, 2.4);
  for (const spring of film.springs) springPieces(pieces, film, spring, pose, show);
  film.beams.forEach((beam, k) => beamPieces(pieces, film, beam, pose.beams[k], pose.t, show));
}

// A spring between two places: a coil, a rope that sags while it is slack, or a cylinder; coloured by the sense of its force.
const TEETH = 9;
function springPieces(pieces, film, { ends, length, kind, only }, pose, show) {
  const { camera } = pieces;
  const places = ends.map(({ body, at }) => film.place(pose, body, at, show.enlarge));
  const now = Math.hypot(...places[1].map((value, c) => value - places[0][c]));
  // what only pushes and is not touched is as long as it is
  const share = only === "compression" && now > length ? length / now : 1;
  const end = places[0].map((value, c) => value + share * (places[1][c] - value));
  const [a, b] = [places[0], end].map((place) => camera.pixels(place));
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const depth = 0.5 * (a[2] + b[2]);
  const stretch = now - length;
  const isIdle = kind === "cylinder" || (only === "tension" && stretch < 0) || (only === "compression" && stretch > 0);
  const isAtRest = isIdle || Math.abs(stretch) <= 1e-3 * Math.max(now, length);
  const colour = isAtRest ? theme.edge : theme.curves[stretch > 0 ? 1 : 0];
  const point = (along, across, down) => {
    const size = Math.hypot(dx, dy) || 1;
    return [a[0] + along * dx - (across * dy) / size, a[1] + along * dy + (across * dx) / size + down, depth];
  };
  if (kind === "rope") {
    const sag = 4 * camera.scale * Math.sqrt(0.375 * now * Math.max(-stretch, 0));
    const steps = Array.from({ length: 17 }, (_, k) => k / 16);
    pieces.path(steps.map((along) => point(along, 0, sag * along * (1 - along))), colour, 1.8, depth);
  } else if (kind === "coil") {
    const wide = clamp(1.6 * film.thick * camera.scale, 4, 12);
    const turns = Array.from({ length: 2 * TEETH + 1 }, (_, k) => point(0.12 + (0.76 * k) / (2 * TEETH), k % 2 ? wide * (k % 4 === 1 ? 1 : -1) : 0, 0));
    pieces.path([a, ...turns, b], colour, 1.8, depth);
  } else {
    pieces.line(point(0.4, 0, 0), b, colour, 2);
    pieces.line(a, point(0.6, 0, 0), colour, 5);
  }
}

// Neighbours differ a little; what is pointed at stands out.
function toneOf(film, i) {
  return i === lit.body ? "lit" : film.bodies[i].tone;
}

function moved({ p, R }, x, y, z) {
  const [a, b, c] = turn(R, 0, x, y, z);
  return [p[0] + a, p[1] + b, p[2] + c];
}

function shapePieces(pieces, shape, placed, bodyTone) {
  const { camera } = pieces;
  const tones = theme.tones[shape.tone === "body" || bodyTone === "lit" ? bodyTone : shape.tone] || theme.tones.body;
  if (shape.ball) {
    const radius = Math.max(shape.r * camera.scale, shape.tone === "body" ? 2 : 2.6);
    pieces.ball(camera.pixels(moved(placed, ...shape.v)), radius, tones, shape.tone === "mass" ? "" : theme.edge);
    return;
  }
  const width = shape.r * camera.scale;
  if (shape.line && width < THINNEST) {
    if (shape.tone === "joint") return;
    const [a, b] = [0, 3].map((k) => camera.pixels(moved(placed, ...shape.line.slice(k, k + 3))));
    const isThin = shape.tone === "thin";
    pieces.line(a, b, isThin ? theme.edge : tones[Math.round(0.45 * LEVELS)], isThin ? 1.2 : 2 * Math.max(width, 1.1));
    return;
  }
  if (shape.line && width < THICKEST) {
    const [a, b] = [0, 3].map((k) => camera.pixels(moved(placed, ...shape.line.slice(k, k + 3))));
    pieces.outline([a, b], 2 * width, 2 * shape.r);
  }
  const points = [];
  for (let k = 0; k < shape.v.length; k += 3) points.push(camera.pixels(moved(placed, shape.v[k], shape.v[k + 1], shape.v[k + 2])));
  const edge = shape.edged ? theme.edge : "";
  shape.f.forEach((face, k) => {
    pieces.polygon(face.map((corner) => points[corner]), turn(placed.R, 0, ...shape.normals[k]), tones, edge);
  });
}

// Corners of a section with half edges 1, and the normals of the sides between them; y and z.
const SQUARE = { corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]], normals: [[0, 1], [-1, 0], [0, -1], [1, 0]] };
const ROUND = { corners: [], normals: [] };
for (let k = 0; k < 10; k++) {
  ROUND.corners.push([Math.cos((k * Math.PI) / 5), Math.sin((k * Math.PI) / 5)]);
  ROUND.normals.push([Math.cos(((k + 0.5) * Math.PI) / 5), Math.sin(((k + 0.5) * Math.PI) / 5)]);
}

// What colours one piece of a beam between two sections.
function beamTones(film, beam, tones, t, s, show) {
  if (!show.colour) return tones;
  const level = 0.5 * (film.level(beam, show.colour, t, s, show.largest) + film.level(beam, show.colour, t, s + 1, show.largest));
  return level < 0 ? tones : theme.mapped[Math.round(63 * clamp(level, 0, 1))];
}

function beamPieces(pieces, film, beam, bent, t, show) {
  const { camera } = pieces;
  const own = theme.tones[toneOf(film, beam.body)];
  pieces.body = beam.body;
  const thick = Math.max(...beam.half.slice(0, 2)) * camera.scale;
  const stride = film.beams.length > 30 ? 3 : 1;
  if (thick < THINNEST) {
    const points = sectionPixels(camera, beam, bent);
    const depth = 0.5 * (points[0][2] + points[beam.n - 1][2]);
    if (!show.colour) return pieces.path(points, own[Math.round(0.45 * LEVELS)], 2.6, depth);
    for (let s = 0; s + stride < beam.n; s += stride) {
      const tones = beamTones(film, beam, own, t, s, show);
      pieces.line(points[s], points[s + stride], tones[Math.round(0.6 * LEVELS)], 2.6);
    }
    return;
  }
  outlineBeam(pieces, beam, bent);
  const outline = beam.round ? ROUND : SQUARE;
  const n = outline.corners.length;
  const rings = [];
  for (let s = 0; s < beam.n; s++) {
    const hy = Math.max(beam.half[2 * s], THINNEST / camera.scale);
    const hz = Math.max(beam.half[2 * s + 1], THINNEST / camera.scale);
    const [x, y, z] = bent.p.subarray(3 * s, 3 * s + 3);
    rings.push(outline.corners.map(([a, b]) => {
      const off = turn(bent.R, 9 * s, 0, a * hy, b * hz);
      return camera.pixels([x + off[0], y + off[1], z + off[2]]);
    }));
  }
  for (let s = 0; s + stride < beam.n; s += stride) {
    const tones = beamTones(film, beam, own, t, s, show);
    for (let k = 0; k < n; k++) {
      const next = (k + 1) % n;
      const normal = turn(bent.R, 9 * s, 0, ...outline.normals[k]);
      pieces.polygon([rings[s][k], rings[s][next], rings[s + stride][next], rings[s + stride][k]], normal, tones);
    }
  }
  pieces.polygon(rings[0], turn(bent.R, 0, -1, 0, 0), own, theme.edge);
  pieces.polygon(rings[beam.n - 1], turn(bent.R, 9 * (beam.n - 1), 1, 0, 0), own, theme.edge);
}

// A wider line behind a beam, as high as its sections look from here; tapered ones do without.
function outlineBeam(pieces, beam, bent) {
  const { camera } = pieces;
  const points = sectionPixels(camera, beam, bent);
  const [a, b] = [points[0], points[beam.n - 1]];
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
  const [x, y] = [-(b[1] - a[1]) / length, (b[0] - a[0]) / length];
  const across = camera.right.map((value, c) => x * value - y * camera.up[c]);
  const R = bent.R;
  const seen = [1, 2].map((axis) => Math.abs(R[axis] * across[0] + R[3 + axis] * across[1] + R[6 + axis] * across[2]) * beam.half[axis - 1]);
  const half = Math.max(camera.scale * (beam.round ? Math.hypot(...seen) : seen[0] + seen[1]), THINNEST);
  const isEven = beam.half[0] === beam.half[2 * beam.n - 2];
  if (half < THICKEST && isEven) pieces.outline(points, 2 * half, 2 * Math.max(beam.half[0], beam.half[1]));
}

function sectionPixels(camera, beam, bent) {
  const points = [];
  for (let s = 0; s < beam.n; s++) points.push(camera.pixels(bent.p.subarray(3 * s, 3 * s + 3)));
  return points;
}

// Straight beams, dashed, where the deformation is enlarged.
function drawStraight(ctx, film, pose, camera, show) {
  if (show.enlarge === 1) return;
  ctx.save();
  ctx.setLineDash([6, 5]);
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 1.2;
  for (const beam of film.beams) {
    const placed = pose.bodies[beam.body];
    const [a, b] = [camera.pixels(placed.p), camera.pixels(moved(placed, beam.length, 0, 0))];
    ctx.beginPath();
    ctx.moveTo(a[0], a[1]);
    ctx.lineTo(b[0], b[1]);
    ctx.stroke();
  }
  ctx.restore();
}
