// The player: one canvas that shows the film of the chosen run at the time of the clock.

class Player {
  constructor(canvas, films) {
    this.canvas = canvas;
    this.films = films;
    this.show = { enlarge: 1, colour: "", forces: true, largest: 1, names: "" };
    this.cameras = films.map((film) => film && new Camera(film));
    this.flashes = films.map((film) => film && new Flashes(film));
    this.run = 0;
    this.isDue = false;
    new ResizeObserver(() => this.redraw()).observe(canvas);
    steer(canvas, () => this.camera, () => this.redraw());
  }

  get film() {
    return this.films[this.run];
  }

  get camera() {
    return this.cameras[this.run];
  }

  redraw() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame((wall) => {
      this.isDue = false;
      this.draw(wall);
    });
  }

  colourBy(kind) {
    this.show.colour = kind;
    const values = this.film.beams.map((beam) => (beam.colour && beam.colour.largest[kind]) || 0);
    this.show.largest = Math.max(0, ...values);
    this.redraw();
  }

  follow(isFollowing) {
    this.camera.isFollowing = isFollowing;
    this.camera.reset();
    this.redraw();
  }

  draw(wall) {
    const { canvas, film, camera, show } = this;
    const ctx = canvas.getContext("2d");
    const density = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * density) || canvas.height !== Math.round(height * density)) {
      canvas.width = Math.round(width * density);
      canvas.height = Math.round(height * density);
    }
    ctx.setTransform(density, 0, 0, density, 0, 0);
    ctx.clearRect(0, 0, width, height);
    if (!film) return drawWords(ctx, "This run reached nothing that can be shown.", 20, 30);
    camera.resize(width, height);
    const pose = film.pose(clock.t, show.enlarge);
    camera.shift = camera.isFollowing ? this.middle(film, pose) : [0, 0, 0];
    const planes = groundPlanes(film, pose, camera);
    if (!planes.length) drawSpace(ctx, film, camera);
    const isBehind = (plane) => inner(plane.normal, camera.toward) < -0.02;
    for (const plane of planes) if (!isBehind(plane)) drawGround(ctx, film, camera, plane);
    for (const plane of planes) drawShadow(ctx, film, pose, camera, plane);
    drawSupports(ctx, film, camera);
    this.pieces = new Pieces(camera);
    bodyPieces(this.pieces, film, pose, show);
    this.pieces.draw(ctx);
    for (const plane of planes) if (isBehind(plane)) drawGround(ctx, film, camera, plane);
    drawStraight(ctx, film, pose, camera, show);
    drawTrails(ctx, film, pose, camera, show);
    const flashes = this.flashes[this.run];
    flashes.update(clock.t, pose.at, clock.isPlaying, wall);
    flashes.draw(ctx, camera, show);
    drawTriad(ctx, camera, film);
    drawScale(ctx, camera);
    drawColourBar(ctx, camera, show);
    drawNames(ctx, film, pose, camera, show);
    drawNotes(ctx, film, camera, show);
    if (clock.isPlaying && flashes.isFading) this.redraw();
  }

  // Where the robot is now, from the middle of the picture.
  middle(film, pose) {
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    for (const { p } of pose.bodies) p.forEach((value, c) => ([low[c], high[c]] = [Math.min(low[c], value), Math.max(high[c], value)]));
    return low.map((value, c) => 0.5 * (value + high[c]) - 0.5 * (film.low[c] + film.high[c]));
  }
}
