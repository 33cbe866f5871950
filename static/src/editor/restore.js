// What another visit of this browser could not send any more is sent now, as it was; the server tells what became of it.
import { replaceText } from "./mount.js";

export async function restore(form, drafts, kept, editors, bar, notice) {
  for (const { key, fields } of await kept.left()) {
    const texts = [...editors.values()].map(({ textarea }) => textarea);
    if (texts.every((textarea) => textarea.value === fields[textarea.name])) {
      // Written before anything was changed: a message is kept like a text.
      if (fields.message && !form.elements.message.value) {
        form.elements.message.value = fields.message;
        drafts.changed();
      }
      kept.drop(key);
      continue;
    }
    let answer;
    try {
      answer = await drafts.post({ ...fields, seq: Number(fields.seq) + 1 });
    } catch {
      return;
    }
    if (!answer.headers.get("Content-Type")?.startsWith("application/json")) return;
    const { revision, conflict_url: conflict } = await answer.json();
    if (answer.status === 409) bar.show(conflict);
    if (answer.ok && !drafts.isDirty()) {
      form.elements.revision.value = revision;
      form.elements.base.value = fields.base;
      form.elements.message.value ||= fields.message;
      for (const { view, textarea } of editors.values()) replaceText(view, fields[textarea.name]);
      notice.hidden = false;
    }
    if (answer.ok || answer.status === 409) kept.drop(key);
  }
}
