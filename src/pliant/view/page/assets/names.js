// Names in the picture: of bodies, joints or points, of what the mouse rests on, and of what a chart is about.

const NAMES = { "": "none", bodies: "bodies", joints: "joints", points: "points" };
const PLACES = [[8, -8], [8, 16], [-8, -8], [-8, 16], [8, -24], [8, 32]]; // of a name beside its place [px]

// The body that is lit up, -1: none.
const lit = {
  body: -1,
  followers: [],

  set(body) {
    if (body === this.body) return;
    this.body = body;
    for (const follower of this.followers) follower();
  },
};

// Places and words of all names asked for.
function namesOf(film, pose, show) {
  if (show.names === "bodies") return film.bodies.map(({ name, middle }, i) => [name, film.place(pose, i, middle, show.enlarge)]);
  if (show.names === "joints") return film.bodies.map(({ joint }, i) => [joint, pose.bodies[i].p]);
  if (show.names === "points") return film.trails.filter(({ body }) => body >= 0).map(({ name, body, point }) => [name, film.place(pose, body, point, show.enlarge)]);
  return [];
}

function drawNames(ctx, film, pose, camera, show) {
  const boxes = [];
  ctx.font = `12px ${theme.font}`;
  const put = (words, at, isForced) => {
    const [x, y] = camera.pixels(at);
    const width = ctx.measureText(words).width;
    for (const [dx, dy] of isForced ? PLACES.slice(0, 1) : PLACES) {
      const left = clamp(dx > 0 ? x + dx : x + dx - width, 4, Math.max(camera.width - width - 4, 4));
      const box = [left, y + dy - 11, left + width, y + dy + 4];
      if (!isForced && boxes.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
      boxes.push(box);
      drawWords(ctx, words, left, y + dy, "left", theme.ink);
      return;
    }
  };
  const body = film.bodies[lit.body];
  if (body) put(body.joint && body.joint !== body.name ? `${body.name} (joint ${body.joint})` : body.name, film.place(pose, lit.body, body.middle, show.enlarge), true);
  for (const [words, at] of namesOf(film, pose, show)) if (words) put(words, at, false);
}

// What the mouse rests on lights up.
function bindNames(player) {
  const { canvas } = player;
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons || event.pointerType === "touch" || !player.pieces) return;
    const box = canvas.getBoundingClientRect();
    lit.set(player.pieces.bodyAt(event.clientX - box.left, event.clientY - box.top));
  });
  canvas.addEventListener("pointerleave", () => lit.set(-1));
  lit.followers.push(() => player.redraw());
  const choice = byId("names");
  for (const [value, words] of Object.entries(NAMES)) choice.append(new Option(words, value));
  choice.addEventListener("change", () => {
    player.show.names = choice.value;
    player.redraw();
  });
}
