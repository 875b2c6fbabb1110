// The page of a study: rows as lines over parallel axes, as points, as means; a click on one gives its command.

const rows = array(DATA.rows);
const failed = array(DATA.failed);
const columns = DATA.columns.map((column) => ({ ...column, values: array(column.values) }));
const figures = columns.filter((column) => column.figure);
const parameters = columns.filter((column) => !column.figure);
const state = { row: -1, brushes: new Map() };
const HEIGHT = 340;
const MAX_BINS = 24; // of a parameter with many values

function escaped(words) {
  return String(words).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

function titled({ name, unit }) {
  return unit ? `${name} [${raised(unit)}]` : name;
}

function endsOf({ values, words, log }) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (words.length) [low, high] = [0, words.length - 1];
  if (!(low <= high)) [low, high] = [0, 1];
  return low < high ? [low, high] : [low - 0.5 * Math.max(Math.abs(low), 1e-9), high + 0.5 * Math.max(Math.abs(high), 1e-9)];
}
for (const column of columns) column.ends = endsOf(column);

// Where a value is on its axis, 0 .. 1.
function shareOf(column, value) {
  const [low, high] = column.ends;
  return column.log && low > 0 ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

function worded(column, value) {
  return column.words.length ? column.words[value] : readable(value, 4);
}

function fill(id, options, chosen, onChange) {
  const select = byId(id);
  select.innerHTML = options.map((column) => `<option>${escaped(titled(column))}</option>`).join("");
  select.selectedIndex = Math.max(0, options.indexOf(chosen));
  select.addEventListener("change", onChange);
  return () => options[select.selectedIndex];
}

function isChosen(k) {
  for (const [column, [low, high]] of state.brushes) {
    const share = shareOf(column, column.values[k]);
    if (!(share >= low && share <= high)) return false;
  }
  return true;
}

// --- one run

function showRow(k) {
  state.row = k;
  const words = parameters.map((column) => ` --set ${column.name}=${column.words.length ? column.words[column.values[k]] : column.values[k]}`);
  const command = DATA.command ? DATA.command + words.join("") : "";
  const cells = columns.map((column) => `<tr><td>${escaped(column.name)}</td><td class="number">${escaped(worded(column, column.values[k]))} ${escaped(raised(column.unit))}</td></tr>`);
  const note = DATA.notes[rows[k]];
  byId("row-words").innerHTML =
    `<p><strong>Row ${rows[k]}</strong>${failed[k] ? ' <span class="bad">failed</span>' : ""}${note ? `: ${escaped(note)}` : ""}</p>` +
    (command ? `<p><code id="row-command">${escaped(command)}</code> <button type="button" data-copy="row-command">Copy</button></p>` : "") +
    (DATA.report ? `<p class="note">Its report: <code id="row-report">${escaped(`${DATA.report} ${rows[k]}`)}</code> <button type="button" data-copy="row-report">Copy</button></p>` : "") +
    `<div class="table"><table class="plain"><tbody>${cells.join("")}</tbody></table></div>`;
  for (const button of document.querySelectorAll("[data-copy]"))
    button.addEventListener("click", () => {
      const range = document.createRange();
      range.selectNodeContents(byId(button.dataset.copy));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
    });
  drawParallel();
}

// --- parallel coordinates

const canvas = byId("parallel");
const pen = canvas.getContext("2d");
const colourBy = fill("colour", columns, figures[0], () => drawParallel());

function layout() {
  const width = canvas.clientWidth;
  const margin = { left: 64, right: 64, top: 56, bottom: 26 };
  const step = (width - margin.left - margin.right) / Math.max(1, columns.length - 1);
  return { width, ...margin, x: (k) => margin.left + k * step, y: (share) => HEIGHT - margin.bottom - share * (HEIGHT - margin.top - margin.bottom) };
}

function trace(place, k) {
  pen.beginPath();
  let isDown = false;
  columns.forEach((column, c) => {
    const share = shareOf(column, column.values[k]);
    if (!Number.isFinite(share)) isDown = false;
    else if (isDown) pen.lineTo(place.x(c), place.y(share));
    else {
      pen.moveTo(place.x(c), place.y(share));
      isDown = true;
    }
  });
  pen.stroke();
}

function drawParallel() {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = HEIGHT * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, canvas.clientWidth, HEIGHT);
  const place = layout();
  const colour = colourBy();
  const alpha = clamp(60 / rows.length, 0.08, 0.75);
  pen.lineWidth = rows.length > 500 ? 1 : 1.4;
  const chosen = [];
  for (let k = 0; k < rows.length; k++) {
    if (isChosen(k)) chosen.push(k);
    else {
      pen.strokeStyle = toCss(toRgb(theme.grid), 0.5);
      trace(place, k);
    }
  }
  for (const k of chosen) {
    const share = shareOf(colour, colour.values[k]);
    pen.strokeStyle = Number.isFinite(share) ? toCss(mapColour(share), alpha) : toCss(toRgb(theme.bad), Math.max(alpha, 0.3));
    trace(place, k);
  }
  pen.font = `12px ${theme.font}`;
  pen.textAlign = "center";
  columns.forEach((column, c) => {
    pen.strokeStyle = column.figure ? theme.ink : theme.muted;
    pen.lineWidth = column.figure ? 1.6 : 1;
    pen.beginPath();
    pen.moveTo(place.x(c), place.y(0));
    pen.lineTo(place.x(c), place.y(1));
    pen.stroke();
    pen.fillStyle = theme.ink;
    const room = columns.length > 7 ? 14 : 26;
    const name = titled(column);
    pen.fillText(name.length > room ? `${name.slice(0, room - 1)}\u2026` : name, place.x(c), columns.length > 4 && c % 2 ? 14 : 30);
    pen.fillStyle = theme.muted;
    if (column.words.length) {
      pen.strokeStyle = theme.card;
      pen.lineWidth = 4;
      pen.textAlign = c === columns.length - 1 ? "right" : "left";
      column.words.forEach((word, k) => {
        const at = [place.x(c) + (c === columns.length - 1 ? -7 : 7), place.y(shareOf(column, k)) + 4];
        pen.strokeText(word, ...at);
        pen.fillText(word, ...at);
      });
      pen.textAlign = "center";
    } else {
      pen.fillText(readable(column.ends[0], 3), place.x(c), HEIGHT - 10);
      pen.fillText(readable(column.ends[1], 3), place.x(c), place.y(1) - 5);
    }
    const brush = state.brushes.get(column);
    if (brush) {
      pen.fillStyle = toCss(toRgb(theme.curves[0]), 0.35);
      pen.fillRect(place.x(c) - 6, place.y(brush[1]), 12, place.y(brush[0]) - place.y(brush[1]));
    }
  });
  if (state.row >= 0) {
    pen.strokeStyle = theme.bad;
    pen.lineWidth = 2.6;
    trace(place, state.row);
  }
  byId("colour").title = `${chosen.length} of ${rows.length} runs`;
}

// The run whose line passes nearest to a point.
function nearest(x, y) {
  const place = layout();
  let [best, found] = [14, -1];
  const step = (place.x(columns.length - 1) - place.left) / Math.max(1, columns.length - 1);
  const c = clamp(Math.floor((x - place.left) / step), 0, Math.max(0, columns.length - 2));
  const between = (x - place.x(c)) / step;
  for (let k = 0; k < rows.length; k++) {
    if (!isChosen(k)) continue;
    const [a, b] = [columns[c], columns[Math.min(c + 1, columns.length - 1)]].map((column) => place.y(shareOf(column, column.values[k])));
    const away = Math.abs(a + between * (b - a) - y);
    if (away < best) [best, found] = [away, k];
  }
  return found;
}

canvas.addEventListener("pointerdown", (event) => {
  const place = layout();
  const { offsetX: x, offsetY: y } = event;
  const c = columns.findIndex((_, k) => Math.abs(place.x(k) - x) < 12);
  const share = (at) => clamp((HEIGHT - place.bottom - at) / (HEIGHT - place.top - place.bottom), 0, 1);
  if (c < 0) {
    const k = nearest(x, y);
    if (k >= 0) showRow(k);
    else {
      state.brushes.clear();
      drawParallel();
    }
    return;
  }
  canvas.setPointerCapture(event.pointerId);
  const from = share(y);
  const follow = (moving) => {
    const to = share(moving.offsetY);
    if (Math.abs(to - from) > 0.01) state.brushes.set(columns[c], [Math.min(from, to), Math.max(from, to)]);
    drawParallel();
  };
  state.brushes.delete(columns[c]);
  canvas.addEventListener("pointermove", follow);
  canvas.addEventListener("pointerup", () => {
    canvas.removeEventListener("pointermove", follow);
    drawParallel();
  }, { once: true });
});

// --- charts by plotly

function axisOf(column) {
  const words = column.words.length ? { tickvals: column.words.map((_, k) => k), ticktext: column.words.map(escaped) } : {};
  return {
    title: { text: escaped(titled(column)), font: { size: 12 } }, type: column.log ? "log" : "linear",
    gridcolor: theme.grid, linecolor: theme.line, zerolinecolor: theme.line, tickfont: { size: 11 }, automargin: true, exponentformat: "power", ...words,
  };
}

function layoutOf(x, y, more = {}) {
  return {
    height: 320, margin: { l: 8, r: 12, t: 10, b: 8 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false,
    font: { family: theme.font, size: 12, color: theme.muted }, hovermode: "closest", modebar: { bgcolor: theme.card, color: theme.muted, activecolor: theme.ink }, xaxis: axisOf(x), yaxis: axisOf(y), ...more,
  };
}

const config = { responsive: true, displaylogo: false, displayModeBar: "hover", modeBarButtons: [["toImage"], ["zoom2d", "pan2d"], ["resetScale2d"]], toImageButtonOptions: { format: "svg", filename: "pliant" } };
const scale = MAP.map((colour, k) => [k / (MAP.length - 1), colour]);

function hasNumbers({ values }) {
  return values.some(Number.isFinite);
}

function barOf(column) {
  return { title: { text: escaped(titled(column)), side: "right" }, thickness: 10, len: 0.9 };
}

function drawScatter() {
  const [x, y] = [scatterX(), scatterY()];
  const colour = colourBy();
  const jitter = (column) => (column.words.length ? Float64Array.from(column.values, (value, k) => value + 0.3 * (((k * 0.618034) % 1) - 0.5)) : column.values);
  const traces = [{
    type: "scatter", mode: "markers", x: jitter(x), y: jitter(y), customdata: rows,
    marker: { size: rows.length > 1000 ? 4 : 7, opacity: 0.8, ...(hasNumbers(colour) ? { color: colour.values, colorscale: scale, colorbar: barOf(colour) } : {}) },
    hovertemplate: `row %{customdata}<br>${escaped(x.name)} %{x:.5g}<br>${escaped(y.name)} %{y:.5g}<extra></extra>`,
  }];
  Plotly.react("scatter", traces, layoutOf(x, y), config);
}

// Places along a parameter: its values, or bins of it; and which of them every row is in.
function binned(column, perBin = 8) {
  const distinct = [...new Set(column.values)].filter(Number.isFinite).sort((a, b) => a - b);
  const n = clamp(Math.round(rows.length / perBin), 3, MAX_BINS);
  if (distinct.length <= 60 && distinct.length < rows.length / 2) {
    const places = new Map(distinct.map((value, k) => [value, k]));
    return { centres: distinct, of: (k) => places.get(column.values[k]) };
  }
  const [low, high] = column.ends;
  const centres = Array.from({ length: n }, (_, k) => (column.log ? low * (high / low) ** ((k + 0.5) / n) : low + ((k + 0.5) / n) * (high - low)));
  return { centres, of: (k) => Math.min(n - 1, Math.floor(shareOf(column, column.values[k]) * n)) };
}

function drawHeat() {
  const [x, y, z] = [heatX(), heatY(), heatZ()];
  const room = 2 * Math.sqrt(rows.length); // of cells with a few rows each
  const [across, up] = [binned(x, room), binned(y, room)];
  const sums = up.centres.map(() => across.centres.map(() => [0, 0]));
  for (let k = 0; k < rows.length; k++) {
    const cell = sums[up.of(k)] && sums[up.of(k)][across.of(k)];
    if (cell && Number.isFinite(z.values[k])) [cell[0], cell[1]] = [cell[0] + z.values[k], cell[1] + 1];
  }
  const traces = [{
    type: "heatmap", x: across.centres, y: up.centres, z: sums.map((line) => line.map(([sum, n]) => (n ? sum / n : null))),
    colorscale: scale, showscale: hasNumbers(z), colorbar: barOf(z),
    hovertemplate: `${escaped(x.name)} %{x:.5g}<br>${escaped(y.name)} %{y:.5g}<br>%{z:.5g}<extra></extra>`,
  }];
  Plotly.react("heat", hasNumbers(z) ? traces : [], layoutOf(x, y), config);
}

function drawResponses() {
  const figure = response();
  const box = byId("responses");
  box.innerHTML = parameters.map((column, k) => `<figure class="card chart"><h3>${escaped(column.name)}</h3><div class="plot" id="response-${k}"></div></figure>`).join("");
  parameters.forEach((column, p) => {
    const bins = binned(column);
    const groups = bins.centres.map(() => []);
    for (let k = 0; k < rows.length; k++) if (Number.isFinite(figure.values[k])) (groups[bins.of(k)] || []).push(figure.values[k]);
    const kept = bins.centres.map((centre, k) => [centre, groups[k].sort((a, b) => a - b)]).filter(([, group]) => group.length);
    const x = kept.map(([centre]) => centre);
    const at = (share) => kept.map(([, group]) => group[Math.min(group.length - 1, Math.floor(share * group.length))]);
    const mean = kept.map(([, group]) => group.reduce((sum, value) => sum + value, 0) / group.length);
    const mode = column.words.length ? "markers" : kept.length > 30 ? "lines" : "lines+markers";
    const band = { type: "scatter", mode: "lines", line: { width: 0 }, hoverinfo: "skip" };
    const traces = column.words.length
      ? [{ type: "scatter", mode, x, y: mean, marker: { size: 9, color: theme.curves[0] }, error_y: { type: "data", symmetric: false, array: at(0.9).map((value, k) => value - mean[k]), arrayminus: at(0.1).map((value, k) => mean[k] - value), color: theme.curves[0] } }]
      : [{ ...band, x, y: at(0.9) }, { ...band, x, y: at(0.1), fill: "tonexty", fillcolor: toCss(toRgb(theme.curves[0]), 0.18) },
         { type: "scatter", mode, x, y: mean, line: { color: theme.curves[0], width: 1.8 }, hovertemplate: "%{x:.5g}: %{y:.5g}<extra></extra>" }];
    Plotly.newPlot(`response-${p}`, traces, layoutOf(column, figure, { height: 240 }), config);
  });
}

const scatterX = fill("scatter-x", columns, parameters[0], () => drawScatter());
const scatterY = fill("scatter-y", columns, figures[0], () => drawScatter());
const plane = [...parameters].sort((a, b) => a.words.length - b.words.length); // numbers first
const heatX = fill("heat-x", parameters, plane[1] || plane[0], () => drawHeat());
const heatY = fill("heat-y", parameters, plane[0], () => drawHeat());
const heatZ = fill("heat-z", figures, figures[0], () => drawHeat());
const response = fill("response", figures, figures[0], () => drawResponses());

function drawAll() {
  drawParallel();
  if (!window.Plotly || !rows.length) return;
  drawScatter();
  drawHeat();
  drawResponses();
}
drawAll();
if (window.Plotly && rows.length)
  byId("scatter").on("plotly_click", ({ points }) => {
    showRow(points[0].pointIndex);
    byId("row-card").scrollIntoView({ block: "nearest" });
  });
byId("colour").addEventListener("change", () => window.Plotly && drawScatter());
window.addEventListener("resize", () => drawParallel());
dark.addEventListener("change", () => drawAll());
