// Bundles static/src into static/dist: each file directly in src is an entry point, files in its folders are parts.
import { gzipSync } from "node:zlib";
import { cpSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const src = join(here, "src");
const dist = join(here, "dist");
const fresh = join(here, "dist.new");
const stale = join(here, "dist.old");

for (const folder of [fresh, stale]) rmSync(folder, { recursive: true, force: true });
await build({
  entryPoints: readdirSync(src, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => join(src, entry.name)),
  outdir: fresh,
  absWorkingDir: here,
  bundle: true,
  minify: true,
  charset: "utf8",
  // Plain scripts rather than modules: one that sets the theme has to run before the first paint.
  format: "iife",
  target: ["es2022"],
  loader: { ".svg": "copy", ".png": "copy", ".ico": "copy" },
  logLevel: "warning",
});
for (const name of readdirSync(fresh).filter((name) => /\.(js|css|svg)$/.test(name))) {
  // The server hands these to browsers that take gzip; it does not compress while answering.
  writeFileSync(join(fresh, `${name}.gz`), gzipSync(readFileSync(join(fresh, name)), { level: 9 }));
}
// Pictures of the help pages, by `tests.browser.screenshots`.
cpSync(join(src, "help", "pictures"), join(fresh, "help"), { recursive: true });
// Swapped in when complete: a failed build leaves the last good one in place.
if (existsSync(dist)) renameSync(dist, stale);
renameSync(fresh, dist);
rmSync(stale, { recursive: true, force: true });
