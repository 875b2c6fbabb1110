// Pieces of the picture: polygons, balls and lines with a depth, drawn far ones first.

// Normals of the faces of a shape, once.
function prepareShape(shape) {
  const { v, f } = shape;
  shape.normals = f.map((face) => {
    const [a, b, c] = [face[0], face[1], face[2]].map((k) => [v[3 * k], v[3 * k + 1], v[3 * k + 2]]);
    const [x, y] = [b.map((value, k) => value - a[k]), c.map((value, k) => value - a[k])];
    const n = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
    const size = Math.hypot(...n) || 1;
    return n.map((value) => value / size);
  });
}

// How light a face with this normal (world) is: an index of theme shades.
function lightLevel(camera, n) {
  const along = (axis) => n[0] * axis[0] + n[1] * axis[1] + n[2] * axis[2];
  const light = LIGHT[0] * along(camera.right) + LIGHT[1] * along(camera.up) + LIGHT[2] * along(camera.toward);
  return Math.round((0.5 + 0.5 * clamp(light, -1, 1)) ** 1.2 * (LEVELS - 1) * 0.92);
}

class Pieces {
  constructor(camera) {
    this.camera = camera;
    this.all = [];
    this.body = -1; // to which the pieces that come belong
  }

  // points: pixels and depths [x, y, depth]; seen from the back it is left out.
  polygon(points, normal, tones, edge = "") {
    const { toward } = this.camera;
    const facing = normal[0] * toward[0] + normal[1] * toward[1] + normal[2] * toward[2];
    // edge on counts as not seen
    if (facing <= 1e-6) return;
    let depth = 0;
    for (const point of points) depth += point[2];
    this.all.push({ depth: depth / points.length, points, fill: tones[lightLevel(this.camera, normal)], edge, body: this.body });
  }

  ball(centre, radius, tones, edge) {
    this.all.push({ depth: centre[2], centre, radius, tones, edge, body: this.body });
  }

  line(a, b, colour, width) {
    this.path([a, b], colour, width, 0.5 * (a[2] + b[2]));
  }

  path(points, colour, width, depth) {
    this.all.push({ depth, points, stroke: colour, width, body: this.body });
  }

  // A wider path behind all of a body's own pieces.
  outline(points, width, behind) {
    const depth = points.reduce((least, point) => Math.min(least, point[2]), Infinity) - behind;
    this.path(points, theme.edge, width + 1.6, depth);
  }

  // The body that is seen at a place of the picture, -1: none; once all is drawn.
  bodyAt(x, y) {
    for (let k = this.all.length - 1; k >= 0; k--) if (this.all[k].body >= 0 && isOn(this.all[k], x, y)) return this.all[k].body;
    return -1;
  }

  draw(ctx) {
    this.all.sort((a, b) => a.depth - b.depth);
    ctx.lineJoin = "round";
    ctx.lineCap = "round";
    for (const piece of this.all) {
      if (piece.centre) drawBall(ctx, piece);
      else {
        ctx.beginPath();
        piece.points.forEach((point, k) => (k ? ctx.lineTo(point[0], point[1]) : ctx.moveTo(point[0], point[1])));
        if (piece.stroke) {
          ctx.strokeStyle = piece.stroke;
          ctx.lineWidth = piece.width;
        } else {
          ctx.closePath();
          ctx.fillStyle = piece.fill;
          ctx.fill();
          // hides the seams between neighbours
          ctx.strokeStyle = piece.edge || piece.fill;
          ctx.lineWidth = piece.edge ? 1 : 0.8;
        }
        ctx.stroke();
      }
    }
  }
}

// Whether a piece covers a place; thin ones a little beside it, too.
function isOn({ centre, radius, points, stroke, width }, x, y) {
  if (centre) return Math.hypot(x - centre[0], y - centre[1]) <= radius + 2;
  let isInside = false;
  for (let k = stroke ? 1 : 0, j = stroke ? 0 : points.length - 1; k < points.length; j = k++) {
    const [[ax, ay], [bx, by]] = [points[j], points[k]];
    if (stroke) {
      const share = clamp(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1), 0, 1);
      if (Math.hypot(x - ax - share * (bx - ax), y - ay - share * (by - ay)) <= 0.5 * width + 2) return true;
    } else if (ay > y !== by > y && x < ax + ((bx - ax) * (y - ay)) / (by - ay)) isInside = !isInside;
  }
  return isInside;
}

function drawBall(ctx, { centre, radius, tones, edge }) {
  const [x, y] = centre;
  if (!(radius < 1e5)) return;
  if (radius > 3) {
    const glow = ctx.createRadialGradient(x - 0.35 * radius, y - 0.4 * radius, 0.1 * radius, x, y, radius);
    glow.addColorStop(0, tones[LEVELS - 2]);
    glow.addColorStop(0.6, tones[Math.round(0.62 * LEVELS)]);
    glow.addColorStop(1, tones[Math.round(0.3 * LEVELS)]);
    ctx.fillStyle = glow;
  } else ctx.fillStyle = tones[Math.round(0.5 * LEVELS)];
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.fill();
  if (edge) {
    ctx.strokeStyle = edge;
    ctx.lineWidth = 1;
    ctx.stroke();
  }
}
