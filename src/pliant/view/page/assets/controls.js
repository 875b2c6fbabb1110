// Buttons, sliders and keys of the player.

const MOST_ENLARGED = 200;
const MOST_MARKS = 400;

function bindControls(player) {
  const slider = byId("time");
  const seek = (t) => clock.set(t);
  slider.addEventListener("input", () => seek(clock.first + (Number(slider.value) / 10000) * (clock.last - clock.first)));
  byId("play").addEventListener("click", () => clock.play(!clock.isPlaying));
  byId("stop-before").addEventListener("click", () => nextStop(player, -1));
  byId("stop-after").addEventListener("click", () => nextStop(player, 1));
  byId("loop").addEventListener("change", () => (clock.loop = byId("loop").checked));
  const speed = byId("speed");
  for (const value of SPEEDS) speed.append(new Option(value < 1 ? `1/${Math.round(1 / value)} \u00d7` : `${value} \u00d7`, String(value)));
  speed.addEventListener("change", () => (clock.speed = Number(speed.value)));
  byId("view-flat").addEventListener("click", () => setFlat(player, true));
  byId("view-space").addEventListener("click", () => setFlat(player, false));
  byId("view-reset").addEventListener("click", () => {
    player.camera.reset();
    player.redraw();
  });
  byId("enlarge").addEventListener("input", () => enlarge(player, MOST_ENLARGED ** Number(byId("enlarge").value)));
  byId("colour").addEventListener("change", () => player.colourBy(byId("colour").value));
  byId("forces").addEventListener("change", () => {
    player.show.forces = byId("forces").checked;
    player.redraw();
  });
  byId("follow").addEventListener("change", () => player.follow(byId("follow").checked));
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  byId("help-close").addEventListener("click", () => byId("help").close());
  byId("help").addEventListener("click", (event) => event.target === byId("help") && byId("help").close());
  clock.followers.push((t) => {
    const span = clock.last - clock.first;
    slider.value = span > 0 ? Math.round((10000 * (t - clock.first)) / span) : 0;
    const words = `${timeWords(t, span)} s`;
    slider.setAttribute("aria-valuetext", words);
    byId("clock").textContent = `${words} of ${readable(clock.last, 5)} s`;
    const play = byId("play");
    play.textContent = clock.isPlaying ? "\u275a\u275a" : "\u25b6\ufe0e";
    play.setAttribute("aria-label", clock.isPlaying ? "pause" : "play");
    player.redraw();
  });
}

// As many decimals as the span of the run makes sense of.
function timeWords(t, span) {
  const decimals = span > 0 ? clamp(5 - Math.floor(Math.log10(span)), 0, 12) : 3;
  return t.toFixed(decimals).replace("-", "\u2212");
}

function enlarge(player, factor) {
  // whole numbers above ten, so that one can say them
  const value = factor < 1.005 ? 1 : factor > 10 ? Math.round(factor) : Math.round(10 * factor) / 10;
  player.show.enlarge = value;
  byId("enlarge").value = Math.log(value) / Math.log(MOST_ENLARGED);
  byId("enlarge-words").textContent = `\u00d7 ${value}`;
  player.redraw();
}

function setFlat(player, isFlat) {
  const { camera, canvas } = player;
  if (camera.isFlat !== isFlat) camera.flatten(isFlat);
  byId("view-flat").setAttribute("aria-pressed", String(isFlat));
  byId("view-space").setAttribute("aria-pressed", String(!isFlat));
  canvas.style.touchAction = isFlat ? "pan-y" : "none";
  player.redraw();
}

// To the begin or the middle of a contact, or to an event.
function nextStop(player, direction) {
  const { stops } = player.film;
  const slack = 1e-9 * (clock.last - clock.first);
  const found = direction > 0 ? stops.find(({ t }) => t > clock.t + slack) : stops.filter(({ t }) => t < clock.t - slack).pop();
  if (!found) return;
  clock.play(false);
  clock.set(found.t);
  if (found.end > found.start) zoomImpact(found.start, found.end);
}

// How fine the page is; the run itself may be finer.
function finenessWords(film) {
  const coloured = film.beams.map(({ colour }) => (colour ? colour.t.length : Infinity));
  const stress = Math.min(...coloured) < film.t.length ? `, colours of stress ${Math.min(...coloured)}` : "";
  const curves = DATA.points ? ` Curves are drawn through at most ${DATA.points} points, chosen so that no peak is lost.` : "";
  return `The film has ${film.t.length} pictures${stress}, and moves evenly from one to the next.${curves}`;
}

// The film of a run: what can be chosen for it.
function setUpFilm(player) {
  const { film } = player;
  const has = (id, isThere) => (byId(id).hidden = !isThere);
  has("force-choice", film && film.contact);
  has("stop-before", film && film.stops.length);
  has("stop-after", film && film.stops.length);
  has("enlarge-choice", film && film.beams.length);
  const kinds = film ? Object.keys(COLOUR_WORDS).filter((kind) => film.beams.some((beam) => beam.colour && beam.colour.largest[kind] > 0)) : [];
  has("colour-choice", kinds.length);
  const colour = byId("colour");
  const old = colour.value;
  colour.replaceChildren(new Option("none", ""), ...kinds.map((kind) => new Option(kind === "moment" ? "bending moment" : kind, kind)));
  colour.value = kinds.includes(old) ? old : "";
  byId("trail-list").replaceChildren();
  byId("marks").replaceChildren();
  const leftOut = DATA.left_out ? ` ${DATA.left_out} more runs are in the charts below only.` : "";
  byId("film-note").textContent = `${film ? film.note : ""}${leftOut}`;
  byId("film-note").hidden = !byId("film-note").textContent;
  byId("help-note").textContent = film ? finenessWords(film) : "";
  if (!film) return player.redraw();
  clock.span(film.first, film.last);
  player.colourBy(colour.value);
  const travel = Math.max(...film.high.map((value, c) => value - film.low[c]));
  has("follow-choice", travel > 1.6 * film.box);
  // free flyers are followed; where there is a ground one sees them come and go
  const isFree = !film.planes.length && !film.floor;
  byId("follow").checked = travel > (isFree ? 2 : 12) * film.box;
  player.follow(byId("follow").checked);
  film.trails.forEach((trail) => {
    const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: trail.chosen });
    box.addEventListener("change", () => {
      trail.chosen = box.checked;
      player.redraw();
    });
    const label = document.createElement("label");
    label.className = "check";
    label.append(box, ` ${trail.name}`);
    byId("trail-list").append(label);
  });
  const stops = film.stops.filter(({ isMiddle }) => !isMiddle);
  for (const { t, end } of stops.filter((_, k) => k % Math.ceil(stops.length / MOST_MARKS) === 0)) {
    const mark = document.createElement("span");
    if (end === undefined) mark.className = "event";
    mark.style.left = `${(100 * (t - film.first)) / (film.last - film.first || 1)}%`;
    byId("marks").append(mark);
  }
  byId("view-flat").parentElement.hidden = !film.flat;
  setFlat(player, player.camera.isFlat);
}
