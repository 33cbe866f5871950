// The last resort: text that the server has not confirmed is also kept in this browser, and taken up on the next visit.
const OLD = 60_000;
const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** What one person's editor of one set keeps here; each tab has an entry of its own. */
export function stash(form) {
  const prefix = `studio-draft ${form.dataset.person} ${form.dataset.draftUrl} `;
  const own = prefix + form.elements.tab.value;
  // Held for as long as the page lives: tells a tab that is still open from one that was left.
  navigator.locks?.request(own, () => new Promise(() => {}));

  async function isAlive(key, at) {
    if (!navigator.locks) return Date.now() - at < OLD;
    const held = async () => (await navigator.locks.query()).held.some(({ name }) => name === key);
    if (!(await held())) return false;
    // A page that was reloaded may let go a moment after the new one has begun.
    await pause(300);
    return held();
  }

  return {
    write(fields) {
      try {
        localStorage.setItem(own, JSON.stringify({ at: Date.now(), fields }));
      } catch {
        // Full, or switched off: then the server is the only place.
      }
    },
    clear: () => localStorage.removeItem(own),
    drop: (key) => localStorage.removeItem(key),
    /** What tabs that are gone have left, oldest first: {key, at, fields}. */
    async left() {
      const found = [];
      for (const key of Object.keys(localStorage).filter((each) => each.startsWith(prefix) && each !== own)) {
        const { at, fields } = JSON.parse(localStorage.getItem(key));
        if (!(await isAlive(key, at))) found.push({ key, at, fields });
      }
      return found.sort((one, other) => one.at - other.at);
    },
  };
}
