// Every page loads this; each behaviour attaches by data-* and does one job.
import "./behaviours/theme.js";
import "./behaviours/copy.js";
import "./behaviours/times.js";
import "./behaviours/keys.js";
import "./behaviours/rows.js";
import "./behaviours/menu.js";
import "./behaviours/changes.js";
import "./behaviours/unsaved.js";
import "./behaviours/live.js";
import "./behaviours/matrix.js";

// DOMContentLoaded comes after every deferred script, the editor's too, and after htmx took its elements over: from
// here on keys and clicks are answered. Whoever drives a browser can wait for it.
document.addEventListener("DOMContentLoaded", () => (document.documentElement.dataset.ready = ""));
