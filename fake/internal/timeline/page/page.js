"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const { lanes, marks, columns, exchanges, hits } = data;
  const columnWidth = 58, gapWidth = 34, crowd = 46, silence = 1e6; // pixels, and microseconds
  const ofClient = lanes.map((l) => !l.watch);

  // element makes one. Texts are only ever texts: there is no way to markup here.
  function element(tag, attributes = {}, ...children) {
    const e = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
      else if (value !== undefined && value !== false) e.setAttribute(name, value);
    }
    e.append(...children);
    return e;
  }

  function duration(us) {
    if (us === 0) return "0s";
    if (us < 1e3) return Math.round(us) + "µs";
    if (us < 1e6) return +(us / 1e3).toFixed(1) + "ms";
    if (us < 60e6) return +(us / 1e6).toFixed(2) + "s";
    const tenths = Math.round(us / 1e5), h = Math.floor(tenths / 36000), m = Math.floor(tenths / 600) % 60;
    return (h ? h + "h" : "") + (m ? m + "m" : "") + (tenths % 600 ? (tenths % 600) / 10 + "s" : "");
  }

  // ---- What is shown, and where.

  const groups = new Map(); // the marks of a resourceVersion
  const versions = new Map(); // the known versions of an object
  const collect = (map, key, i) => { if (map.has(key)) map.get(key).push(i); else map.set(key, [i]); };
  marks.forEach((m, i) => {
    if (m.k) collect(groups, m.k, i);
    if (m.o && m.b) collect(versions, m.o, i);
  });
  const isProblem = (m) => m.f !== undefined || (!m.e && ["bad4", "bad5", "none", "err", "junk", "failed"].includes(m.s));
  const isNote = (m) => m.s === "note" || m.s === "failed";

  let view = "order", zoom = 1, words = [];
  let shown = marks.map(() => true);
  let laneMarks = [], x = [], columnX = [], used = new Set(), gaps = [], tails = [], width = 0;
  let current = data.start, opened = -1, hovered = -1;

  const narrow = matchMedia("(max-width: 800px)");
  const board = $("board"), sheet = $("sheet"), axis = $("axis");
  const nameWidth = () => axis.firstElementChild.offsetWidth;

  let head = 40; // the height of the axis and of the notes below it, which stay at the top
  function place() {
    head = axis.offsetHeight;
    rows.forEach((row, i) => {
      if (!lanes[i].notes) return;
      row.classList.toggle("fixed", i === 0 || !narrow.matches);
      if (i > 0 && narrow.matches) return;
      row.style.top = head + "px";
      head += row.offsetHeight;
    });
    laneMarks = lanes.map(() => []);
    marks.forEach((m, i) => { if (shown[i]) laneMarks[m.l].push(i); });
    const left = nameWidth() + columnWidth * 0.7;
    columnX = []; gaps = [];
    if (view === "order") {
      const wide = columnWidths();
      used = new Set(wide.keys());
      let at = left - columnWidth / 2, before = 0;
      columns.forEach((c, i) => {
        if (used.has(i)) {
          if (c.t - before >= silence) {
            gaps.push({ x: at + gapWidth / 2, text: duration(c.t - before) });
            at += gapWidth;
          }
          before = c.t;
          columnX[i] = at + Math.min(columnWidth, wide.get(i)) / 2;
          at += wide.get(i);
        } else {
          columnX[i] = at;
        }
      });
      width = at + columnWidth * 2;
    } else {
      const room = Math.max(200, board.clientWidth - left - columnWidth) * zoom;
      columns.forEach((c, i) => { columnX[i] = timeX(c.t, left, room); });
      width = left + room + columnWidth;
    }
    x = marks.map((m) => (view === "order" ? columnX[m.c] : timeX(m.t, left, width - left - columnWidth)));
    tails = marks.map((_, i) => i).filter((i) => shown[i] && (view === "order" ? marks[i].u : ofClient[marks[i].l] && marks[i].d > 0 && marks[i].g !== "watch"));
    sheet.style.width = width + "px";
    drawOverview();
  }

  // columnWidths returns the widths of the columns that have marks. Those of bookmarks and of notes
  // are narrow. A column is wider if a text needs more room before the next mark of its lane.
  function columnWidths() {
    const inColumn = new Map();
    marks.forEach((m, i) => { if (shown[i]) collect(inColumn, m.c, m); });
    const widths = new Map(), order = [...inColumn.keys()].sort((a, b) => a - b);
    const place = new Map(order.map((c, n) => [c, n]));
    for (const [c, all] of inColumn) widths.set(c, all.every((m) => m.s === "book" || isNote(m)) ? 28 : columnWidth);
    const textWidth = (m) => 10 + 6.1 * (m.m ?? "").length;
    for (const list of laneMarks) {
      list.slice(1).forEach((i, n) => {
        const a = marks[list[n]], b = marks[i];
        let missing = isNote(a) ? Math.min(260, 14 + textWidth(a)) : Math.min(115, Math.max(textWidth(a), textWidth(b)));
        for (let at = place.get(a.c); at < place.get(b.c) && missing > 0; at++) missing -= widths.get(order[at]);
        if (missing > 0) widths.set(a.c, widths.get(a.c) + missing);
      });
    }
    return widths;
  }

  // roomOf returns the width of the text of a mark that leaves room for its neighbors in the lane.
  function roomOf(list, n) {
    const before = n > 0 ? x[list[n]] - x[list[n - 1]] : Infinity, after = n + 1 < list.length ? x[list[n + 1]] - x[list[n]] : Infinity;
    if (isNote(marks[list[n]])) return Math.min(420, Math.max(18, after - 6));
    return Math.min(240, Math.max(54, Math.min(before, after) - 6));
  }
  const timeX = (t, left, room) => left + (data.length ? Math.min(1, Math.max(0, t / data.length)) : 0) * room;

  // first index of a sorted list of marks that stands at or right of a place
  function firstAt(list, where) {
    let low = 0, high = list.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (x[list[mid]] < where) low = mid + 1; else high = mid;
    }
    return low;
  }

  // ---- Drawing. Only what can be seen is in the document, and the current mark.

  const rows = lanes.map((l, i) => {
    const kind = l.notes ? "notes" : ofClient[i] ? "client" : "watch";
    const row = element("div", { role: "row", class: "lane " + kind + (l.empty ? " empty" : ""), "aria-rowindex": i + 1 },
      element("div", { role: "rowheader", class: "name", title: l.watch ? l.client + ", watch of " + l.watch : l.client }, (l.watch ? "watch " : "") + l.label));
    sheet.append(row);
    return row;
  });
  board.setAttribute("aria-rowcount", lanes.length);
  board.setAttribute("aria-colcount", columns.length);
  const cells = new Map();
  const loose = []; // what is drawn anew each time

  function cell(i) {
    const m = marks[i];
    const e = element("div", { role: "gridcell", class: "mark " + m.s + (m.e ? " expected" : "") + (m.s !== "fault" && m.f?.some((h) => !hits[h].notApplied) ? " hit" : ""),
      "aria-label": m.x, "aria-colindex": m.c + 1, title: m.x, tabindex: -1 }, shape(m),
      element("span", { class: "of", "aria-hidden": "true" }, m.m ?? ""));
    e.dataset.mark = i;
    return e;
  }
  function shape(m) {
    const s = element("span", { class: "shape", "aria-hidden": "true" }, element("span", {}, m.g));
    if (m.n) s.append(element("span", {}, m.n));
    return s;
  }

  function draw() {
    const from = board.scrollLeft - 200, to = board.scrollLeft + board.clientWidth + 200;
    const wanted = new Map(), rooms = new Map();
    for (const list of laneMarks) {
      let last = -1, lastX = -Infinity;
      for (let n = firstAt(list, from); n < list.length && x[list[n]] <= to; n++) {
        const i = list[n];
        if (view === "time" && x[i] - lastX < crowd && i !== current) {
          const more = wanted.get(last) + 1;
          if (isProblem(marks[i]) && !isProblem(marks[last]) && last !== current) { wanted.delete(last); last = i; } // the worst stands for all
          wanted.set(last, more);
          continue;
        }
        wanted.set(i, 0);
        rooms.set(i, roomOf(list, n));
        last = i; lastX = x[i];
      }
    }
    if (current >= 0 && shown[current] && !wanted.has(current)) wanted.set(current, 0);
    for (const [i, e] of cells) if (!wanted.has(i)) { e.remove(); cells.delete(i); }
    const kin = new Set(groups.get(marks[hovered >= 0 ? hovered : current]?.k) ?? []);
    const before = rows.map((row) => row.firstElementChild);
    for (const [i, more] of wanted) {
      let e = cells.get(i);
      if (!e) {
        e = cell(i);
        cells.set(i, e);
        before[marks[i].l].after(e); // in the order in which they are read out
      }
      before[marks[i].l] = e;
      e.style.left = x[i] + "px";
      e.querySelector(".of").style.maxWidth = (rooms.get(i) ?? 56) + "px";
      e.tabIndex = i === current ? 0 : -1;
      e.classList.toggle("kin", kin.size > 1 && kin.has(i));
      e.classList.toggle("open", i === opened);
      e.querySelector(".more")?.remove();
      if (more) e.append(element("span", { class: "more", "aria-hidden": "true" }, "+" + more));
    }
    for (const e of loose.splice(0)) e.remove();
    for (const i of wanted.keys()) if (isNote(marks[i])) put(sheet, element("div", { class: "guide" }), { left: x[i] - 12, height: bottom() });
    drawSpans(from, to);
    drawWires([...kin].filter((i) => shown[i]), from, to);
    drawAxis(from, to);
    moveSeen();
  }

  function put(parent, e, style) {
    for (const [name, value] of Object.entries(style)) e.style[name] = value + "px";
    e.setAttribute("aria-hidden", "true");
    parent.append(e);
    loose.push(e);
  }

  function drawSpans(from, to) {
    const line = (l, a, b, kind) => {
      if (b < from || a > to || rows[l].hidden) return;
      a = Math.max(a, from); b = Math.min(b, to);
      if (b > a) put(rows[l], element("div", { class: "span" + kind }), { left: a, width: b - a });
    };
    const room = width - columnWidth, left = nameWidth() + columnWidth * 0.7;
    const end = (t, d) => timeX(d < 0 ? data.length : t + d, left, room - left);
    for (const s of data.spans) {
      if (view === "order") line(s.l, columnX[s.c], columnX[s.u] + columnWidth / 2, s.d < 0 ? " open" : "");
      else line(s.l, timeX(s.t, left, room - left), end(s.t, s.d), s.d < 0 ? " open" : "");
    }
    for (const i of tails) {
      const m = marks[i], until = view === "order" ? columnX[m.u] : end(m.t, m.d);
      if (until - x[i] > 2) line(m.l, x[i], until, " tail");
    }
  }

  // bottom returns the height of all lanes.
  const bottom = () => {
    const last = rows.findLast((row) => !row.hidden);
    return last ? last.offsetTop + last.offsetHeight - axis.offsetHeight : 0;
  };

  // drawWires joins a write and its events: down the column, and along the lane
  // of those that came later.
  function drawWires(kin, from, to) {
    if (kin.length < 2) return;
    const shift = parseFloat(getComputedStyle(sheet).getPropertyValue("--shift")) || 0;
    const middle = (l) => rows[l].offsetTop + rows[l].offsetHeight / 2 + shift - 6; // of the shape, above its name
    const trunk = x[kin[0]], ys = kin.map((i) => middle(marks[i].l));
    const top = Math.min(...ys), bottom = Math.max(...ys);
    put(sheet, element("div", { class: "wire" }), { left: trunk - 1, top, width: 2, height: bottom - top });
    kin.forEach((i, n) => {
      const a = Math.max(from, Math.min(trunk, x[i])), b = Math.min(to, Math.max(trunk, x[i]));
      if (b > a) put(sheet, element("div", { class: "wire" }), { left: a, top: ys[n] - 1, width: b - a, height: 2 });
    });
  }

  function drawAxis(from, to) {
    const label = (at, text, kind) => put(axis, element("span", { class: kind }, text), { left: at });
    if (view === "time") {
      const left = nameWidth() + columnWidth * 0.7, room = width - left - columnWidth;
      const raw = Math.max(1, data.length * 110 / room), power = 10 ** Math.floor(Math.log10(raw));
      const step = [1e6, 2e6, 5e6, 10e6, 15e6, 30e6, 60e6, 120e6, 300e6, 600e6, 1800e6, 3600e6].find((n) => raw > 5e5 && n >= raw) ??
        [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
      const first = Math.max(0, Math.floor((from - left) / room * data.length / step));
      for (let t = first * step; t <= data.length && timeX(t, left, room) <= to; t += step) label(timeX(t, left, room), "+" + duration(t), "at");
      return;
    }
    let free = -Infinity, shown = "";
    columns.forEach((c, i) => {
      const at = columnX[i];
      if (at < from || at > to || !used.has(i)) return;
      if (c.r) label(at, c.r, "rv");
      const text = "+" + duration(c.t);
      if (at >= free && text !== shown && at >= board.scrollLeft + nameWidth()) { label(at, text, "at"); free = at + 74; shown = text; }
    });
    for (const g of gaps) {
      if (g.x < from || g.x > to) continue;
      put(sheet, element("div", { class: "gapband", title: g.text + " of silence" }), { left: g.x, height: bottom() });
      put(axis, element("span", { class: "rv gap" }, g.text), { left: g.x });
    }
  }
  // drawOverview draws all there is, small; what is wrong lies on top. It is drawn
  // when places change, and the frame that shows what can be seen moves over it.
  function drawOverview() {
    const canvas = $("overview"), w = canvas.clientWidth, h = canvas.clientHeight, ratio = window.devicePixelRatio || 1;
    const style = getComputedStyle(document.documentElement), pen = canvas.getContext("2d");
    canvas.width = w * ratio; canvas.height = h * ratio;
    pen.scale(ratio, ratio);
    const high = h / Math.max(1, lanes.length), drawn = new Set();
    for (const [wrong, size] of [[false, 1], [true, 3]]) {
      marks.forEach((m, i) => {
        const at = Math.round(x[i] / width * w), spot = at + "/" + m.l + "/" + wrong;
        if (!shown[i] || isProblem(m) !== wrong || drawn.has(spot)) return;
        drawn.add(spot);
        pen.fillStyle = style.getPropertyValue(!wrong ? "--read" : m.f ? "--fault" : "--bad5");
        pen.fillRect(at - size / 2, m.l * high, size, Math.max(2, high - 1));
      });
    }
  }
  function moveSeen() {
    const w = $("overview").clientWidth, seen = $("seen").style;
    seen.left = board.scrollLeft / width * w + "px";
    seen.width = Math.min(w, Math.max(8, board.clientWidth / width * w)) + "px";
  }

  let asked = false;
  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  }

  // ---- Moving about.

  function go(i, { focus = true } = {}) {
    if (i === undefined || i < 0 || !shown[i]) return;
    current = i;
    const left = nameWidth() + 60, right = board.clientWidth - 60, at = x[i] - board.scrollLeft;
    if (at < left || at > right) board.scrollLeft = x[i] - (left + right) / 2;
    const y = rows[marks[i].l].offsetTop, high = rows[marks[i].l].offsetHeight;
    if (lanes[marks[i].l].notes) board.scrollTop = 0;
    else if (y < board.scrollTop + head + 20) board.scrollTop = y - head - 20;
    else if (y + high > board.scrollTop + board.clientHeight) board.scrollTop = y + high - board.clientHeight;
    draw();
    if (focus) cells.get(i).focus({ preventScroll: true });
    if (opened >= 0 && opened !== i) open(i, false);
  }

  function sideways(step) {
    const list = laneMarks[marks[current].l];
    go(list[list.indexOf(current) + step]);
  }
  function upDown(step) {
    for (let l = marks[current].l + step; l >= 0 && l < lanes.length; l += step) {
      const list = laneMarks[l], n = firstAt(list, x[current]);
      const near = [list[n - 1], list[n]].filter((i) => i !== undefined).sort((a, b) => Math.abs(x[a] - x[current]) - Math.abs(x[b] - x[current]));
      if (near.length) return go(near[0]);
    }
  }
  function problem(step) {
    for (let i = current + step; i >= 0 && i < marks.length; i += step) if (shown[i] && isProblem(marks[i])) return go(i);
  }
  function kinOf(i) {
    const kin = (groups.get(marks[i].k) ?? []).filter((n) => shown[n]);
    if (kin.length > 1) go(kin[(kin.indexOf(i) + 1) % kin.length]);
  }

  const keys = {
    ArrowLeft: () => sideways(-1), ArrowRight: () => sideways(1), ArrowUp: () => upDown(-1), ArrowDown: () => upDown(1),
    Home: () => go(laneMarks[marks[current].l][0]), End: () => go(laneMarks[marks[current].l].at(-1)),
    Enter: () => open(current), " ": () => open(current), e: () => kinOf(current),
  };
  const everywhere = {
    "/": () => { $("filter").focus(); $("filter").select(); }, "?": () => $("help").showModal(), n: () => problem(1), p: () => problem(-1),
    o: () => look("order"), t: () => look("time"), b: () => look("table"),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    if (event.target === $("filter")) {
      if (event.key === "Escape") { $("filter").value = ""; filter(); }
      if (["Enter", "Escape"].includes(event.key) && view !== "table") { go(current); event.preventDefault(); }
      return;
    }
    if (event.key === "Escape" && close()) return event.preventDefault();
    const onMark = event.target.closest("#board") && current >= 0 && shown[current];
    const does = (onMark && keys[event.key]) || everywhere[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
  board.addEventListener("click", (event) => {
    const e = event.target.closest(".mark");
    if (e) { go(+e.dataset.mark); open(+e.dataset.mark, false); }
  });
  board.addEventListener("focusin", (event) => {
    const e = event.target.closest(".mark");
    if (e && +e.dataset.mark !== current) go(+e.dataset.mark, { focus: false });
  });
  board.addEventListener("mouseover", (event) => {
    const e = event.target.closest(".mark"), i = e && marks[+e.dataset.mark].k ? +e.dataset.mark : -1;
    if (i !== hovered) { hovered = i; redraw(); }
  });
  board.addEventListener("scroll", redraw, { passive: true });
  $("overview").addEventListener("click", (event) => {
    board.scrollLeft = event.offsetX / $("overview").clientWidth * width - board.clientWidth / 2;
  });

  // ---- Views and filter.

  function look(at) {
    view = at;
    for (const radio of document.getElementsByName("view")) radio.checked = radio.value === at;
    document.body.classList.toggle("tabled", at === "table");
    $("lanes").hidden = at === "table";
    $("zoom").hidden = at !== "time";
    if (at === "table") return filterTable();
    place();
    draw();
    if (current >= 0 && shown[current]) go(current, { focus: document.activeElement === document.body });
  }
  for (const radio of document.getElementsByName("view")) radio.addEventListener("change", () => look(radio.value));
  function scale(by) {
    zoom = Math.min(Math.max(1, zoom * by), 4e6 / Math.max(1, board.clientWidth));
    place();
    if (current >= 0) board.scrollLeft = x[current] - board.clientWidth / 2;
    draw();
  }
  $("in").addEventListener("click", () => scale(2));
  $("out").addEventListener("click", () => scale(0.5));
  $("keys").addEventListener("click", () => $("help").showModal());

  const decisions = (m) => exchanges[m.i]?.admission ?? [];
  const decisionText = (d) => [d.title, d.message ?? "", ...(d.changes ?? []).map((c) => c.path)].join(" ");
  let hay;
  const matches = (text) => words.every((w) => (w.length > 1 && w[0] === "-" ? !text.includes(w.slice(1)) : text.includes(w)));
  function filter() {
    words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    hay ??= marks.map((m) => [m.x, exchanges[m.i]?.path ?? "", ...decisions(m).map(decisionText)].join(" ").toLowerCase());
    shown = hay.map(matches);
    const n = shown.filter(Boolean).length;
    $("live").textContent = words.length ? n + " of " + marks.length + " marks" : "";
    for (const e of cells.values()) e.remove();
    cells.clear();
    const lives = lanes.map(() => false);
    marks.forEach((m, i) => { if (shown[i]) lives[m.l] = true; });
    rows.forEach((row, l) => { row.hidden = words.length > 0 && !lives[l]; });
    if (!shown[current]) current = shown.indexOf(true);
    if (view === "table") return filterTable();
    place();
    draw();
    if (current >= 0) go(current, { focus: false });
  }
  function filterTable() {
    for (const row of $("rows").querySelectorAll("tbody tr")) row.hidden = words.length > 0 && !matches(row.textContent.toLowerCase());
  }
  $("filter").addEventListener("input", filter);

  // chips tells at first sight what went wrong, and leads there.
  function chips() {
    const found = new Map();
    const add = (kind, text, i) => {
      const key = kind + " " + text;
      if (!found.has(key)) found.set(key, { kind, text, at: [], next: 0 });
      if (found.get(key).at.at(-1) !== i) found.get(key).at.push(i);
    };
    marks.forEach((m, i) => { for (const h of m.f ?? []) add(hits[h].notApplied ? "unapplied" : "fault", "fault " + hits[h].name + (hits[h].notApplied ? " not applied" : ""), i); });
    marks.forEach((m, i) => {
      if (m.s === "failed") add("failed", m.x, i);
    });
    marks.forEach((m, i) => {
      if (["bad4", "bad5", "none"].includes(m.s)) add(m.e ? "expected" : m.s, exchanges[m.i].status, i);
      else if (m.s === "err") add("err", m.x.split(",")[0] + " in a watch", i);
    });
    marks.forEach((m, i) => {
      for (const d of decisions(m)) {
        if (d.outcome === "denied" || d.outcome === "failed") add("denied", d.by + " refused", i);
        else if (d.outcome === "ignored") add("ignored", d.by + " failed, ignored", i);
      }
    });
    for (const c of found.values()) {
      $("chips").append(element("button", { type: "button", class: c.kind, title: c.text, onclick: () => {
        if (view === "table") look("order");
        const seen = c.at.filter((i) => shown[i]);
        go(seen[c.next++ % seen.length]);
      } }, element("span", {}, c.text), c.at.length > 1 ? element("b", {}, "×" + c.at.length) : ""));
    }
    $("chips").hidden = !found.size;
  }

  // ---- Details; page_detail.js says what they show.

  function open(i, focus = true) {
    if (i < 0) return;
    opened = i;
    const detail = $("detail"), was = board.clientWidth;
    detail.hidden = $("split").hidden = false;
    detail.replaceChildren(...details(i, { data, groups, versions, element, duration, go, close }));
    detail.scrollTop = 0;
    if (focus) detail.querySelector("h2").focus();
    if (was !== board.clientWidth) place();
    const { seq } = exchanges[marks[i].i] ?? {};
    if (seq) history.replaceState(null, "", "#e" + seq);
    go(i, { focus: false });
  }
  function close() {
    if (opened < 0) return false;
    opened = -1;
    $("detail").hidden = $("split").hidden = true;
    place();
    go(current, { focus: view !== "table" });
    return true;
  }
  function follow() {
    const i = marks.findIndex((m) => m.i >= 0 && "#e" + exchanges[m.i].seq === location.hash);
    if (i < 0) return;
    if (!shown[i]) { $("filter").value = ""; filter(); }
    if (view === "table") look("order");
    go(i, { focus: false });
    open(i);
  }

  for (const [s, g, n, text] of [["read", "list", "", "read"], ["write", "update", "", "write"], ["bad4", "update", "409", "refused, 4xx"],
    ["bad5", "get", "504", "server error, 5xx"], ["none", "create", "none", "no answer"], ["read hit", "get", "", "hit by a fault"],
    ["fault", "hit", "", "fault on a stream"], ["add", "+", "", "ADDED"], ["mod", "~", "", "MODIFIED"], ["del", "−", "", "DELETED"],
    ["book", "b", "", "BOOKMARK"], ["err", "!", "", "ERROR"], ["note", "*", "", "step or action"], ["failed", "!", "", "failed step"]]) {
    $("legend").append(element("li", {}, element("span", { class: "mark " + s }, shape({ g, n })), text));
  }
  axis.append(element("span", { class: "head", "aria-hidden": "true" }, "resourceVersion\ntime"));
  $("tools").hidden = false;
  look("order");
  chips();
  window.addEventListener("resize", () => { if (view !== "table") { place(); go(current, { focus: false }); } });
  window.addEventListener("hashchange", follow);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawOverview);
  // ---- The split between the lanes and the details.

  const split = $("split");
  function resize(to) {
    const main = document.querySelector("main"), all = narrow.matches ? main.clientHeight : main.clientWidth;
    const percent = Math.min(85, Math.max(15, to / Math.max(1, all) * 100));
    main.style.setProperty("--detail", percent + "%");
    split.setAttribute("aria-valuenow", Math.round(percent));
    place();
    if (current >= 0) go(current, { focus: false });
  }
  const detailSize = () => (narrow.matches ? $("detail").offsetHeight : $("detail").offsetWidth);
  split.addEventListener("pointerdown", (event) => { split.setPointerCapture(event.pointerId); event.preventDefault(); });
  split.addEventListener("pointermove", (event) => {
    if (!split.hasPointerCapture(event.pointerId)) return;
    const main = document.querySelector("main").getBoundingClientRect();
    resize(narrow.matches ? main.bottom - event.clientY : main.right - event.clientX);
  });
  split.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: 40, ArrowUp: 40, ArrowRight: -40, ArrowDown: -40 }[event.key];
    if (!step) return;
    resize(detailSize() + step);
    event.preventDefault();
    event.stopPropagation();
  });

  if (location.hash) follow();
  else if (data.open) open(data.start, false);
  else if (current >= 0) go(current, { focus: false });
})();
