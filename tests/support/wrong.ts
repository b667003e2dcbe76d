// SPDX-License-Identifier: Apache-2.0
// Wrong values for a schema: a pool of suspects, of which those remain that the schema itself refuses.
import { deref, mismatch, type Schema } from "./contract.js";

/** A value as JSON text, so that numbers and escapes that no JavaScript value has can be among them. */
export interface WrongValue {
  name: string;
  text: string;
  /** No JSON value at all for most parsers, so that no field can be blamed. */
  unreadable?: boolean;
}

const SUSPECTS: unknown[] = [
  true,
  0,
  -1,
  1.5,
  7,
  1e30,
  "",
  "text",
  "7",
  "true",
  "NO-SUCH-VALUE",
  "with space",
  "with/slash",
  "..",
  "new\nline",
  "nul\0inside",
  "é☕",
  [],
  ["text"],
  [7],
  [[]],
  [["text"]],
  [{}],
  {},
  { key: "value" },
  { key: 7 },
  { "": "value" },
  { "1bad-name=": "value" },
  { key: "nul\0inside" },
];

/** Literals that only exist as text. */
const LITERALS = [
  "9223372036854775808",
  "18446744073709551616",
  "-9223372036854775809",
  "1e400",
  '"\\ud800"',
  '"\\udc00x"',
];

const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 50)}… (${text.length})` : text);
const value = (suspect: unknown): WrongValue => {
  const text = JSON.stringify(suspect);
  return { name: shorten(text), text };
};

function atTheEdges(schema: Schema): unknown[] {
  const { minimum, maximum, maxLength, maxItems, maxProperties } = schema as Record<string, number | undefined>;
  const edges: unknown[] = [];
  if (minimum !== undefined && Number.isSafeInteger(minimum - 1)) edges.push(minimum - 1);
  if (maximum !== undefined && Number.isSafeInteger(maximum + 1)) edges.push(maximum + 1);
  if (maxLength !== undefined) edges.push("x".repeat(maxLength + 1));
  if (maxItems !== undefined) edges.push(Array.from({ length: maxItems + 1 }, (_, i) => `item-${i}`));
  if (maxProperties !== undefined)
    edges.push(Object.fromEntries(Array.from({ length: maxProperties + 1 }, (_, i) => [`K${i}`, "v"])));
  return edges;
}

/** What only counting bytes, not characters, can refuse. */
function tooManyBytes(schema: Schema): unknown[] {
  const max = schema["x-inis-max-bytes"] as number | undefined;
  const total = schema["x-inis-max-total-bytes"] as number | undefined;
  const found: unknown[] = [];
  if (max !== undefined && schema.type === "string") found.push("é".repeat(Math.floor(max / 2) + 1));
  if (total !== undefined && schema.type === "object") found.push({ BIG: "x".repeat(total) });
  if (total !== undefined && schema.oneOf)
    found.push(Array.from({ length: 12 }, () => "x".repeat(Math.ceil(total / 10))));
  return found;
}

/** The schema itself and what it is composed of. */
function parts(schema: Schema): Schema[] {
  const own = deref(schema);
  const nested = [...((own.allOf as Schema[]) ?? []), ...((own.oneOf as Schema[]) ?? [])];
  return [own, ...nested.flatMap(parts)];
}

export function wrongValues(schema: Schema): WrongValue[] {
  const all = parts(schema);
  const refused = [...SUSPECTS, ...all.flatMap(atTheEdges)].filter(
    (suspect) => mismatch(schema, suspect) !== undefined,
  );
  const bytes = all.flatMap(tooManyBytes);
  const literals = LITERALS.map((text) => ({ name: text, text, unreadable: true }));
  const unique = new Map(
    [...refused, ...bytes]
      .map(value)
      .concat(literals)
      .map((wrong) => [wrong.text, wrong]),
  );
  return [...unique.values()];
}

/** Wrong texts for a query parameter. */
export function wrongTexts(schema: Schema): string[] {
  const own = deref(schema);
  if (own.type === "integer") {
    const { minimum, maximum } = own as { minimum?: number; maximum?: number };
    const edges = [(minimum ?? 0) - 1, (maximum ?? 0) + 1].filter(Number.isSafeInteger).map(String);
    return [...edges, "", "x", "1.5", "1e1", " 1", "0x1", "99999999999999999999"];
  }
  if (own.type === "boolean") return ["", "yes", "1", "0", "TRUE", "truee"];
  const suspects = ["", "no such value", "x".repeat(((own.maxLength as number) ?? 0) + 1)];
  return suspects.filter((suspect) => mismatch(own, suspect) !== undefined);
}
