// SPDX-License-Identifier: Apache-2.0
// Between the SDK's camelCase and the wire's snake_case; what may stand in a URL.

import { InisError } from "./errors.js";

export type Wire = Record<string, unknown>;

/**
 * The members of a wire object under their camelCase names, one level deep: maps that users filled keep their keys.
 * Members that are null count as absent.
 */
export function fromWire<T>(object: unknown): T {
  const entries = Object.entries(asObject(object)).filter(([, value]) => value !== null);
  return Object.fromEntries(entries.map(([key, value]) => [camelCase(key), value])) as T;
}

export function asObject(value: unknown): Wire {
  return typeof value === "object" && value !== null ? (value as Wire) : {};
}

/** The list under `key` of an answer, each item converted; an absent one is empty. */
export function listFrom<T>(answer: unknown, key: string, convert: (item: unknown) => T = fromWire): T[] {
  const list = asObject(answer)[key];
  return Array.isArray(list) ? list.map((item) => convert(item)) : [];
}

function camelCase(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A name as one segment of a path, percent-encoded. */
export function segment(name: string): string {
  // A dot segment would be resolved away, and the call would reach another resource.
  if (name === "" || name === "." || name === "..") throw invalid("name", name);
  return encodeURIComponent(name);
}

/** An id as one segment of a path, as it is. */
export function idSegment(id: string): string {
  if (!/^[^/?#%\\\s]+$/.test(id) || id === "." || id === "..") throw invalid("id", id);
  return id;
}

function invalid(what: string, value: string): InisError {
  return new InisError(`${JSON.stringify(value)} is not a usable ${what}`, { code: "validation" });
}
