// Search over search_index.js, the choice of light and dark, buttons that copy code, and the place on the page.
const up = document.body.dataset.up;
const input = document.getElementById("search");
const found = document.getElementById("found");
let chosen = -1;

function score(entry, words) {
  const [title, where, , text] = entry.map((part) => part.toLowerCase());
  let total = 0;
  for (const word of words) {
    const name = title.split(".").pop();
    if (name === word || title === word) total += 100;
    else if (name.startsWith(word)) total += 60;
    else if (title.includes(word)) total += 40;
    else if (where.includes(word)) total += 10;
    else if (text.includes(word)) total += 5;
    else return 0;
  }
  return total - title.length / 100;
}

function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  chosen = -1;
  found.hidden = words.length === 0;
  found.textContent = "";
  if (!words.length) return;
  const hits = INDEX.map((entry) => [score(entry, words), entry]).filter(([s]) => s > 0).sort((a, b) => b[0] - a[0]).slice(0, 12);
  for (const [, [title, where, address, text]] of hits) {
    const item = found.appendChild(document.createElement("li"));
    const link = item.appendChild(document.createElement("a"));
    link.href = up + address;
    link.appendChild(document.createElement("b")).textContent = title;
    link.appendChild(document.createElement("i")).textContent = where;
    link.appendChild(document.createElement("span")).textContent = text.slice(0, 110);
  }
  if (!hits.length) found.appendChild(document.createElement("li")).textContent = "Nothing found";
}

input.addEventListener("input", search);
input.addEventListener("keydown", (event) => {
  const links = [...found.querySelectorAll("a")];
  if (event.key === "Escape") { input.value = ""; search(); input.blur(); }
  if (event.key === "Enter" && links.length) location.href = links[Math.max(chosen, 0)].href;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    chosen = Math.min(Math.max(chosen + (event.key === "ArrowDown" ? 1 : -1), 0), links.length - 1);
    links.forEach((link, k) => link.classList.toggle("chosen", k === chosen));
    event.preventDefault();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== input) { input.focus(); event.preventDefault(); }
});
document.addEventListener("click", (event) => { if (!event.target.closest(".search")) found.hidden = true; });

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch (e) { /* a file that keeps nothing */ }
});
document.getElementById("menu").addEventListener("click", () => document.getElementById("pages").classList.toggle("shown"));

for (const button of document.querySelectorAll("button.copy"))
  button.addEventListener("click", () => {
    const code = button.parentElement.querySelector("code");
    const lines = code.textContent.split("\n");
    const entries = lines.filter((line) => /^(>>>|\.\.\.)( |$)/.test(line)).map((line) => line.slice(4));
    navigator.clipboard.writeText(entries.length ? entries.join("\n") + "\n" : code.textContent);
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1200);
  });

const marks = [...document.querySelectorAll("aside a")];
if (marks.length) {
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries)
      if (entry.isIntersecting) marks.forEach((mark) => mark.classList.toggle("here", mark.hash === "#" + entry.target.id));
  }, { rootMargin: "0px 0px -75% 0px" });
  document.querySelectorAll("article h2[id], article h3[id]").forEach((heading) => seen.observe(heading));
}
