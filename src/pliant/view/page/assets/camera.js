// How one looks at the robot: turn, shift, zoom, by mouse, wheel, touch and keys. Parallel projection.

const FOOT = 56; // strip below the picture for axes and scale [px]

class Camera {
  constructor(film) {
    this.film = film;
    this.width = this.height = 100;
    this.shift = [0, 0, 0]; // of the world, where the robot is followed
    this.isFlat = film.flat && film.starts_flat;
    this.isFollowing = false;
    this.reset();
  }

  reset() {
    this.azimuth = this.film.azimuth;
    this.elevation = this.film.elevation;
    this.target = this.film.low.map((value, c) => 0.5 * (value + this.film.high[c]));
    this.isTouched = false;
    this.update();
    this.fit();
  }

  // The three axes of the view in the world.
  update() {
    const { film } = this;
    if (this.isFlat) [this.right, this.up, this.toward] = [film.right, film.up, film.toward];
    else {
      const [ca, sa, ce, se] = [Math.cos(this.azimuth), Math.sin(this.azimuth), Math.cos(this.elevation), Math.sin(this.elevation)];
      this.right = [-sa, ca, 0];
      this.up = [-se * ca, -se * sa, ce];
      this.toward = [ce * ca, ce * sa, se];
      if (film.upright === "y") {
        // gravity along -y: turn about y instead
        const swap = ([x, y, z]) => [x, z, -y];
        [this.right, this.up, this.toward] = [this.right, this.up, this.toward].map(swap);
      }
    }
  }

  // As large as the picture allows; where the robot is followed, as large as it is itself.
  fit() {
    const { film, isFollowing } = this;
    const hull = array(film.hull);
    const ends = [this.right, this.up].map((axis) => {
      let [low, high] = [Infinity, -Infinity];
      for (let k = 0; k < hull.length; k += 3) {
        const along = hull[k] * axis[0] + hull[k + 1] * axis[1] + hull[k + 2] * axis[2];
        [low, high] = [Math.min(low, along), Math.max(high, along)];
      }
      return [low, high];
    });
    const [w, h] = isFollowing ? [1.25 * film.box, 1.25 * film.box] : ends.map(([low, high]) => Math.max(high - low, 1e-3 * film.box));
    if (!isFollowing) {
      const middle = ends.map(([low, high]) => 0.5 * (low + high));
      const depth = inner(this.target, this.toward);
      this.target = [0, 1, 2].map((c) => middle[0] * this.right[c] + middle[1] * this.up[c] + depth * this.toward[c]);
    }
    const air = Math.min(44, 0.1 * this.width);
    this.scale = Math.max(Math.min((this.width - 2 * air) / w, (this.height - FOOT - 1.4 * air) / h), 1e-9);
    this.fitted = this.scale;
  }

  resize(width, height) {
    if (width === this.width && height === this.height) return;
    const ratio = this.isTouched ? Math.min(width / this.width, height / this.height) : 0;
    [this.width, this.height] = [width, height];
    if (ratio) this.scale *= ratio;
    else this.fit();
  }

  pixels(p) {
    const x = p[0] - this.target[0] - this.shift[0];
    const y = p[1] - this.target[1] - this.shift[1];
    const z = p[2] - this.target[2] - this.shift[2];
    const { right, up, toward, scale } = this;
    return [
      0.5 * this.width + scale * (x * right[0] + y * right[1] + z * right[2]),
      0.5 * (this.height - FOOT) - scale * (x * up[0] + y * up[1] + z * up[2]),
      x * toward[0] + y * toward[1] + z * toward[2],
    ];
  }

  orbit(dx, dy) {
    this.isTouched = true;
    if (this.isFlat) return this.pan(dx, dy);
    this.azimuth -= 0.008 * dx;
    this.elevation = clamp(this.elevation + 0.008 * dy, -1.57, 1.57);
    this.update();
  }

  pan(dx, dy) {
    this.isTouched = true;
    for (let c = 0; c < 3; c++) this.target[c] += (-dx * this.right[c] + dy * this.up[c]) / this.scale;
  }

  zoom(factor, x = 0.5 * this.width, y = 0.5 * (this.height - FOOT)) {
    const scale = clamp(this.scale * factor, 0.05 * this.fitted, 2000 * this.fitted);
    const [dx, dy] = [x - 0.5 * this.width, y - 0.5 * (this.height - FOOT)];
    const change = scale / this.scale;
    this.pan(dx * (1 / change - 1), dy * (1 / change - 1));
    this.scale = scale;
  }

  flatten(isFlat) {
    this.isFlat = isFlat;
    this.reset();
  }
}

// Pointers on the canvas move the camera.
function steer(canvas, camera, redraw) {
  const pointers = new Map();
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const old = pointers.get(event.pointerId);
    if (!old) return;
    const now = place(event);
    const [dx, dy] = [now[0] - old[0], now[1] - old[1]];
    if (pointers.size === 1) {
      if (event.shiftKey || event.buttons & 6) camera().pan(dx, dy);
      else camera().orbit(dx, dy);
    } else if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const length = (a, b) => Math.max(Math.hypot(a[0] - b[0], a[1] - b[1]), 1);
      camera().pan(0.5 * dx, 0.5 * dy);
      camera().zoom(length(now, other) / length(old, other), 0.5 * (now[0] + other[0]), 0.5 * (now[1] + other[1]));
    }
    pointers.set(event.pointerId, now);
    redraw();
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    camera().zoom(Math.exp(-0.0015 * lines * clamp(event.deltaY, -300, 300)), ...place(event));
    redraw();
  }, { passive: false });
  canvas.addEventListener("dblclick", () => {
    camera().reset();
    redraw();
  });
}
