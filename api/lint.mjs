// SPDX-License-Identifier: Apache-2.0
// Checks openapi.yaml itself: valid OpenAPI 3.1, every schema compiles, and the house rules that no general tool knows.
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { parse } from "yaml";

const METHODS = ["get", "put", "post", "patch", "delete"];
const EXTRA_KEYWORDS = [
  "components",
  "x-inis-by-op",
  "x-inis-codes",
  "x-inis-extension",
  "x-inis-max-bytes",
  "x-inis-max-decoded-bytes",
  "x-inis-max-total-bytes",
  "x-inis-status",
];

const problems = [];
const complain = (where, what) => problems.push(`${where}: ${what}`);

/** Calls visit(node, path) for every object below node. */
function walk(node, visit, path = "#") {
  if (node === null || typeof node !== "object") return;
  visit(node, path);
  for (const [key, value] of Object.entries(node))
    walk(value, visit, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
}

function resolve(document, ref) {
  return ref
    .slice(2)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((node, key) => node?.[key], document);
}

function checkReferences(document) {
  const used = new Set();
  walk(document, (node, path) => {
    if (typeof node.$ref !== "string") return;
    used.add(node.$ref);
    if (!node.$ref.startsWith("#/") || resolve(document, node.$ref) === undefined)
      complain(path, `${node.$ref} leads nowhere`);
  });
  for (const [kind, members] of Object.entries(document.components)) {
    if (kind === "securitySchemes") continue;
    for (const name of Object.keys(members))
      if (!used.has(`#/components/${kind}/${name}`)) complain(`#/components/${kind}/${name}`, "is not used");
  }
}

function checkSchemas(document) {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addVocabulary(EXTRA_KEYWORDS);
  ajv.addSchema({ $id: "inis", components: { schemas: document.components.schemas } }, undefined, false, false);
  walk(document, (node, path) => {
    if (!("schema" in node) || typeof node.schema !== "object") return;
    const local = JSON.parse(JSON.stringify(node.schema).replaceAll('"#/components', '"inis#/components'));
    try {
      ajv.compile(local);
    } catch (error) {
      complain(path, error.message);
    }
  });
}

/** A number without a described unit is a guess for whoever reads it. */
function checkUnits(document) {
  walk(document, (node, path) => {
    if (node.type !== "integer" && node.type !== "number") return;
    if (path.endsWith("/schema")) return;
    const name = path.split("/").at(-1);
    if (!node.description && !["Port", "exit_code"].includes(name)) complain(path, "a number without a description");
  });
}

function checkOperation(path, method, operation, parameters, seen) {
  const where = `${method.toUpperCase()} ${path}`;
  if (seen.has(operation.operationId)) complain(where, `operationId ${operation.operationId} is used twice`);
  seen.add(operation.operationId);
  if (!["built", "planned"].includes(operation["x-inis-status"])) complain(where, "no x-inis-status");
  if (!operation.tags?.length || !operation.summary) complain(where, "no tag or summary");
  const statuses = Object.keys(operation.responses);
  if (!statuses.some((status) => /^(101|2\d\d)$/.test(status))) complain(where, "no success");
  if (!statuses.some((status) => status.startsWith("4"))) complain(where, "no 4xx");
  if (operation["x-inis-status"] === "planned" && !statuses.includes("501")) complain(where, "planned without 501");
  const declared = parameters.filter((parameter) => parameter.in === "path").map((parameter) => parameter.name);
  const needed = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]);
  if (declared.sort().join() !== needed.sort().join()) complain(where, `path parameters ${declared} for ${needed}`);
}

function checkOperations(document) {
  const deref = (node) => (node.$ref ? resolve(document, node.$ref) : node);
  const seen = new Set();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(deref);
      checkOperation(path, method, operation, parameters, seen);
    }
  }
  return seen.size;
}

function checkCodes(document) {
  const code = document.components.schemas.ErrorCode;
  if (code.enum.join() !== Object.keys(code["x-inis-codes"]).join())
    complain("ErrorCode", "enum and x-inis-codes differ");
  for (const [name, row] of Object.entries(code["x-inis-codes"]))
    if (!(row.status >= 400 && row.status < 600 && typeof row.retryable === "boolean" && row.when))
      complain(`ErrorCode ${name}`, "incomplete");
}

/** Names of extensions in marks and in the table of Health are the same set. */
function checkExtensions(document) {
  const table = document.components.schemas.Health.properties.extensions.description;
  const documented = new Set([...table.matchAll(/`([a-z]+(?:\.[a-z]+)+)`/g)].map((match) => match[1]));
  const marked = new Set();
  walk(document, (node) => node["x-inis-extension"] && marked.add(node["x-inis-extension"]));
  for (const name of marked) if (!documented.has(name)) complain("Health", `${name} is not in the table`);
  for (const name of documented) if (!marked.has(name)) complain("Health", `${name} marks nothing`);
}

const file = new URL("openapi.yaml", import.meta.url);
const text = readFileSync(file, "utf8");
const document = parse(text, { version: "1.2", uniqueKeys: true });
const official = await new Validator().validate(structuredClone(document));
if (!official.valid) complain("OpenAPI 3.1", JSON.stringify(official.errors).slice(0, 2000));
checkReferences(document);
checkSchemas(document);
checkUnits(document);
const operations = checkOperations(document);
checkCodes(document);
checkExtensions(document);
for (const problem of problems) console.error(problem);
console.log(`api/openapi.yaml: ${operations} operations, ${problems.length} problems`);
process.exitCode = problems.length ? 1 : 0;
