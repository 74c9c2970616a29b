"use strict";

// details makes the elements that say all about a mark.
function details(i, { data, groups, versions, element, duration, go, close }) {
  const m = data.marks[i], e = data.exchanges[m.i];
  const parts = [element("div", { class: "head" }, element("h2", { tabindex: -1 }, m.x), element("button", { type: "button", onclick: close }, "Close"))];
  for (const h of m.f ?? []) {
    const hit = data.hits[h];
    parts.push(element("div", { class: "rule" }, element("strong", {}, "Fault " + hit.name + (hit.notApplied ? " not applied: " + hit.notApplied : " hit")),
      " " + hit.when + ", " + hit.op, element("code", {}, hit.rule)));
  }
  if (e) parts.push(facts(m, e));
  if (e?.admission) parts.push(element("h3", {}, "Admission"), ...e.admission.map(decision));
  if (e?.decisionsLost) parts.push(element("p", { class: "note" }, e.decisionsLost + " earlier decisions were dropped"));
  const kin = (groups.get(m.k) ?? []).filter((n) => n !== i);
  if (kin.length) {
    parts.push(element("h3", {}, "The same resourceVersion " + m.k), element("div", { class: "kinlist" },
      ...kin.slice(0, 50).map((n) => element("button", { type: "button", onclick: () => go(n) }, data.marks[n].x))));
    if (kin.length > 50) parts.push(element("p", { class: "note" }, "and " + (kin.length - 50) + " more"));
  }
  const before = previous();
  if (before !== undefined) {
    parts.push(element("h3", {}, "Changed since resourceVersion " + data.marks[before].r), difference(body(data.marks[before].b), body(m.b)));
  }
  if (m.q) parts.push(element("h3", {}, "Request"), ...shown(body(m.q)));
  if (m.a) parts.push(element("h3", {}, m.s in { add: 1, mod: 1, del: 1, book: 1, err: 1, junk: 1 } ? "Object of the event" : "Answer"), ...shown(body(m.a)));
  if (!m.q && !m.a && e && !m.f) parts.push(element("p", { class: "note" }, "No bodies."));
  return parts;

  // decision shows what a webhook or a policy decided, and what it changed.
  function decision(d) {
    const box = element("div", { class: "decision " + (d.outcome === "allowed" && d.changes ? "changed" : d.outcome) },
      element("strong", {}, d.title), " " + d.when + ", " + d.about);
    const list = [...(d.changes ?? []).map((c) => c.op + " " + c.path + (c.value ? ": " + c.value : "")), ...(d.texts ?? [])];
    if (d.message) box.append(element("div", {}, d.message));
    if (list.length) box.append(element("ul", {}, ...list.map((text) => element("li", {}, text))));
    return box;
  }

  function facts(m, e) {
    const list = element("dl");
    const add = (name, value) => { if (value) list.append(element("dt", {}, name), element("dd", {}, value)); };
    add("Client", e.client);
    add("Request", "no " + e.seq + ": " + e.method + " " + e.path);
    add("Answer", e.status + ", " + e.took);
    add("At", "+" + duration(m.t));
    add("Request came", e.begin);
    add("resourceVersion", m.r);
    add("Forgotten", e.lost && e.lost + " earlier events of this watch");
    return list;
  }

  // previous is the newest known version of the object before this one.
  function previous() {
    if (!m.o || !m.b || !body(m.b).json) return undefined;
    let best;
    for (const n of versions.get(m.o)) {
      const r = +data.marks[n].r;
      if (r < +m.r && (best === undefined || r > +data.marks[best].r)) best = n;
    }
    return best !== undefined && body(data.marks[best].b).json ? best : undefined;
  }

  // body reads the line of one body; most are never looked at.
  function body(n) {
    const all = document.getElementById("bodies");
    details.lines ??= all.textContent.split("\n");
    return JSON.parse(details.lines[n - 1]);
  }

  function shown(b) {
    const parts = [], size = b.size + " bytes" + (b.media ? " of " + b.media : "");
    parts.push(element("p", { class: "note" }, size + (b.kept < b.size ? ", cut off: only the first " + b.kept + " were kept" : "") + (b.text && b.bytes ? ", decoded" : "")));
    if (b.text) {
      const { lines, hidden } = fold(b.json ? pretty(b.text) : b.text.split("\n"));
      parts.push(text(lines));
      if (hidden.length) parts.push(element("details", {}, element("summary", {}, "managedFields, " + hidden.length + " lines"), text(hidden)));
    }
    if (b.bytes) parts.push(binary(b, !b.text));
    return parts;
  }

  function text(lines) {
    const most = 5000, pre = element("pre", { tabindex: 0 }, lines.slice(0, most).join("\n"));
    if (lines.length > most) pre.append("\n... and " + (lines.length - most) + " more lines");
    return pre;
  }

  // pretty indents JSON as text: numbers keep their digits, keys their order, and
  // what is cut off or broken is still shown.
  function pretty(json) {
    const lines = [];
    let line = "", depth = 0;
    const end = () => { if (line.trim()) lines.push(line); line = "  ".repeat(Math.max(0, depth)); };
    for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s"{}[\],:]+/gs)) {
      if (token === "{" || token === "[") { line += token; depth++; end(); }
      else if (token === "}" || token === "]") {
        depth--;
        const last = lines.at(-1);
        if (!line.trim() && last !== undefined && last.endsWith(token === "}" ? "{" : "[")) line = lines.pop() + token;
        else { end(); line = "  ".repeat(Math.max(0, depth)) + token; }
      } else if (token === ",") { line += ","; end(); }
      else line += token === ":" ? ": " : token;
    }
    end();
    return lines;
  }

  // fold puts managedFields aside: they are long, and seldom the answer.
  function fold(lines) {
    const from = lines.findIndex((l) => /^ {4}"managedFields": \[$/.test(l));
    const to = from < 0 ? -1 : lines.findIndex((l, n) => n > from && /^ {4}\]/.test(l));
    if (to < 0) return { lines, hidden: [] };
    return { lines: [...lines.slice(0, from), '    "managedFields": [ ... ]' + lines[to].slice(5), ...lines.slice(to + 1)], hidden: lines.slice(from, to + 1) };
  }

  function difference(a, b) {
    const changes = compare(fold(pretty(a.text)).lines, fold(pretty(b.text)).lines);
    const near = changes.map((_, n) => changes.slice(Math.max(0, n - 3), n + 4).some(([sign]) => sign !== " "));
    const pre = element("pre", { tabindex: 0, class: "diff" });
    changes.forEach(([sign, line], n) => {
      if (near[n]) pre.append(element("span", { class: sign === "+" ? "plus" : sign === "-" ? "minus" : "same" }, sign + " " + line));
      else if (n === 0 || near[n - 1]) pre.append(element("span", { class: "same" }, "  ..."));
    });
    return changes.some(([sign]) => sign !== " ") ? pre : element("p", { class: "note" }, "Nothing but managedFields.");
  }

  // compare gives the lines of both with a sign: the longest common subsequence,
  // for what the beginning and the end do not share.
  function compare(a, b) {
    let head = 0, tail = 0;
    while (head < a.length && head < b.length && a[head] === b[head]) head++;
    while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
    const left = a.slice(head, a.length - tail), right = b.slice(head, b.length - tail);
    const sign = (s, lines) => lines.map((l) => [s, l]);
    let middle = [...sign("-", left), ...sign("+", right)];
    if (left.length * right.length < 4e6) {
      const wide = right.length + 1, best = new Uint32Array((left.length + 1) * wide);
      for (let i = left.length - 1; i >= 0; i--) {
        for (let j = right.length - 1; j >= 0; j--) {
          best[i * wide + j] = left[i] === right[j] ? best[(i + 1) * wide + j + 1] + 1 : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
        }
      }
      middle = [];
      for (let i = 0, j = 0; i < left.length || j < right.length;) {
        if (i < left.length && j < right.length && left[i] === right[j]) { middle.push([" ", left[i]]); i++; j++; }
        else if (j >= right.length || (i < left.length && best[(i + 1) * wide + j] >= best[i * wide + j + 1])) middle.push(["-", left[i++]]);
        else middle.push(["+", right[j++]]);
      }
    }
    return [...sign(" ", a.slice(0, head)), ...middle, ...sign(" ", a.slice(a.length - tail))];
  }

  // binary shows bytes as hex, and the texts that are in them.
  function binary(b, only) {
    const data = Uint8Array.from(atob(b.bytes), (c) => c.charCodeAt(0)), most = 16384, lines = [];
    for (let at = 0; at < Math.min(data.length, most); at += 16) {
      const row = [...data.subarray(at, at + 16)];
      lines.push(at.toString(16).padStart(6, "0") + "  " + row.map((c) => c.toString(16).padStart(2, "0")).join(" ").padEnd(47) + "  " +
        row.map((c) => (c >= 32 && c < 127 ? String.fromCharCode(c) : ".")).join(""));
    }
    if (data.length > most) lines.push("... and " + (data.length - most) + " more bytes");
    const texts = new TextDecoder("utf-8").decode(data).match(/[^\p{C}\ufffd]{4,}/gu) ?? [];
    const box = element("details", only ? { open: "" } : {}, element("summary", {}, "Bytes as hex"), text(lines));
    return only && texts.length ? element("div", {}, element("p", { class: "note" }, "Texts in it:"), text(texts), box) : box;
  }
}
