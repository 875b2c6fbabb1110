// Charts of many runs: which of them are shown, each in a colour of its own as long as it is.

const runSlots = new Map(); // label -> number of its colour

function takeSlot(label) {
  const used = new Set(runSlots.values());
  let slot = 0;
  while (used.has(slot)) slot++;
  runSlots.set(label, slot);
}

function bindRunChoices() {
  const choices = byId("run-choices");
  if (!choices) return;
  const boxes = [...choices.querySelectorAll("input")];
  const colour = (slot) => theme.curves[slot % theme.curves.length];
  const update = () => {
    for (const box of boxes) {
      if (!box.checked) runSlots.delete(box.value);
      else if (!runSlots.has(box.value)) takeSlot(box.value);
      const slot = runSlots.get(box.value);
      box.parentElement.style.borderColor = box.checked ? colour(slot) : "transparent";
      box.parentElement.style.borderLeftStyle = slot >= theme.curves.length ? "dashed" : "solid";
    }
    for (const entry of drawn.values()) if (entry.chart.role === "runs") redrawChart(entry);
  };
  const light = (label) => {
    for (const entry of drawn.values())
      if (entry.chart.role === "runs") entry.light(entry.curves.findIndex((curve) => curve.label === label));
  };
  for (const box of boxes) {
    box.addEventListener("change", update);
    box.parentElement.addEventListener("mouseenter", () => light(box.value));
    box.parentElement.addEventListener("mouseleave", () => light(null));
  }
  for (const button of choices.querySelectorAll("button"))
    button.addEventListener("click", () => {
      for (const box of boxes) box.checked = Boolean(button.dataset.all);
      update();
    });
  dark.addEventListener("change", update);
  update();
}
