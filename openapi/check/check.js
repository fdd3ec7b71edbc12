// Judges the documents in this folder (v1.json and so on) with two validators,
// and generates the types that client.ts is made with.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import SwaggerParser from "@apidevtools/swagger-parser";
import openapiTS, { astToString } from "openapi-typescript";

const documents = readdirSync(".").filter((name) => /^(v1|v2|operator|service)\.json$/.test(name));
if (documents.length !== 4) throw new Error(`the documents are ${documents}`);

const bin = (name) => `node_modules/.bin/${name}`;
const environment = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
execFileSync(bin("redocly"), ["lint", "--config", "redocly.yaml", ...documents], { stdio: "inherit", env: environment });

for (const name of documents) {
  await SwaggerParser.validate(name);
  const types = await openapiTS(JSON.parse(readFileSync(name, "utf8")));
  writeFileSync(name.replace(".json", ".d.ts"), astToString(types));
}

execFileSync(bin("tsc"), ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--module", "nodenext", "--target", "es2022",
  "--lib", "es2022,dom", "--types", "node", "client.ts", "v1.d.ts", "v2.d.ts", "operator.d.ts", "service.d.ts"], { stdio: "inherit" });
