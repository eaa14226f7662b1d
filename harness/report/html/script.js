// Sorting, filters, and which page is shown.
(() => {
  const { make, page } = pages;
  const find = (id) => document.getElementById(id);
  const read = (id) => JSON.parse(find(id).textContent);
  const index = read("index");
  const places = new Map(index.cases.map((one, at) => [one.id, at]));

  // ---- sorting ----------------------------------------------------------------------

  function sort(button) {
    const head = button.closest("th");
    const column = [...head.parentNode.children].indexOf(head);
    const body = head.closest("table").tBodies[0];
    const cells = [...body.rows].map((row) => [row.cells[column].dataset.value, row]);
    const numeric = cells.every(([value]) => value === "" || Number.isFinite(Number(value)));
    const before = head.getAttribute("aria-sort");
    const down = before === "none" ? numeric && column > 0 : before === "ascending";
    const order = (a, b) => (numeric ? a - b : a.localeCompare(b, undefined, { numeric: true }));
    cells.sort(([a], [b]) => {
      if (a === "" || b === "") return (a === "") - (b === ""); // nothing known stands last, either way
      return down ? order(b, a) : order(a, b);
    });
    for (const other of head.parentNode.children) {
      if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    }
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...cells.map(([, row]) => row));
  }
  for (const button of document.querySelectorAll("button.sort")) {
    button.addEventListener("click", () => sort(button));
  }

  // ---- filters ----------------------------------------------------------------------

  const form = find("filter");
  const rows = [...find("matrix").tBodies[0].rows].map((row) => [Number(row.dataset.at), row]);
  const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const plain = (pieces) => pieces.map((one) => (typeof one === "string" ? one : one[0])).join("");
  const texts = [];

  function searchable(at) {
    if (texts[at] === undefined) {
      const one = read(`case-${at}`);
      texts[at] = folded(
        [
          one.id, one.title, one.description, one.question, one.reference, ...one.criteria,
          ...one.facts.flatMap((fact) => [fact.id, fact.value]),
          ...one.answers.flatMap((answer) => [plain(answer.text || []), answer.reason, answer.ruling ? answer.ruling.reasoning : ""]),
          ...one.texts.map(plain),
          ...one.talks.flatMap((talk) => [talk.about, ...talk.messages.map((said) => plain(said.text))]),
        ].join("\n"),
      );
    }
    return texts[at];
  }

  function fits(at, asked) {
    const one = index.cases[at];
    if (asked.layer && one.layer !== asked.layer) return false;
    if (asked.domain && one.domain !== asked.domain) return false;
    if (asked.ability && !one.abilities.includes(asked.ability)) return false;
    if (asked.outcome) {
      const ends = asked.system === "" ? one.outcomes : [one.outcomes[Number(asked.system)]];
      if (!ends.includes(asked.outcome)) return false;
    }
    return asked.words.every((word) => searchable(at).includes(word));
  }

  function filter() {
    const value = (name) => find(`f-${name}`).value;
    const asked = Object.fromEntries(["layer", "domain", "ability", "outcome", "system"].map((name) => [name, value(name)]));
    asked.words = folded(value("text")).split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [at, row] of rows) {
      row.hidden = !fits(at, asked);
      shown += row.hidden ? 0 : 1;
    }
    const table = find("matrix");
    for (const row of table.rows) {
      [...row.cells].forEach((cell, column) => {
        cell.hidden = asked.system !== "" && column > 0 && column - 1 !== Number(asked.system);
      });
    }
    find("count").textContent = shown === rows.length ? `${shown} cases` : `${shown} of ${rows.length} cases`;
  }

  function offer(name, values) {
    for (const [value, text] of values) find(`f-${name}`).append(make("option", { value, text }));
  }
  const distinct = (values) => [...new Set(values)].filter(Boolean).sort().map((value) => [value, value]);
  offer("layer", distinct(index.cases.map((one) => one.layer)));
  offer("domain", distinct(index.cases.map((one) => one.domain)));
  offer("ability", distinct(index.cases.flatMap((one) => one.abilities)));
  offer("system", index.systems.map((name, at) => [String(at), name]));
  const ends = new Set(index.cases.flatMap((one) => one.outcomes));
  for (const option of [...find("f-outcome").options]) {
    if (option.value && !ends.has(option.value)) option.remove();
  }
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  // The words of every case are gathered while nothing else is to do, so that the first search is quick.
  const idle = window.requestIdleCallback || ((call) => setTimeout(() => call({ timeRemaining: () => 10 }), 50));
  let next = 0;
  const gather = (left) => {
    do if (next < rows.length) searchable(next++);
    while (next < rows.length && left.timeRemaining() > 5);
    if (next < rows.length) idle(gather);
  };
  idle(gather);

  // ---- a case's page ----------------------------------------------------------------

  function open(at) {
    const shown = rows.filter(([, row]) => !row.hidden).sort(([, a], [, b]) => a.rowIndex - b.rowIndex);
    const order = shown.map(([place]) => place);
    const here = order.indexOf(at);
    const turn = (place, text) =>
      place === undefined ? null : make("a", { href: `#case=${encodeURIComponent(index.cases[place].id)}`, text });
    const turns = [make("a", { href: "#cases", text: "← All cases" })];
    if (here >= 0) turns.push(turn(order[here - 1], "Previous"), turn(order[here + 1], "Next"));
    find("page").replaceChildren(...page(read(`case-${at}`), index.systems, find("f-system").value, turns));
  }

  let from = 0;
  function route() {
    const found = /^#case=(.*)$/.exec(location.hash);
    let at;
    try {
      at = found ? places.get(decodeURIComponent(found[1])) : undefined;
    } catch {
      at = undefined; // a hash that somebody typed
    }
    const opened = find("page");
    if (at === undefined) {
      const back = !opened.hidden;
      opened.hidden = true;
      opened.replaceChildren();
      find("overview").hidden = false;
      if (back && location.hash === "#cases") window.scrollTo(0, from);
      else if (back && location.hash.length > 1) find(location.hash.slice(1))?.scrollIntoView();
      return;
    }
    if (opened.hidden) from = window.scrollY;
    find("overview").hidden = true;
    open(at);
    opened.hidden = false;
    window.scrollTo(0, 0);
    opened.querySelector("h2").focus({ preventScroll: true });
  }
  window.addEventListener("hashchange", route);
  route();

  // Paper has no buttons: what is folded away is printed, but for memories, which would take pages.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open], .recalled)")];
    for (const node of closed) {
      if (node.fill) node.fill();
      node.open = true;
    }
  });
  window.addEventListener("afterprint", () => {
    for (const node of closed) node.open = false;
  });
})();
