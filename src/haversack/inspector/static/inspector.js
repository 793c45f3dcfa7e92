// Plain script: the budget slider, copying, and tooltips that Escape closes. Every page works without it.
"use strict";

(() => {
  const form = document.getElementById("ask");
  const answers = document.getElementById("answers");

  // --- the slider: ask for the answers at each budget, and say what entered and what left
  if (form && answers) {
    const slide = document.getElementById("slide");
    const budget = document.getElementById("budget");
    const moved = document.getElementById("moved");
    let asking = null;
    let timer = 0;

    const carried = () => new Map(
      [...answers.querySelectorAll("section.answer:first-of-type li[data-in=yes]")].map(
        (row) => [row.dataset.id, row.querySelector(".words").textContent]));

    const tell = (before) => {
      const after = carried();
      const entered = [...after.keys()].filter((id) => !before.has(id));
      const left = [...before.keys()].filter((id) => !after.has(id));
      for (const row of answers.querySelectorAll("li[data-id]")) {
        row.classList.toggle("entered", row.dataset.in === "yes" && entered.includes(row.dataset.id));
        row.classList.toggle("left", row.dataset.in === "no" && left.includes(row.dataset.id));
      }
      const first = answers.querySelector("section.answer");
      const size = first ? `${first.dataset.tokens} of ${first.dataset.budget} tokens. ` : "";
      const named = (ids, from) => ids.slice(0, 3).map((id) => `“${from.get(id).slice(0, 60)}”`).join(", ");
      moved.textContent = size + (entered.length ? `Entered: ${entered.length} (${named(entered, after)}). ` : "")
        + (left.length ? `Left: ${left.length} (${named(left, before)}).` : "")
        + (entered.length + left.length ? "" : "Nothing entered or left.");
    };

    const ask = async () => {
      const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
      const address = `${form.getAttribute("action")}?${query}`;
      if (asking) asking.abort();
      asking = new AbortController();
      try {
        const answered = await fetch(`${address}&part=1`, { signal: asking.signal, credentials: "same-origin" });
        if (answered.redirected) { location.reload(); return; }
        const words = await answered.text();
        const before = carried();
        answers.innerHTML = words; // made by our own templates, which escape all that is stored
        tell(before);
        history.replaceState(null, "", address);
      } catch (error) {
        if (error.name !== "AbortError") moved.textContent = "The inspector does not answer.";
      }
    };

    slide.addEventListener("input", () => {
      budget.value = slide.value;
      clearTimeout(timer);
      timer = setTimeout(ask, 40);
    });
    budget.addEventListener("change", () => { if (budget.value) slide.value = budget.value; });
    form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  }

  // --- copying: the text as the library made it, not as the page shows it
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const words = await (await fetch(button.dataset.copy, { credentials: "same-origin" })).text();
    try {
      await navigator.clipboard.writeText(words);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Copying is not allowed here: open it alone";
    }
  });

  // --- tooltips: Escape hushes the one that is open
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const tip of document.querySelectorAll(".tip:hover, .tip:focus-within")) tip.classList.add("hushed");
  });
  for (const leaving of ["focusout", "mouseout"]) {
    document.addEventListener(leaving, (event) => event.target.closest(".tip")?.classList.remove("hushed"));
  }
})();
