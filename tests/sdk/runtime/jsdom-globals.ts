// SPDX-License-Identifier: Apache-2.0
// Preloaded: what test runners with a DOM do to a program. jsdom has no fetch, so that stays the platform's.
import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!doctype html>", { url: "http://localhost/", pretendToBeVisual: true });
const NAMES = ["window", "document", "navigator", "location", "Event", "EventTarget", "AbortController", "AbortSignal"];
for (const name of [...NAMES, "Blob", "File", "FormData", "Headers", "URL", "URLSearchParams", "DOMException"]) {
  const value: unknown = name === "window" ? window : window[name];
  if (value !== undefined) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
if (AbortController !== window.AbortController) throw new Error("the platform's AbortController is still there");
