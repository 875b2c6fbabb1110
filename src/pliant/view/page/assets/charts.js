// Charts by plotly, drawn when they come into sight; a line in each follows the player, dragging in one moves it.

const CHART_HEIGHT = 228;
const NEAR = 24; // [px] from the mouse: the curve that is meant
const drawn = new Map(); // card -> { card, plot, chart, form, curves, cursor }

// What a chart shows now: one of its forms, of many runs those chosen.
function shownOf(entry) {
  const { card, chart } = entry;
  const choice = card.querySelector("select.form");
  entry.form = chart.forms.length ? chart.forms[choice.selectedIndex] : chart;
  entry.curves = chart.role === "runs" ? entry.form.curves.filter(({ label }) => runSlots.has(label)) : entry.form.curves;
  entry.hidden = new Set();
  return entry;
}

function figureOf(entry) {
  const { chart, form, curves, plot } = shownOf(entry);
  const ends = valueEnds(form, curves, chart.log);
  entry.along = chart.timed || chart.log_across ? { factor: 1, unit: chart.across_unit } : axisUnit(chart.across_unit, acrossEnds(curves));
  entry.scale = chart.log ? { factor: 1, unit: form.unit } : axisUnit(form.unit, ends);
  const alike = overlaps(curves, chart.log ? ends.map(Math.log10) : ends, chart.log ? Math.log10 : (value) => value);
  const traces = curves.map((curve, k) => traceOf(curve, chart.role === "runs" ? runSlots.get(curve.label) : k, entry, alike.get(curve)));
  const layout = layoutOf(entry, ends, plot.clientWidth);
  if (chart.role === "runs") layout.hovermode = "closest";
  return [traces, layout, configOf()];
}

function traceOf(curve, k, { along, scale, chart }, alike) {
  const round = Math.floor(k / theme.curves.length);
  const y = scale.factor === 1 ? array(curve.y) : Float64Array.from(array(curve.y), (value) => scale.factor * value);
  const name = chart.role === "runs" ? `<br>${escaped(curve.label)}<extra></extra>` : "";
  return {
    type: "scatter",
    mode: acrossOf(curve).length === 1 ? "markers" : "lines",
    name: escaped(curve.label),
    x: along.factor === 1 ? acrossOf(curve) : acrossOf(curve).map((value) => along.factor * value),
    y,
    line: { color: theme.curves[(curve.beside ?? k) % theme.curves.length], width: 1.7, dash: dashOf(curve, round, alike), simplify: false },
    hovertemplate: `%{y:.5g} ${escaped(raised(scale.unit))}${name}`,
  };
}

// What goes across: offsets from its first value.
const across = new Map();
function acrossOf({ x, x0 }) {
  const key = `${x} ${x0}`;
  if (!across.has(key)) across.set(key, Float64Array.from(array(x), (value) => x0 + value));
  return across.get(key);
}

function acrossEnds(curves) {
  let [low, high] = [Infinity, -Infinity];
  for (const curve of curves)
    for (const x of acrossOf(curve)) if (Number.isFinite(x)) [low, high] = [Math.min(low, x), Math.max(high, x)];
  return low <= high ? [low, high] : [0, 1];
}

// plotly reads a little html in words
function escaped(words) {
  return words.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function axisOf(title, more) {
  return {
    title: { text: escaped(title), font: { size: 12 }, standoff: 6 },
    gridcolor: theme.grid,
    linecolor: theme.line,
    zerolinecolor: theme.line,
    tickcolor: theme.line,
    tickfont: { size: 11 },
    automargin: true,
    exponentformat: "power",
    hoverformat: ".6g",
    ...more,
  };
}

// Rows of names above a chart; plotly sets them in columns as wide as the longest.
function legendRows(curves, width) {
  const longest = Math.max(0, ...curves.map((curve) => curve.label.length));
  const perRow = Math.max(1, Math.floor((width - 70) / (52 + 7.4 * longest)));
  return Math.max(1, Math.ceil(curves.length / perRow));
}

function layoutOf({ chart, form, curves, along, scale }, ends, width) {
  const bracket = (name, unit) => (unit ? `${name} [${raised(unit)}]` : name);
  const [low, high] = acrossEnds(curves).map((value) => along.factor * value);
  // of many runs the boxes above say which is which
  const isNamed = chart.role !== "runs" && (curves.length > 1 || curves.some(({ label }) => label && !chart.title.toLowerCase().includes(label.toLowerCase())));
  return {
    height: CHART_HEIGHT + 19 * (isNamed ? legendRows(curves, width) - 1 : -1),
    margin: { l: 8, r: 16, t: isNamed ? 28 : 10, b: 8 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: theme.font, size: 12, color: theme.muted },
    showlegend: isNamed,
    legend: { orientation: "h", x: 0, xanchor: "left", y: 1, yref: "container", yanchor: "top", font: { color: theme.ink, size: 12 }, itemwidth: 30 },
    hovermode: "x unified",
    hoverlabel: { bgcolor: theme.card, bordercolor: theme.line, font: { color: theme.ink, size: 12 } },
    dragmode: false,
    modebar: { bgcolor: theme.card, color: theme.muted, activecolor: theme.ink },
    shapes: form.levels.map(({ value }) => ({ type: "line", xref: "paper", x0: 0, x1: 1, y0: scale.factor * value, y1: scale.factor * value, line: { color: theme.bad, width: 1.2, dash: "dash" } })),
    annotations: form.levels.filter(({ value }) => value >= ends[0] && value <= ends[1]).map(({ label, value }) => ({ text: escaped(label), xref: "paper", x: 1, xanchor: "right", y: scale.factor * value, yanchor: value > 0 ? "top" : "bottom", showarrow: false, font: { size: 11, color: theme.bad } })),
    xaxis: axisOf(bracket(chart.across, along.unit), { ...acrossRange(chart, low, high), zeroline: false, unifiedhovertitle: { text: along.unit ? `%{x:.6g} ${escaped(raised(along.unit))}` : "%{x:.6g}" } }),
    yaxis: axisOf(scale.unit ? `[${raised(scale.unit)}]` : "", { range: rangeOf(chart, ends, scale), ...(chart.log ? { type: "log", dtick: logStep(ends) } : { nticks: 7, exponentformat: "none" }) }),
  };
}

function acrossRange(chart, low, high) {
  if (chart.log_across) return { type: "log", dtick: 1, range: [Math.log10(low), Math.log10(high)] };
  return { range: high > low ? [low, high] : [low - 0.5, low + 0.5], exponentformat: "none" };
}

function rangeOf(chart, ends, { factor }) {
  return chart.log ? ends.map(Math.log10) : ends.map((value) => factor * value);
}

// Whole decades, few enough.
function logStep([low, high]) {
  return Math.max(1, Math.ceil(Math.log10(high / low) / 5));
}

function configOf() {
  return {
    responsive: true,
    displaylogo: false,
    displayModeBar: "hover",
    // none that would send anything anywhere
    modeBarButtons: [["toImage"], ["zoom2d", "pan2d"], ["resetScale2d"], [{
      name: "time",
      title: "Drag moves the time",
      icon: { width: 24, height: 24, path: "M11 2h2v20h-2zM8 8v8l-5-4zM16 8v8l5-4z" },
      click: (plot) => Plotly.relayout(plot, { dragmode: false }),
    }]],
    doubleClick: "reset",
    toImageButtonOptions: { format: "svg", filename: "pliant" },
  };
}

function drawChart(card, onTime) {
  if (drawn.has(card) || !window.Plotly) return;
  const chart = DATA.charts[Number(card.dataset.chart)];
  const plot = card.querySelector(".plot");
  const cursor = document.createElement("div");
  cursor.className = "cursor";
  const entry = { card, plot, chart, cursor };
  drawn.set(card, entry);
  Plotly.newPlot(plot, ...figureOf(entry));
  const choice = card.querySelector("select.form");
  if (choice) choice.addEventListener("change", () => redrawChart(entry));
  bindCurves(entry);
  if (!chart.timed) return;
  plot.append(cursor);
  plot.on("plotly_afterplot", () => placeCursor(entry, clock.t));
  plot.addEventListener("pointerdown", (event) => scrub(event, entry, onTime), true);
  placeCursor(entry, clock.t);
}

function redrawChart(entry) {
  Plotly.react(entry.plot, ...figureOf(entry));
}

// Names of curves light up the body they are about, and their own curve; hiding one gives the others its room.
function bindCurves(entry) {
  const { plot } = entry;
  const light = (k) => {
    const curve = k >= 0 ? entry.curves[k] : null;
    for (const trace of plot.querySelectorAll(".scatterlayer .trace")) {
      const index = trace.__data__ && trace.__data__[0] ? trace.__data__[0].trace.index : -1;
      trace.style.opacity = curve && index !== k ? 0.18 : "";
    }
    return curve;
  };
  entry.light = light;
  plot.addEventListener("mouseover", (event) => {
    const item = event.target.closest(".legend .traces");
    if (!item || item.closest(".hoverlayer")) return;
    const curve = light(item.__data__[0].trace.index);
    lit.set(curve && curve.body !== undefined ? curve.body : -1);
  });
  plot.addEventListener("mouseout", (event) => {
    if (!event.target.closest(".legend .traces")) return;
    light(-1);
    lit.set(-1);
  });
  plot.on("plotly_hover", ({ points, event }) => {
    const area = areaOf(entry);
    if (!area || !event) return;
    const { yaxis } = plot._fullLayout;
    const away = (point) => Math.abs(area.top + yaxis.d2p(point.y) - event.clientY);
    const [nearest] = [...points].sort((a, b) => away(a) - away(b));
    const curve = nearest && away(nearest) < NEAR ? entry.curves[nearest.curveNumber] : null;
    lit.set(curve && curve.body !== undefined ? curve.body : -1);
  });
  plot.on("plotly_unhover", () => lit.set(-1));
  plot.on("plotly_restyle", () => {
    const shown = entry.curves.filter((_, k) => plot.data[k].visible !== "legendonly");
    const ends = valueEnds(entry.form, shown.length ? shown : entry.curves, entry.chart.log);
    Plotly.relayout(plot, { "yaxis.range": rangeOf(entry.chart, ends, entry.scale) });
  });
}

// The drawing area of a chart in pixels of its card, and its range of time.
function areaOf({ plot }) {
  const full = plot._fullLayout;
  const area = plot.querySelector(".nsewdrag");
  if (!full || !area) return null;
  const [low, high] = full.xaxis.range;
  const box = area.getBoundingClientRect();
  return { low, high, left: box.left, width: box.width, top: box.top, height: box.height };
}

function scrub(event, entry, onTime) {
  if (entry.plot._fullLayout.dragmode !== false || !event.target.closest(".nsewdrag") || event.button) return;
  const area = areaOf(entry);
  const follow = (moving) => onTime(area.low + clamp((moving.clientX - area.left) / area.width, 0, 1) * (area.high - area.low));
  const stop = () => {
    window.removeEventListener("pointermove", follow);
    window.removeEventListener("pointerup", stop);
    window.removeEventListener("pointercancel", stop);
  };
  window.addEventListener("pointermove", follow);
  window.addEventListener("pointerup", stop);
  window.addEventListener("pointercancel", stop);
  follow(event);
}

function placeCursor(entry, t) {
  const area = areaOf(entry);
  if (!area || !area.width) return;
  const outer = entry.plot.getBoundingClientRect();
  const share = (t - area.low) / (area.high - area.low);
  entry.cursor.hidden = !(share >= 0 && share <= 1);
  entry.cursor.style.height = `${area.height}px`;
  entry.cursor.style.transform = `translate(${area.left - outer.left + share * area.width}px, ${area.top - outer.top}px)`;
}

// All lines of time; cards out of sight wait until they are seen.
function placeCursors(t) {
  for (const entry of drawn.values()) if (entry.chart.timed && entry.isSeen) placeCursor(entry, t);
}

// Charts of forces look into one contact; others stay.
function zoomImpact(start, end) {
  const air = 0.4 * Math.max(end - start, 1e-9);
  const range = [start - air, end + air];
  for (const [card, { plot, curves, scale }] of drawn) {
    if (card.dataset.role !== "impact" || card.closest("[hidden]")) continue;
    let largest = 0;
    for (const curve of curves) {
      const [x, y] = [acrossOf(curve), array(curve.y)];
      for (let k = before(x, range[0]); k < x.length && x[k] <= range[1]; k++) largest = Math.max(largest, y[k]);
    }
    const update = { "xaxis.range": range };
    if (largest > 0) update["yaxis.range"] = [-0.05, 1.1].map((share) => share * scale.factor * largest);
    Plotly.relayout(plot, update);
  }
}

function watchCharts(onTime) {
  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) drawChart(target, onTime);
      const entry = drawn.get(target);
      if (entry) entry.isSeen = isIntersecting;
      if (entry && isIntersecting && entry.chart.timed) placeCursor(entry, clock.t);
    }
  }, { rootMargin: "200px" });
  for (const card of document.querySelectorAll(".chart")) watcher.observe(card);
  dark.addEventListener("change", () => {
    for (const entry of drawn.values()) redrawChart(entry);
  });
  window.addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("main details")) folded.open = true;
    for (const card of document.querySelectorAll(".chart")) if (!card.closest("[data-run][hidden]")) drawChart(card, onTime);
  });
}
