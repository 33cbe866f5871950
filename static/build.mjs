// Bundles static/src into static/dist: each file directly in src is an entry point, files in its folders are parts.
import { gzipSync } from "node:zlib";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const src = join(here, "src");
const dist = join(here, "dist");

rmSync(dist, { recursive: true, force: true });
await build({
  entryPoints: readdirSync(src, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => join(src, entry.name)),
  outdir: dist,
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
for (const name of readdirSync(dist).filter((name) => /\.(js|css|svg)$/.test(name))) {
  // The server hands these to browsers that take gzip; it does not compress while answering.
  writeFileSync(join(dist, `${name}.gz`), gzipSync(readFileSync(join(dist, name)), { level: 9 }));
}
