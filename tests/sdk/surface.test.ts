// SPDX-License-Identifier: Apache-2.0
// The public surface: every name that programs may import or call. That this file compiles is half of the test.

import assert from "node:assert/strict";
import { test } from "node:test";
import type * as sdk from "@inis-run/sdk";
import { Client, PTY, Session } from "@inis-run/sdk";

/** Types that programs import from the root; each must exist. */
export type Published = [
  sdk.AddConnectorOptions,
  sdk.AddRegistryCredentialOptions,
  sdk.Capacity,
  sdk.CapacityLimits,
  sdk.ClientOptions,
  sdk.ConnectionAllow,
  sdk.ConnectionAuth,
  sdk.ConnectionCreate,
  sdk.ConnectionStatus,
  sdk.ConnectionUpdate,
  sdk.ConnectorInfo,
  sdk.ExecResult,
  sdk.ExecStreamEvent,
  sdk.ExposeOptions,
  sdk.ExposeResult,
  sdk.ForkResult,
  sdk.InterpreterResult,
  sdk.ProcessInfo,
  sdk.ProcessLogEvent,
  sdk.ProcessLogs,
  sdk.RegistryCredentialInfo,
  sdk.SessionInfo,
  sdk.SessionSize,
  sdk.SaveAsTemplateOptions,
  sdk.StartProcessOptions,
  sdk.TemplateInfo,
  sdk.PTYExitInfo,
  sdk.PTYOptions,
];

export type Additional = [
  sdk.CreateSessionOptions,
  sdk.ListSessionsOptions,
  sdk.SessionState,
  sdk.SessionStatusDetail,
  sdk.OnPtyDetach,
  sdk.IdleMode,
  sdk.EndReason,
  sdk.ArchiveStatus,
  sdk.EgressPolicy,
  sdk.ExposedPreview,
  sdk.FileBatchItem,
  sdk.FileBatchResult,
  sdk.FindFilesOptions,
  sdk.FindFilesResult,
  sdk.GrepMatch,
  sdk.GrepFilesOptions,
  sdk.GrepFilesResult,
  sdk.BatchExecOptions,
  sdk.BatchExecResult,
  sdk.CommandUsage,
  sdk.AuditOptions,
  sdk.AuditEntry,
  sdk.AuditPage,
  sdk.DestroyOptions,
  sdk.CheckpointInfo,
  sdk.CheckpointOptions,
  sdk.CheckpointSessionOptions,
  sdk.ImportTemplateOptions,
  sdk.WebhookEndpointInfo,
  sdk.AddWebhookOptions,
  sdk.WebhookDeliveryInfo,
  sdk.DomainInfo,
  sdk.VolumeInfo,
  sdk.ArtifactDestination,
  sdk.ArtifactFile,
  sdk.ArtifactInfo,
  sdk.CaptureArtifactsOptions,
  sdk.UsageLabelCost,
  sdk.UsageSummary,
  sdk.SessionUsage,
  sdk.InisErrorDetail,
  sdk.PTYSize,
  sdk.PTYEvent,
  sdk.PTYInfo,
  sdk.KillPTYOptions,
];

const namespaces: Record<string, string> = {
  sessions:
    "create attach list get usage pause resume fork archiveRetry batchExec readFile listFiles writeFile writeFiles findFiles grepFiles",
  checkpoints: "get delete createSession",
  templates: "list import delete",
  artifacts: "get extend delete",
  registries: "list add delete",
  connectors: "list add delete",
  webhooks: "list add delete test deliveries",
  domains: "list add delete verify route unroute",
  volumes: "create list get resize delete",
};

const published =
  "exec execStream runCode restartContext pty get usage pause resume fork archiveRetry destroy checkpoint checkpoints " +
  "restore saveAsTemplate captureArtifacts artifacts expose unexpose getEgress setEgress rotateConnection " +
  "revokeConnection readFile listFiles writeFile writeFiles findFiles grepFiles mkdir remove rename uploadFile " +
  "downloadFile startProcess listProcesses getProcess killProcess getProcessLogs streamProcessLogs";
const additions = "listPtys killPty cancelExec stat writeStdin closeStdin audit";

function assertMethods(object: object, names: string): void {
  for (const name of names.split(" ")) {
    assert.equal(typeof (object as Record<string, unknown>)[name], "function", `${object.constructor.name}.${name}`);
  }
}

test("clients, sessions and terminals have every method", () => {
  const client = new Client({ token: "t", baseUrl: "http://127.0.0.1:1" });
  for (const [name, methods] of Object.entries(namespaces)) {
    assertMethods(client[name as keyof Client] as object, methods);
  }
  assertMethods(client, "capacity usage execute health extensions");
  assertMethods(client.sessions.attach("abc"), `${published} ${additions}`);
  assertMethods(client.sessions.attach("abc").files, "read write list");
  assertMethods(Session, "create attach");
  assertMethods(PTY.prototype, "write resize sendSignal kill close events");
  for (const type of [Session, PTY]) assert.equal(typeof type.prototype[Symbol.asyncDispose], "function");
  assert.equal(typeof PTY.prototype[Symbol.asyncIterator], "function");
});
