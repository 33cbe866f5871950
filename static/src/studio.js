// Every page loads this; each behaviour attaches by data-* and does one job.
import "./shell/theme.js";
import "./shell/copy.js";
import "./shell/times.js";
import "./shell/keys.js";
import "./shell/rows.js";
import "./shell/menu.js";
import "./compare/changes.js";
import "./prompts/colours.js";
import "./prompts/history.js";
import "./shell/unsaved.js";
import "./shell/live.js";
import "./compare/matrix.js";
import "./search/palette.js";
import "./shell/overlay.js";

// DOMContentLoaded comes after every deferred script, the editor's too, and after htmx took its elements over: from
// here on keys and clicks are answered. Whoever drives a browser can wait for it.
document.addEventListener("DOMContentLoaded", () => (document.documentElement.dataset.ready = ""));
