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
