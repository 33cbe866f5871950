// time[data-relative]: keeps «3 minutes ago» true, and shows the exact time in the reader's own zone on hover.
import { onContent } from "./ready.js";

const language = document.documentElement.lang || "en";
const relative = new Intl.RelativeTimeFormat(language, { numeric: "always" });
const exact = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "long" });
const units = [
  ["year", 31556952],
  ["month", 2629746],
  ["week", 604800],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];

// Browsers write «1 日前», Japanese does not.
function words(value, unit) {
  const text = relative.format(value, unit);
  return language.startsWith("ja") ? text.replace(/\s/g, "") : text;
}

function refresh(element) {
  const moment = new Date(element.dateTime);
  const seconds = (Date.now() - moment) / 1000;
  element.title = exact.format(moment);
  const unit = units.find(([, length]) => seconds >= length);
  // Below a minute the server's own words stand.
  if (unit) element.textContent = words(-Math.floor(seconds / unit[1]), unit[0]);
}

onContent("time[data-relative]", refresh);
setInterval(() => document.querySelectorAll("time[data-relative]").forEach(refresh), 30000);
