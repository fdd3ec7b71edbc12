// Judges the documents in this folder (v1.json and so on) with three validators,
// generates the types that client.ts is made with, and compiles the clients of two other
// generators.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import SwaggerParser from "@apidevtools/swagger-parser";
import openapiTS, { astToString } from "openapi-typescript";

const documents = readdirSync(".").filter((name) => /^(v1|v2|operator|service)\.json$/.test(name));
if (documents.length !== 4) throw new Error(`the documents are ${documents}`);

const bin = (name) => `node_modules/.bin/${name}`;
const environment = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
execFileSync(bin("redocly"), ["lint", "--config", "redocly.yaml", ...documents], { stdio: "inherit", env: environment });
execFileSync(bin("spectral"), ["lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint", ...documents], { stdio: "inherit" });

for (const name of documents) {
  await SwaggerParser.validate(name);
  const types = await openapiTS(JSON.parse(readFileSync(name, "utf8")));
  writeFileSync(name.replace(".json", ".d.ts"), astToString(types));
}

// Other generators refuse forms that the first one takes.
const clients = [];
const jobs = {};
for (const name of documents.map((document) => document.replace(".json", ""))) {
  for (const client of ["fetch", "zod"]) {
    const target = `./orval/${client}-${name}.ts`;
    jobs[`${name}_${client}`] = { input: { target: `./${name}.json` }, output: { target, client } };
    clients.push(target);
  }
  execFileSync(bin("openapi-ts"), ["-i", `${name}.json`, "-o", `hey/${name}`, "-c", "@hey-api/client-fetch"], { stdio: "pipe", env: environment });
  clients.push(`hey/${name}/index.ts`);
}
writeFileSync("orval.config.cjs", `module.exports = ${JSON.stringify(jobs)};`);
execFileSync(bin("orval"), ["--config", "orval.config.cjs"], { stdio: "pipe", env: environment });
execFileSync(bin("tsc"), ["--noEmit", "--skipLibCheck", "--strict", "--module", "es2022", "--moduleResolution", "bundler", "--target", "es2022",
  "--lib", "es2022,dom,dom.iterable", "--types", "node", ...clients], { stdio: "inherit" });

execFileSync(bin("tsc"), ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--module", "nodenext", "--target", "es2022",
  "--lib", "es2022,dom", "--types", "node", "client.ts", "v1.d.ts", "v2.d.ts", "operator.d.ts", "service.d.ts"], { stdio: "inherit" });
