// Charts by plotly, drawn when they come into sight; a line in each follows the player, dragging in one moves it.

const CHART_HEIGHT = 228;
const drawn = new Map(); // card -> { card, plot, data, cursor }

function curveOf(curve, k, chart) {
  const dash = ["solid", "dash", "dot"][(Math.floor(k / theme.curves.length) + (curve.dashed ? 1 : 0)) % 3];
  return {
    type: "scatter",
    mode: acrossOf(curve).length === 1 ? "markers" : "lines",
    name: escaped(curve.label),
    x: acrossOf(curve),
    y: array(curve.y),
    line: { color: theme.curves[k % theme.curves.length], width: 1.7, dash, simplify: false },
    hovertemplate: `%{y:.5g} ${escaped(chart.unit)}`,
  };
}

// What goes across: offsets from its first value.
const across = new Map();
function acrossOf({ x, x0 }) {
  const key = `${x} ${x0}`;
  if (!across.has(key)) across.set(key, Float64Array.from(array(x), (value) => x0 + value));
  return across.get(key);
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
function legendRows(chart, width) {
  const longest = Math.max(0, ...chart.curves.map((curve) => curve.label.length));
  const perRow = Math.max(1, Math.floor((width - 70) / (52 + 7.4 * longest)));
  return Math.max(1, Math.ceil(chart.curves.length / perRow));
}

function layoutOf(chart, width) {
  const bracket = (name, unit) => (unit ? `${name} [${unit}]` : name);
  let [low, high] = [Infinity, -Infinity];
  for (const curve of chart.curves)
    for (const x of acrossOf(curve)) if (Number.isFinite(x)) [low, high] = [Math.min(low, x), Math.max(high, x)];
  if (!(low <= high)) [low, high] = [0, 1];
  return {
    height: CHART_HEIGHT + 19 * (legendRows(chart, width) - 1),
    margin: { l: 8, r: 12, t: 28, b: 8 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: theme.font, size: 12, color: theme.muted },
    showlegend: chart.curves.length > 1 || chart.curves.some((curve) => curve.label),
    legend: { orientation: "h", x: 0, xanchor: "left", y: 1, yref: "container", yanchor: "top", font: { color: theme.ink, size: 12 }, itemwidth: 30 },
    hovermode: "x unified",
    hoverlabel: { bgcolor: theme.card, bordercolor: theme.line, font: { color: theme.ink, size: 12 } },
    dragmode: false,
    modebar: { bgcolor: theme.card, color: theme.muted, activecolor: theme.ink },
    xaxis: axisOf(bracket(chart.across, chart.across_unit), { ...acrossRange(chart, low, high), zeroline: false, unifiedhovertitle: { text: chart.across_unit ? `%{x:.6g} ${escaped(chart.across_unit)}` : "%{x:.6g}" } }),
    yaxis: axisOf(chart.unit ? `[${chart.unit}]` : "", chart.log ? { type: "log", dtick: logStep(chart) } : { nticks: 7 }),
  };
}

function acrossRange(chart, low, high) {
  if (chart.log_across) return { type: "log", dtick: 1, range: [Math.log10(low), Math.log10(high)] };
  return { range: high > low ? [low, high] : [low - 0.5, low + 0.5] };
}

// Whole decades, few enough.
function logStep(chart) {
  let [low, high] = [Infinity, -Infinity];
  for (const curve of chart.curves)
    for (const value of array(curve.y)) if (value > 0) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low < high ? Math.max(1, Math.ceil(Math.log10(high / low) / 5)) : 1;
}

function configOf() {
  return {
    responsive: true,
    displaylogo: false,
    displayModeBar: "hover",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
    modeBarButtonsToAdd: [{
      name: "time",
      title: "Drag moves the time",
      icon: { width: 24, height: 24, path: "M11 2h2v20h-2zM8 8v8l-5-4zM16 8v8l5-4z" },
      click: (plot) => Plotly.relayout(plot, { dragmode: false }),
    }],
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
  Plotly.newPlot(plot, chart.curves.map((curve, k) => curveOf(curve, k, chart)), layoutOf(chart, plot.clientWidth), configOf());
  if (!chart.timed) return;
  plot.append(cursor);
  plot.on("plotly_afterplot", () => placeCursor(entry, clock.t));
  plot.addEventListener("pointerdown", (event) => scrub(event, entry, onTime), true);
  placeCursor(entry, clock.t);
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
  for (const [card, { plot, chart }] of drawn) {
    if (card.dataset.role !== "impact" || card.closest("[hidden]")) continue;
    let largest = 0;
    for (const curve of chart.curves) {
      const [x, y] = [acrossOf(curve), array(curve.y)];
      for (let k = before(x, range[0]); k < x.length && x[k] <= range[1]; k++) largest = Math.max(largest, y[k]);
    }
    const update = { "xaxis.range": range };
    if (largest > 0) update["yaxis.range"] = [-0.05 * largest, 1.1 * largest];
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
    for (const { plot, chart } of drawn.values())
      Plotly.react(plot, chart.curves.map((curve, k) => curveOf(curve, k, chart)), layoutOf(chart, plot.clientWidth), configOf());
  });
  window.addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("main details")) folded.open = true;
    for (const card of document.querySelectorAll(".chart")) if (!card.closest("[data-run][hidden]")) drawChart(card, onTime);
  });
}
