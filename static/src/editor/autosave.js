// Keeps the draft on the server while somebody types: soon after each change, again when the server was away, and on leaving.
const PAUSE = 500;
const RETRIES = [1000, 2000, 4000, 8000];
const MOST_ON_LEAVING = 60_000; // bytes; browsers take 64 KiB from a page that is going away
const FIELDS = ["base", "revision", "tab", "seq", "message"];

/** `line` shows the state, `bar` a conflict, `kept` is the stash of this browser. */
export function autosave(form, line, bar, kept) {
  const { elements } = form;
  const names = [...FIELDS, ...[...form.querySelectorAll("textarea[data-editor]")].map(({ name }) => name)];
  let dirty = false;
  let flight = null;
  let timer = 0;
  let failures = 0;
  let stopped = false;

  function fields() {
    return Object.fromEntries(names.map((name) => [name, elements[name].value]));
  }

  function post(values, options = {}) {
    const body = new URLSearchParams({ ...values, csrfmiddlewaretoken: elements.csrfmiddlewaretoken.value });
    return fetch(form.dataset.draftUrl, { method: "POST", body, headers: { Accept: "application/json" }, ...options });
  }

  function plan(time) {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(send, time);
  }

  function changed() {
    // What the server may take a while to get must not wait for it: this browser has it meanwhile.
    if (failures > 0 || flight || stopped) kept.write(fields());
    const isFirst = !dirty;
    dirty = true;
    if (stopped) return;
    if (isFirst) plan(PAUSE);
    if (failures === 0) line.show("unsaved");
  }

  /** Sends what is not on the server yet; true once all of it is. */
  async function send() {
    clearTimeout(timer);
    if (flight) {
      await flight;
      return dirty ? send() : true;
    }
    if (!dirty) return true;
    dirty = false;
    elements.seq.value = Number(elements.seq.value) + 1;
    const values = fields();
    kept.write(values);
    if (failures === 0) line.show("saving");
    flight = post(values, { signal: AbortSignal.timeout(8000) }).then(answered, unreachable);
    const safe = await flight;
    flight = null;
    if (dirty && safe) plan(0);
    return safe && !dirty;
  }

  async function answered(answer) {
    const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
    if (!isJson || answer.status === 503) {
      const signedOut = !isJson && (answer.redirected || answer.status === 403);
      const { message } = isJson ? await answer.json() : {};
      return again(signedOut ? "signedout" : "offline", message);
    }
    failures = 0;
    const { revision, conflict_url: conflict, message } = await answer.json();
    if (answer.status === 409) {
      // The text is kept beside the draft; sent again with the old revision, it takes the copy's place only.
      bar.show(conflict);
      line.show("conflict");
    } else if (!answer.ok) {
      line.show("refused", message);
      return true;
    } else {
      elements.revision.value = revision;
      bar.hide();
      line.show(dirty ? "unsaved" : isAsOpened() ? "clean" : "saved");
    }
    if (!dirty) kept.clear();
    form.dispatchEvent(new CustomEvent("studio:kept", { detail: { clean: isAsOpened(), beside: answer.status === 409 } }));
    return true;
  }

  function unreachable() {
    return again("offline");
  }

  function again(name, message) {
    dirty = true;
    line.show(name, message);
    plan(RETRIES[Math.min(failures, RETRIES.length - 1)]);
    failures += 1;
    return false;
  }

  function isAsOpened() {
    const { changed } = form.querySelector("[data-state]").dataset;
    return changed === "false" && [...form.querySelectorAll("textarea[data-editor]")].every((each) => each.value === each.defaultValue);
  }

  function leave() {
    if (!dirty && !flight) return;
    elements.seq.value = Number(elements.seq.value) + 1;
    const values = fields();
    kept.write(values);
    // The request that carries the text must not find that the draft moved on; the next visit sends the rest.
    if (stopped) return;
    // As form data, which takes a third of the space for Japanese; what is too long waits in this browser.
    const body = new FormData();
    for (const [name, value] of Object.entries(values)) body.append(name, value);
    body.append("csrfmiddlewaretoken", elements.csrfmiddlewaretoken.value);
    if (new Blob(Object.values(values)).size < MOST_ON_LEAVING) {
      fetch(form.dataset.draftUrl, { method: "POST", body, keepalive: true }).catch(() => {});
    }
  }

  addEventListener("pagehide", leave);
  addEventListener("online", () => dirty && plan(0));
  document.addEventListener("visibilitychange", () => dirty && plan(0));

  return {
    changed,
    post,
    flush: send,
    isDirty: () => dirty || flight !== null,
    /** From here on nothing is sent: another request carries the text. What is typed meanwhile waits for `resume`. */
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
    resume: () => {
      stopped = false;
      if (dirty) plan(PAUSE);
    },
    fields,
  };
}
