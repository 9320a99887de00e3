// SPDX-License-Identifier: Apache-2.0
//
// node build.mjs PAGE.html [HEADER.hpp]: one page with its script and style inside, which needs
// nothing else; whoever serves or saves it puts the data where it says /*TANGERE_DATA*/. The header
// holds the same page for programs.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";

const [output = "viewer.html", header] = process.argv.slice(2);
const result = await build({
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "inline",
  charset: "ascii",
  write: false,
  loader: { ".css": "text" },
});
// "</script" in a string of the script would end it.
const script = result.outputFiles[0].text.replaceAll("</script", "<\\/script");
const page = (await readFile("src/page.html", "utf8")).replace("/*SCRIPT*/", () => script);
await writeFile(output, page);
if (header) {
  // Compilers need not take a longer literal than this; adjacent ones are one.
  const pieces = page.match(/[^]{1,16000}/g).map((piece) => `R"~page~(${piece})~page~"`);
  await writeFile(header, `#pragma once
namespace tangere::cli {
inline constexpr bool kHasViewer = true;
inline constexpr char kViewerPage[] =
${pieces.join("\n")};
}  // namespace tangere::cli
`);
}
console.log(`${output}: ${(page.length / 1024).toFixed(0)} kB`);
