// The keyboard: one table of keys, heard anywhere but where one types or chooses.

function bindKeys(player) {
  const step = (count) => {
    const { film } = player;
    clock.play(false);
    const k = before(film.t, clock.t + 1e-12 * Math.abs(film.last));
    clock.set(film.t[clamp(k + count, 0, film.t.length - 1)]);
  };
  const leap = (share) => {
    clock.play(false);
    clock.set(clock.t + share * (clock.last - clock.first));
  };
  const click = (id) => () => byId(id).click();
  const turnView = (dx, dy) => () => {
    player.camera.orbit(dx, dy);
    player.redraw();
  };
  const zoom = (factor) => () => {
    player.camera.zoom(factor);
    player.redraw();
  };
  const faster = (count) => () => {
    const k = SPEEDS.indexOf(clock.speed);
    clock.speed = SPEEDS[clamp(k + count, 0, SPEEDS.length - 1)];
    byId("speed").value = String(clock.speed);
  };
  const colour = () => {
    const choice = byId("colour");
    choice.selectedIndex = (choice.selectedIndex + 1) % choice.options.length;
    player.colourBy(choice.value);
  };
  const names = () => {
    const choice = byId("names");
    choice.selectedIndex = (choice.selectedIndex + 1) % choice.options.length;
    choice.dispatchEvent(new Event("change"));
  };
  const keys = {
    " ": () => clock.play(!clock.isPlaying),
    ArrowLeft: (event) => (event.shiftKey ? leap(-0.02) : step(-1)),
    ArrowRight: (event) => (event.shiftKey ? leap(0.02) : step(1)),
    Home: () => clock.set(clock.first),
    End: () => clock.set(clock.last),
    "[": () => nextStop(player, -1),
    "]": () => nextStop(player, 1),
    "+": faster(1),
    "=": faster(1),
    "-": faster(-1),
    l: click("loop"),
    r: click("view-reset"),
    v: () => player.film.flat && setFlat(player, !player.camera.isFlat),
    f: click("forces"),
    c: colour,
    b: names,
    m: () => enlarge(player, Math.min(player.show.enlarge * 1.5, MOST_ENLARGED)),
    n: () => enlarge(player, Math.max(player.show.enlarge / 1.5, 1)),
    a: turnView(25, 0),
    d: turnView(-25, 0),
    w: turnView(0, 25),
    s: turnView(0, -25),
    z: zoom(1.25),
    x: zoom(0.8),
    "?": click("help-open"),
  };
  for (let k = 0; k < 10; k++) keys[k] = () => clock.set(clock.first + 0.1 * k * (clock.last - clock.first));
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open || !player.film) return;
    const { target } = event;
    if (target.closest("select, textarea, input[type=text]")) return;
    // tabs keep their arrows,
    if (target.closest("[role=tablist]") && /^(Arrow|Home|End)/.test(event.key)) return;
    // sliders keep their own arrows, buttons and boxes their own space
    if (target.id === "enlarge" && /^(Arrow|Home|End)/.test(event.key)) return;
    if (target.closest("button, summary, input[type=checkbox], tr.jump") && (event.key === " " || event.key === "Enter")) return;
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}
