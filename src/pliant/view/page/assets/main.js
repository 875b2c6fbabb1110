// Puts the page together: player, charts, tabs, tables, choice of the run.

function chooseTab(button) {
  const list = button.closest("[role=tablist]");
  for (const other of list.querySelectorAll("[role=tab]")) {
    const isChosen = other === button;
    other.setAttribute("aria-selected", String(isChosen));
    other.tabIndex = isChosen ? 0 : -1;
    byId(other.getAttribute("aria-controls")).hidden = !isChosen;
  }
}

function bindTabs() {
  for (const list of document.querySelectorAll("[role=tablist]")) {
    const tabs = [...list.querySelectorAll("[role=tab]")];
    tabs.forEach((tab, k) => {
      tab.addEventListener("click", () => chooseTab(tab));
      tab.addEventListener("keydown", (event) => {
        const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!move) return;
        event.preventDefault();
        const next = tabs[(k + move + tabs.length) % tabs.length];
        next.focus();
        chooseTab(next);
      });
    });
  }
}

// A row of the table of contacts or events: the instant, and the charts of forces zoomed into the contact.
function bindRows() {
  for (const row of document.querySelectorAll("tr.jump")) {
    const jump = () => {
      const [start, end] = [Number(row.dataset.start), Number(row.dataset.end)];
      clock.play(false);
      clock.set(start + 0.35 * (end - start));
      for (const other of document.querySelectorAll("tr.jump[aria-current]")) other.removeAttribute("aria-current");
      row.setAttribute("aria-current", "true");
      const tab = [...document.querySelectorAll("[role=tab]")].find((one) => one.textContent === "Contact" && !one.closest("[hidden]"));
      if (tab && end > start) {
        chooseTab(tab);
        for (const card of byId(tab.getAttribute("aria-controls")).querySelectorAll(".chart")) drawChart(card, setTime);
        zoomImpact(start, end);
      }
      document.querySelector(".stage").scrollIntoView({ behavior: calm.matches ? "auto" : "smooth", block: "start" });
    };
    row.addEventListener("click", jump);
    row.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      jump();
    });
  }
}

function setTime(t) {
  clock.play(false);
  clock.set(t);
}

function chooseRun(player, index) {
  player.run = index;
  for (const part of document.querySelectorAll("[data-run]")) part.hidden = Number(part.dataset.run) !== index;
  setUpFilm(player);
}

function start() {
  bindRunChoices();
  if (DATA.charts.length) watchCharts(setTime);
  bindTabs();
  clock.followers.push(placeCursors);
  const canvas = byId("robot");
  if (!canvas) return;
  const player = new Player(canvas, DATA.runs.map(({ film }) => film && new Film(film)));
  bindControls(player);
  bindNames(player);
  bindKeys(player);
  bindRows();
  const choice = byId("run");
  DATA.runs.forEach(({ label, mark }, k) => choice.append(new Option(mark ? `${label} (${mark})` : label || "run", String(k))));
  byId("run-choice").hidden = DATA.runs.length < 2;
  choice.addEventListener("change", () => chooseRun(player, Number(choice.value)));
  chooseRun(player, Math.max(0, player.films.findIndex(Boolean)));
  choice.value = String(player.run);
  clock.speed = clock.choose();
  byId("speed").value = String(clock.speed);
  enlarge(player, DATA.enlarge ? clamp(DATA.enlarge, 1, MOST_ENLARGED) : 1);
  dark.addEventListener("change", () => player.redraw());
  window.addEventListener("beforeprint", () => player.draw(performance.now()));
  if (DATA.moment !== null && DATA.moment !== undefined) clock.set(DATA.moment);
  else if (!calm.matches) clock.play(true);
}
start();
