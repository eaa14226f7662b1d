"use strict";
// The page of a case, made of its JSON. Texts of others reach it by textContent only.
const pages = (() => {
  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "text") node.textContent = value;
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value != null) node.setAttribute(name, value);
    }
    node.append(...children.flat(Infinity).filter((child) => child != null && child !== ""));
    return node;
  }
  const isolated = (text, attributes) => make("bdi", { ...attributes, text });
  const paragraph = (text, name) => make("p", { dir: "auto", class: name, text });

  const SIGNS = { found: "✓", missing: "✗", wrong: "!", optional: "+" };
  const SAID = { found: "found", missing: "missing", wrong: "wrong", optional: "optional" };

  function marked(pieces) {
    return pieces.map((one) => {
      if (typeof one === "string") return document.createTextNode(one);
      const [text, kind, note] = one;
      const sign = make("span", { class: "sr", text: ` [${note}] ` });
      return make("mark", { class: `m-${kind}`, title: note }, document.createTextNode(text), sign);
    });
  }
  const text = (pieces) => make("div", { class: "text", dir: "auto" }, marked(pieces));

  function lines(answer) {
    if (!answer.lines.length) return null;
    return make("ul", { class: "lines" }, answer.lines.map(([mark, name, value, remark, lost]) =>
      make("li", { class: `l-${mark}` },
        make("span", { class: "sign", "aria-hidden": "true", text: SIGNS[mark] || "·" }),
        make("span", { class: "sr", text: `${SAID[mark] || mark}: ` }),
        isolated(name, { class: "id" }), " ", isolated(value, { class: "value" }),
        remark ? [" ", isolated(remark, { class: "dim" })] : null,
        lost ? [" ", make("span", { class: "badge", text: lost })] : null)));
  }

  function memories(answer, one) {
    if (answer.memories === null) return null;
    const count = answer.memories.length + answer.left;
    const items = answer.memories.map(([place, cut, score, when, refs, used]) =>
      make("li", { class: used ? "" : "unread" },
        make("div", { class: "dim" }, isolated([when, score && `score ${score}`, refs, used ? "" : "not read"].filter(Boolean).join(" · "))),
        text(one.texts[place]),
        cut ? paragraph(`… ${cut} more characters`, "dim") : null));
    const left = answer.left ? paragraph(`… and ${answer.left} more, in the run's journal`, "dim") : null;
    const title = `Recalled: ${count} ${count === 1 ? "memory" : "memories"}`;
    return details(title, () => [make("ol", { class: "memories" }, items), left], false, "recalled");
  }

  // What is folded away is made when it is opened first: a page of ten systems is long.
  function details(title, content, open = false, name = null) {
    const node = make("details", { open, class: name }, make("summary", { text: title }));
    let made = false;
    const fill = () => {
      if (!made) node.append(...content().flat(Infinity).filter(Boolean));
      made = true;
    };
    node.fill = fill;
    if (open) fill();
    node.addEventListener("toggle", () => node.open && fill());
    return node;
  }

  function answerOf(answer, system, one) {
    const head = make("h4", {},
      isolated(system, { class: "name" }), " ",
      make("span", { class: `badge t-${answer.outcome}`, text: answer.reward ? `${answer.reward} ${answer.label}` : answer.label }),
      answer.flags.map((flag) => make("span", { class: "badge", text: flag.replace(/_/g, " ") })));
    const ruling = answer.ruling;
    return make("section", { class: "answer" }, head,
      answer.reason ? paragraph(answer.reason, "warn") : null,
      answer.text ? text(answer.text) : null,
      answer.cut ? paragraph(`… ${answer.cut} more characters`, "dim") : null,
      lines(answer),
      ruling ? details(`Judge: ${ruling.judges}`, () => [paragraph(ruling.reasoning || "It gave no ruling.", "text")], true) : null,
      memories(answer, one),
      answer.facts.length ? make("p", { class: "dim small" }, isolated(answer.facts.join(" · "))) : null);
  }

  function talkOf(talk, at) {
    const cited = talk.messages.some((said) => said.facts);
    const hides = cited && talk.messages.some((said) => !said.near);
    const title = [talk.id, talk.when, talk.size].join(" · ");
    return details(title, () => {
      const list = make("ol", { class: cited ? "talk brief" : "talk" });
      let last = 0;
      let gap = 0;
      const close = () => {
        if (gap) list.append(make("li", { class: "gap", text: `${gap} ${gap === 1 ? "message" : "messages"} not shown` }));
        gap = 0;
      };
      for (const said of talk.messages) {
        const left = said.n - last - 1;
        if (left > 0) list.append(make("li", { class: "left", text: `${left} messages are not in this page` }));
        last = said.n;
        if (cited && !said.near) gap += 1;
        else close();
        list.append(make("li", { id: `m-${at}-${said.n}`, class: `${said.role}${said.near ? "" : " far"}${said.facts ? " cited" : ""}`, tabindex: "-1" },
          make("span", { class: "dim who", text: `${said.n} ${said.role}` }), text(said.text),
          said.facts ? make("span", { class: "dim small" }, "evidence for ", isolated(said.facts)) : null));
      }
      close();
      const whole = make("button", { type: "button", "aria-pressed": "false", text: "Show every message" });
      whole.addEventListener("click", () => {
        const brief = list.classList.toggle("brief");
        whole.setAttribute("aria-pressed", String(!brief));
      });
      return [talk.about ? paragraph(talk.about, "dim small") : null, hides ? whole : null, list];
    }, cited);
  }

  function jump(talk, number) {
    const node = document.querySelectorAll(".talks > details")[talk];
    node.open = true;
    node.fill();
    const said = document.getElementById(`m-${talk}-${number + 1}`);
    if (said) {
      said.scrollIntoView({ block: "center" });
      said.focus({ preventScroll: true });
    }
  }

  function factRow(fact, one) {
    const links = fact.cited.map(([talk, number]) => {
      const link = make("button", { type: "button", class: "link" }, isolated(`${one.talks[talk].id} #${number + 1}`));
      link.addEventListener("click", () => jump(talk, number));
      return link;
    });
    return make("tr", { class: `r-${fact.role}` },
      make("th", { scope: "row" }, isolated(fact.id)), make("td", { text: fact.role }),
      make("td", {}, isolated(fact.value), " ", make("small", { text: fact.type })),
      make("td", {}, links.length ? links.flatMap((link) => [link, " "]) : isolated(fact.refs)),
      make("td", { class: "dim" }, isolated(fact.why)));
  }

  function factsOf(one) {
    if (!one.facts.length) return null;
    const heads = ["Fact", "Role", "Value", "Evidence", "Note"].map((name) => make("th", { scope: "col", text: name }));
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Gold facts" },
      make("table", { class: "gold" }, make("caption", { text: "Gold facts" }),
        make("thead", {}, make("tr", {}, heads)),
        make("tbody", {}, one.facts.map((fact) => factRow(fact, one)))));
  }

  const KEY = [["found", "stated"], ["unsure", "mentioned only"], ["wrong", "wrong value"], ["optional", "optional"], ["quote", "quoted or set aside"]];

  // The parts of a case's page; `systems` are the names, `only` the place of one or "", `turns` the links on top.
  function page(one, systems, only, turns) {
    const about = [
      one.id, one.layer, one.domain, one.abilities.join(", "), one.asked && `asked ${one.asked}`,
      one.answerable ? "" : "not answerable from the conversations",
    ];
    const shown = one.answers.map((answer, at) => [answer, at]).filter(([, at]) => only === "" || at === Number(only));
    return [
      make("nav", { class: "turn", "aria-label": "Cases" }, turns),
      make("h2", { tabindex: "-1", dir: "auto", text: one.title || one.id }),
      make("p", { class: "dim" }, isolated(about.filter(Boolean).join(" · "))),
      one.problem ? paragraph(one.problem, "warn") : null,
      one.question ? make("blockquote", { dir: "auto", text: one.question }) : null,
      one.reference ? details("Reference answer", () => [paragraph(one.reference, "text")]) : null,
      one.criteria.length ? details("Criteria", () => [make("ol", {}, one.criteria.map((words) => make("li", { dir: "auto", text: words })))]) : null,
      factsOf(one),
      make("h3", { text: "Answers" }),
      make("p", {}, KEY.map(([kind, words]) => [make("mark", { class: `m-${kind}`, text: words }), " "])),
      make("div", {}, shown.map(([answer, at]) => answerOf(answer, systems[at], one))),
      one.talks.length ? make("h3", { text: "Conversations" }) : null,
      make("div", { class: "talks" }, one.talks.map(talkOf)),
    ].filter(Boolean);
  }

  return { make, page };
})();
