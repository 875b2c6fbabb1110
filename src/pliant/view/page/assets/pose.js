// Where everything is at a time: placements of bodies, sections of bent links, deformation enlarged.

function turn(R, o, x, y, z) {
  return [
    R[o] * x + R[o + 1] * y + R[o + 2] * z,
    R[o + 3] * x + R[o + 4] * y + R[o + 5] * z,
    R[o + 6] * x + R[o + 7] * y + R[o + 8] * z,
  ];
}

// A B, or A' B.
function product(A, B, isTransposed = false) {
  const out = new Float64Array(9);
  for (let i = 0; i < 3; i++)
    for (let j = 0; j < 3; j++)
      for (let k = 0; k < 3; k++) out[3 * i + j] += (isTransposed ? A[3 * k + i] : A[3 * i + k]) * B[3 * k + j];
  return out;
}

function matrixOfQuaternion(x, y, z, w) {
  const s = 1 / (x * x + y * y + z * z + w * w || 1);
  return new Float64Array([
    1 - 2 * s * (y * y + z * z), 2 * s * (x * y - z * w), 2 * s * (x * z + y * w),
    2 * s * (x * y + z * w), 1 - 2 * s * (x * x + z * z), 2 * s * (y * z - x * w),
    2 * s * (x * z - y * w), 2 * s * (y * z + x * w), 1 - 2 * s * (x * x + y * y),
  ]);
}

// The matrix of a rotation vector.
function matrixOfTurn(x, y, z) {
  const angle = Math.hypot(x, y, z);
  const s = angle > 1e-12 ? Math.sin(angle / 2) / angle : 0.5;
  return matrixOfQuaternion(s * x, s * y, s * z, Math.cos(angle / 2));
}

// Times worth a stop, in order: begin and middle of every contact, and events.
function stopsOf({ contact, events }) {
  const found = events.map(({ t, words }) => ({ t, words: [words] }));
  for (const [m, touches] of (contact ? contact.touches : []).entries())
    for (const [start, end] of touches) {
      found.push({ t: start, start, end, words: [`begin: ${contact.names[m]}`] });
      if (end > start) found.push({ t: 0.5 * (start + end), start, end, isMiddle: true, words: [`middle: ${contact.names[m]}`] });
    }
  found.sort((a, b) => a.t - b.t);
  // what happens at once is one stop
  return found.reduce((all, stop) => {
    const last = all[all.length - 1];
    if (last && stop.t - last.t <= 1e-9 * Math.abs(stop.t)) last.words.push(...stop.words);
    else all.push(stop);
    return all;
  }, []);
}

class Film {
  constructor(data) {
    Object.assign(this, data);
    this.t = array(data.t);
    this.p = array(data.p);
    this.q = array(data.q);
    this.first = this.t[0];
    this.last = this.t[this.t.length - 1];
    this.beams = data.beams.map((beam) => ({
      ...beam,
      half: array(beam.half),
      basis: array(beam.basis),
      weights: array(beam.weights),
      colour: beam.colour && { ...beam.colour, t: array(beam.colour.t), levels: array(beam.colour.levels) },
    }));
    this.beamOf = new Map(this.beams.map((beam, k) => [beam.body, k]));
    this.bodies.forEach((body, i) => {
      const depth = body.parent < 0 ? 0 : this.bodies[body.parent].depth + 1;
      Object.assign(body, { depth, tone: depth % 2 ? "body2" : "body" });
    });
    this.shapes.forEach(prepareShape);
    if (this.contact) {
      const contact = this.contact;
      for (const key of ["normal", "friction", "place"]) contact[key] = array(contact[key]);
    }
    this.stops = stopsOf(this);
    this.paths = new Map();
    const [x, y, z] = data.down;
    const isWeightless = !(x || y || z);
    this.upright = Math.abs(y) > Math.abs(z) || (isWeightless && data.flat && data.up[1]) ? "y" : "z";
  }

  // Index of the instant before t, and the share of the way to the next.
  at(t) {
    const k = Math.min(before(this.t, t), Math.max(this.t.length - 2, 0));
    if (this.t.length < 2) return [0, 0];
    return [k, clamp((t - this.t[k]) / (this.t[k + 1] - this.t[k]), 0, 1)];
  }

  mixed(values, width, offset, [k, share]) {
    const here = values[k * width + offset];
    return share ? here + share * (values[(k + 1) * width + offset] - here) : here;
  }

  pose(t, enlarge) {
    const at = this.at(t);
    const n = this.bodies.length;
    const found = { at, t, bodies: new Array(n), beams: [] };
    for (let i = 0; i < n; i++) {
      const p = [0, 1, 2].map((c) => this.mixed(this.p, 3 * n, 3 * i + c, at));
      const q = [0, 1, 2, 3].map((c) => this.mixed(this.q, 4 * n, 4 * i + c, at));
      found.bodies[i] = { p, R: matrixOfQuaternion(...q) };
    }
    this.beams.forEach((beam, k) => (found.beams[k] = this.deformation(beam, at)));
    if (enlarge !== 1 && this.beams.length && !this.local) this.enlarge(found, enlarge);
    this.beams.forEach((beam, k) => this.placeSections(beam, found.beams[k], found.bodies[beam.body], enlarge));
    return found;
  }

  // Shift [m] and turn of every section in body axes.
  deformation(beam, at) {
    const values = new Float64Array(6 * beam.n);
    for (let r = 0; r < beam.rank; r++) {
      const weight = this.mixed(beam.weights, beam.rank, r, at);
      if (weight) for (let c = 0; c < values.length; c++) values[c] += weight * beam.basis[r * values.length + c];
    }
    for (let s = 0; s < beam.n; s++) for (let c = 0; c < 3; c++) values[6 * s + c] *= beam.length;
    return { values };
  }

  // Place and attitude in body axes of a point of a beam, given on the straight one.
  bentPoint(beam, bent, point, enlarge) {
    const place = clamp(point[0] / beam.length, 0, 1) * (beam.n - 1);
    const k = Math.min(Math.floor(place), beam.n - 2);
    const share = place - k;
    const v = [0, 1, 2, 3, 4, 5].map(
      (c) => enlarge * ((1 - share) * bent.values[6 * k + c] + share * bent.values[6 * k + 6 + c]),
    );
    const R = matrixOfTurn(v[3], v[4], v[5]);
    const off = turn(R, 0, 0, point[1], point[2]);
    return { p: [point[0] + v[0] + off[0], v[1] + off[1], v[2] + off[2]], R };
  }

  // What sits on a bent link goes where its enlarged deformation takes it; joints keep their coordinates.
  enlarge(found, enlarge) {
    const old = found.bodies.map(({ p, R }) => ({ p, R }));
    this.bodies.forEach((body, i) => {
      if (body.parent < 0) return;
      const k = this.beamOf.get(body.parent);
      const jointFrame = (bodies, factor) => {
        const parent = bodies[body.parent];
        if (k === undefined) return parent;
        const bent = this.bentPoint(this.beams[k], found.beams[k], body.joint_frame, factor);
        const shifted = turn(parent.R, 0, ...bent.p);
        return { p: parent.p.map((value, c) => value + shifted[c]), R: product(parent.R, bent.R) };
      };
      const was = jointFrame(old, 1);
      const is = jointFrame(found.bodies, enlarge);
      // R_is R_was'
      const change = product(is.R, new Float64Array([0, 3, 6, 1, 4, 7, 2, 5, 8].map((c) => was.R[c])));
      const moved = turn(change, 0, ...old[i].p.map((value, c) => value - was.p[c]));
      found.bodies[i] = { p: is.p.map((value, c) => value + moved[c]), R: product(change, old[i].R) };
    });
  }

  placeSections(beam, bent, body, enlarge) {
    bent.p = new Float64Array(3 * beam.n);
    bent.R = new Float64Array(9 * beam.n);
    for (let s = 0; s < beam.n; s++) {
      const [x, y, z, a, b, c] = bent.values.subarray(6 * s, 6 * s + 6);
      const p = turn(body.R, 0, (s / (beam.n - 1)) * beam.length + enlarge * x, enlarge * y, enlarge * z);
      for (let i = 0; i < 3; i++) bent.p[3 * s + i] = body.p[i] + p[i];
      bent.R.set(product(body.R, matrixOfTurn(enlarge * a, enlarge * b, enlarge * c)), 9 * s);
    }
  }

  // Where a point of a body is, given on the straight body.
  place(pose, body, point, enlarge) {
    if (body < 0) return point;
    const { p, R } = pose.bodies[body];
    const k = this.beamOf.get(body);
    const own = k === undefined ? point : this.bentPoint(this.beams[k], pose.beams[k], point, enlarge).p;
    const moved = turn(R, 0, ...own);
    return [p[0] + moved[0], p[1] + moved[1], p[2] + moved[2]];
  }

  // The path of a trail over all instants, kept until the enlargement changes.
  path(trail, enlarge) {
    const key = `${trail.name} ${trail.body} ${enlarge}`;
    if (!this.paths.has(key)) {
      if (this.paths.size > 60) this.paths.clear();
      const n = this.t.length;
      const path = new Float64Array(3 * n);
      if (trail.body < 0) path.set(array(trail.path));
      else if (!this.beams.length) {
        const width = this.bodies.length;
        const at = (values, count, k, c) => values[count * (k * width + trail.body) + c];
        for (let k = 0; k < n; k++) {
          const R = matrixOfQuaternion(...[0, 1, 2, 3].map((c) => at(this.q, 4, k, c)));
          const moved = turn(R, 0, ...trail.point);
          for (let c = 0; c < 3; c++) path[3 * k + c] = at(this.p, 3, k, c) + moved[c];
        }
      } else for (let k = 0; k < n; k++) path.set(this.place(this.pose(this.t[k], enlarge), trail.body, trail.point, enlarge), 3 * k);
      this.paths.set(key, path);
    }
    return this.paths.get(key);
  }

  // Level of the colour along a beam at a time, 0 .. 1 of the largest of all beams.
  level(beam, kind, t, s, largest) {
    const { colour } = beam;
    if (!colour || colour.largest[kind] === undefined) return -1;
    const k = Math.min(before(colour.t, t), Math.max(colour.t.length - 2, 0));
    const next = Math.min(k + 1, colour.t.length - 1);
    const span = colour.t[next] - colour.t[k];
    const share = span > 0 ? clamp((t - colour.t[k]) / span, 0, 1) : 0;
    const a = colour.levels[k * beam.n + s];
    const b = colour.levels[next * beam.n + s];
    return ((a + share * (b - a)) / 255) * (colour.largest[kind] / (largest || 1));
  }
}
