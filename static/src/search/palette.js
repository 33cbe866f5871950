// #palette: Ctrl+K (⌘K on a Mac) opens it from anywhere, in text fields too. The server finds names; what the current
// page can do is read from the page, by the rule below, and sent along so that all is ranked together.
import { activate } from "../shell/keys.js";

// What the page offers: its actions, its tabs, whatever has a key, and whatever says so by data-palette="name".
const ACTIONS = "main :is(.page-head, .set-actions, .tabs) :is(a, button):not(.term *), main [data-keys], main [data-palette]";
const MOST_ACTIONS = 30;
const LONGEST_NAME = 40;
const PAUSE = 60; // milliseconds between a key and the question to the server

const mac = /mac/i.test(navigator.platform);
const palette = document.getElementById("palette");

function nameOf(element) {
  const name = element.dataset.palette || element.ariaLabel || element.labels?.[0]?.textContent || element.textContent;
  return name.replace(/\s+/g, " ").trim().slice(0, LONGEST_NAME);
}

function actionsOfPage() {
  const named = new Map();
  for (const element of document.querySelectorAll(ACTIONS)) {
    const name = nameOf(element);
    if (name && !named.has(name) && element.checkVisibility()) named.set(name, element);
  }
  return [...named].slice(0, MOST_ACTIONS);
}

function attach() {
  const box = palette.querySelector("[role=combobox]");
  const list = palette.querySelector("[role=listbox]");
  let actions = [];
  let chosen;
  let timer;
  let question; // the one that is under way
  let enter = false; // pressed before the answer was there

  const options = () => [...list.querySelectorAll("[role=option]")];

  function choose(option) {
    chosen?.removeAttribute("aria-selected");
    chosen = option;
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) box.setAttribute("aria-activedescendant", option.id);
    else box.removeAttribute("aria-activedescendant");
  }

  async function ask() {
    clearTimeout(timer);
    timer = undefined;
    question?.abort();
    const mine = (question = new AbortController());
    const wanted = new URLSearchParams([["q", box.value], ...actions.map(([name]) => ["action", name])]);
    let text = "";
    try {
      const answer = await fetch(`${palette.dataset.url}?${wanted}`, { signal: mine.signal });
      // A session that ended leads to the sign-in page, which is no list.
      if (answer.ok && !answer.redirected) text = await answer.text();
    } catch {
      if (mine.signal.aborted) return;
    }
    if (question !== mine) return;
    question = undefined;
    list.innerHTML = text;
    list.hidden = !text.trim();
    box.setAttribute("aria-expanded", String(!list.hidden));
    choose(options()[0]);
    if (enter) go(chosen);
  }

  function go(option) {
    enter = false;
    if (!option) return;
    const action = actions[option.dataset.action]?.[1];
    palette.close(); // gives the focus back to where it was
    if (action) activate(action);
    else window.location.assign(option.href);
  }

  function open() {
    actions = actionsOfPage();
    box.value = "";
    enter = false;
    palette.showModal();
    ask();
  }

  box.addEventListener("input", () => {
    enter = false;
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });

  box.addEventListener("keydown", (event) => {
    // An input method's own Enter and arrows belong to the word that is being written.
    if (event.isComposing || event.keyCode === 229) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const all = options();
      choose(all.at((all.indexOf(chosen) + step) % all.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      enter = Boolean(timer || question);
      if (timer) ask();
      else if (!enter) go(chosen);
    }
  });

  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (!option || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(option);
  });

  palette.addEventListener("click", (event) => {
    if (event.target === palette) palette.close();
  });
  palette.addEventListener("close", () => question?.abort());

  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || event.shiftKey || event.altKey || event.isComposing) return;
    if (!(mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey)) return;
    event.preventDefault();
    if (palette.open) palette.close();
    else open();
  });

  for (const keys of document.querySelectorAll("[data-palette-keys]")) {
    if (mac) keys.textContent = "⌘K";
    keys.hidden = false;
  }
}

if (palette) attach();
