// SPDX-License-Identifier: Apache-2.0
// A language model that follows a script: each step is a tool call or the final text.
import assert from "node:assert/strict";
import { convertArrayToReadableStream, MockLanguageModelV2 } from "ai/test";

export interface ToolCall {
  tool: string;
  input: Record<string, unknown>;
}

/** A step may depend on the results of the tool calls before it, newest last. */
export type Step = string | ToolCall | ((results: string[]) => string | ToolCall);

type GenerateOptions = Parameters<MockLanguageModelV2["doGenerate"]>[0];
type Content =
  | { type: "text"; text: string }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: string };

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

export class ScriptedModel extends MockLanguageModelV2 {
  /** Results of all tool calls, as the model saw them. */
  results: string[] = [];
  /** The system message of the newest call. */
  system = "";
  /** Names of the tools that the model was offered. */
  offered: string[] = [];

  constructor(steps: Step[]) {
    let at = 0;
    const next = (options: GenerateOptions) => {
      this.#observe(options);
      const step = steps[at++];
      assert(step !== undefined, "the script is over");
      return toContent(typeof step === "function" ? step(this.results) : step, at);
    };
    super({
      doGenerate: async (options) => {
        const content = next(options);
        return { content: [content], finishReason: finishReason(content), usage, warnings: [] };
      },
      doStream: async (options) => {
        const content = next(options);
        const parts =
          content.type === "text"
            ? ([
                { type: "text-start", id: "t" },
                { type: "text-delta", id: "t", delta: content.text },
                { type: "text-end", id: "t" },
              ] as const)
            : [content];
        const finish = { type: "finish", finishReason: finishReason(content), usage } as const;
        return { stream: convertArrayToReadableStream([{ type: "stream-start", warnings: [] }, ...parts, finish]) };
      },
    });
  }

  #observe({ prompt, tools }: GenerateOptions): void {
    this.offered = (tools ?? []).map(({ name }) => name);
    this.system = prompt.flatMap((message) => (message.role === "system" ? [message.content] : [])).join("\n");
    this.results = prompt
      .flatMap((message) => (message.role === "tool" ? message.content : []))
      .map(({ output }) => (typeof output.value === "string" ? output.value : JSON.stringify(output.value)));
  }
}

function finishReason({ type }: Content) {
  return type === "text" ? "stop" : "tool-calls";
}

function toContent(step: string | ToolCall, index: number): Content {
  if (typeof step === "string") return { type: "text", text: step };
  return { type: "tool-call", toolCallId: `call-${index}`, toolName: step.tool, input: JSON.stringify(step.input) };
}
