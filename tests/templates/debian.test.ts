// SPDX-License-Identifier: Apache-2.0
// The template "debian", built once from real packages and used by real sessions. The long tier builds the whole one.
import assert from "node:assert/strict";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { inis, Program } from "../cli/program.js";
import type { JsonObject } from "../support/contract.js";
import { eventually } from "../support/helpers.js";
import { repository } from "../support/paths.js";
import { Server } from "../support/server.js";
import { TestSession } from "../support/session.js";

const CACHE = join(repository, "build/cache/debs");
const PACKAGES = process.env.INIS_TEST_LONG
  ? []
  : ["ca-certificates", "curl", "gcc", "git", "nodejs", "procps", "python3"];

let server: Server;
let hostBefore: JsonObject[];

const template = (...args: string[]) => inis(["template", ...args], { env: { INIS_STATE_DIR: server.stateDir } });
const templates = async () =>
  (await server.client().expect(200, "GET", "/v1/templates")).json.templates as JsonObject[];
const debian = async () => {
  const found = (await templates()).find(({ name }) => name === "debian");
  assert(found, "the server offers debian");
  return found;
};
const directory = () => {
  const name = readdirSync(join(server.stateDir, "templates")).find((entry) => entry.startsWith("debian-"));
  assert(name);
  return join(server.stateDir, "templates", name);
};

async function withSession<T>(body: JsonObject, use: (session: TestSession) => Promise<T>): Promise<T> {
  const session = await TestSession.create(server.client(), body);
  try {
    return await use(session);
  } finally {
    await session.destroy();
  }
}

before(async () => {
  server = await Server.start();
  hostBefore = await templates();
  const built = await template("build", "debian", "--cache", CACHE, "--", ...PACKAGES);
  assert.equal(built.code, 0, built.stderr);
  await eventually("debian is offered", async () => (await templates())[0]?.name === "debian");
});
after(() => server?.stop());

test("a_running_server_takes_a_new_template_for_its_default", async () => {
  assert.deepEqual(
    hostBefore.map(({ name, default: first }) => [name, first]),
    [["host", true]],
  );
  const { kind, status, version, versions, content_hash, built_at, default: first } = await debian();
  assert.deepEqual([kind, status, first], ["official", "ready", true]);
  assert.match(version as string, /^\d{4}\.\d\d\.\d\d-[0-9a-f]{8}$/);
  assert.deepEqual(versions, [version]);
  assert.match(content_hash as string, /^sha256:[0-9a-f]{64}$/);
  assert(Date.parse(built_at as string) > Date.now() - 24 * 3600_000);
  await withSession({}, async (session) => {
    assert.equal(session.info.template, undefined, "the default is not named");
    assert.match(await session.output("dpkg --print-architecture; cat /etc/os-release"), /ID=debian/);
    assert.equal(await session.output("sudo touch /usr/changed && stat -c %U /usr/changed"), "root\n");
  });
});

test("sessions_start_from_the_template_that_they_name", async () => {
  const { version } = await debian();
  for (const name of ["debian", `debian@${version}`]) {
    await withSession({ template: name }, async (session) => {
      assert.equal((await session.get()).template, name);
      await session.output("sudo touch /usr/changed");
    });
  }
  await withSession({ template: "host" }, async (session) => {
    assert.equal((await session.get()).template, "host");
    assert.notEqual((await session.exec("sudo touch /usr/changed")).exit_code, 0);
  });
  const unknown = await server.client().send("POST", "/v1/sessions", { json: { template: "fedora" } });
  assert.deepEqual([unknown.status, unknown.json.code], [404, "not_found"]);
  const old = await server.client().send("POST", "/v1/sessions", { json: { template: "debian@2001.01.01" } });
  assert.deepEqual([old.status, old.json.code], [503, "template_version_unavailable"]);
});

test("clients_cannot_remove_what_belongs_to_the_server", async () => {
  for (const name of ["debian", "host"]) {
    const { status, json } = await server.client().send("DELETE", `/v1/templates/${name}`);
    assert.deepEqual([status, json.code], [403, "forbidden"]);
  }
  assert.equal((await server.client().send("DELETE", "/v1/templates/fedora")).status, 404);
});

test("the_programs_of_agents_work_are_there", () =>
  withSession({}, async (session) => {
    assert.match(await session.output("python3 --version"), /^Python 3/);
    assert.match(await session.output("node --version"), /^v\d+/);
    assert.match(await session.output("git --version"), /^git version/);
    assert.match(await session.output("gcc --version"), /^gcc/);
    assert.match(await session.output("curl --version"), /^curl/);
    assert.match(await session.output("sudo id"), /^uid=0\(root\)/);
    assert.match(await session.output("id"), /^uid=999\(sandbox\) gid=999\(sandbox\)/);
    assert.match(await session.output("locale -a"), /C\.utf8/i);
    assert.equal(await session.output("bash -lc 'pwd; echo $HOME'"), "/workspace\n/home/sandbox\n");
    assert.equal(await session.output("dpkg --audit"), "");
  }));

/** Makes a package and a `file:` repository that offers a second one. */
const MAKE_PACKAGES = `
set -eu
for name in local repository; do
  mkdir -p $name/DEBIAN $name/usr/bin
  printf 'Package: inis-%s\\nVersion: 1\\nArchitecture: all\\nMaintainer: T <t@example.invalid>\\nDescription: x\\n' $name >$name/DEBIAN/control
  printf '#!/bin/sh\\necho "from %s"\\n' $name >$name/usr/bin/inis-$name
  chmod 755 $name/usr/bin/inis-$name
  dpkg-deb --root-owner-group -b $name inis-$name.deb >/dev/null
done
mkdir -p /tmp/repo && mv inis-repository.deb /tmp/repo && cd /tmp/repo
dpkg-deb -f inis-repository.deb >Packages
printf 'Filename: ./inis-repository.deb\\nSize: %s\\nSHA256: %s\\n' "$(stat -c %s inis-repository.deb)" "$(sha256sum inis-repository.deb | cut -d' ' -f1)" >>Packages
`;
const FROM_REPOSITORY = `
set -eu
sudo rm -rf /etc/apt/sources.list /etc/apt/sources.list.d
echo 'deb [trusted=yes] file:/tmp/repo ./' | sudo tee /etc/apt/sources.list >/dev/null
sudo apt-get -qq update
sudo apt-get -qq install -y inis-repository >/dev/null
`;

test("T12_sudo_apt_get_install_works", () =>
  withSession({}, async (session) => {
    await session.output(MAKE_PACKAGES);
    await session.output("sudo apt-get -qq install -y /workspace/inis-local.deb >/dev/null");
    assert.equal(await session.output("inis-local"), "from local\n");
    await session.output(FROM_REPOSITORY);
    assert.equal(await session.output("inis-repository"), "from repository\n");
    assert.equal(await session.output("dpkg -s inis-repository | grep ^Status"), "Status: install ok installed\n");
    await session.output("sudo apt-get -qq purge -y inis-local >/dev/null && ! command -v inis-local");
  }));

test("T12_without_sudo_nothing_gains_rights", () =>
  withSession({ no_sudo: true }, async (session) => {
    const status = await session.output("cat /proc/self/status");
    assert.match(status, /^NoNewPrivs:\t1$/m);
    assert.match(status, /^Seccomp:\t2$/m);
    const { exit_code, stdout, stderr } = await session.exec("sudo -n id");
    assert.deepEqual([exit_code, stdout], [1, ""]);
    assert.match(stderr, /^sudo: .*no new privileges/);
    assert.notEqual((await session.exec("touch /usr/x")).exit_code, 0);
  }));

test("T9_a_create_changes_nothing_of_the_template", async () => {
  const root = join(directory(), "root");
  const before = statSync(join(root, "usr/bin"));
  await withSession({}, async (session) => {
    assert.equal(
      await session.output("stat -c '%u:%g %a' / /usr /etc /workspace /usr/bin/sudo"),
      "0:0 755\n0:0 755\n0:0 755\n999:999 755\n0:0 4755\n",
    );
    assert.equal(await session.output("stat -c %u /home/sandbox"), "999\n");
    assert.equal(await session.output("find / -xdev \\( -nouser -o -nogroup \\) | head"), "");
    await session.output("sudo chown -R sandbox /usr/share/doc; sudo rm -rf /usr/lib/git-core");
  });
  const after = statSync(join(root, "usr/bin"));
  assert.deepEqual([after.uid, after.ctimeMs], [0, before.ctimeMs]);
  assert.equal(statSync(join(root, "workspace")).uid, 999, "guest ids on the disk, whatever the range");
  const verified = await template("verify", "debian");
  assert.equal(verified.code, 0, verified.stderr);
});

test("S14_sessions_of_one_template_see_nothing_of_each_other", async () => {
  const LEAVE = "sudo sh -c 'echo secret | tee /usr/trace /etc/trace /tmp/trace /dev/shm/trace /workspace/trace'";
  const LOOK =
    "ls /usr/trace /etc/trace /tmp/trace /dev/shm/trace /workspace/trace 2>/dev/null; pgrep -f 's[l]eep 4711'";
  await withSession({}, async (first) => {
    await first.output(LEAVE);
    await first.start("sleeper", ["sleep", "4711"]);
    await withSession({}, async (beside) => {
      assert.equal((await beside.exec(LOOK)).stdout, "");
    });
  });
  await withSession({}, async (next) => {
    assert.equal((await next.exec(LOOK)).stdout, "");
  });
});

test("a_directory_of_the_template_can_be_renamed", () =>
  withSession({}, async (session) => {
    const script =
      "import os; os.rename('/usr/lib/git-core', '/usr/lib/renamed'); print(len(os.listdir('/usr/lib/renamed')) > 9)";
    assert.equal(await session.output(`sudo python3 -c "${script}"`), "True\n");
  }));

test("a_template_in_use_cannot_be_removed_even_after_a_restart", async () => {
  const session = await TestSession.create(server.client());
  const refused = async () => assert.match((await template("rm", "debian")).stderr, /is used by a session/);
  await refused();
  await server.terminate();
  await refused();
  await server.launch();
  await refused();
  const again = session.through(server.client());
  assert.equal(await again.output("git --version >/dev/null && echo alive"), "alive\n");
  await again.destroy();
  assert.equal((await templates())[0]?.name, "debian");
});

test("a_template_that_was_changed_is_noticed", async () => {
  const file = join(directory(), "root/usr/bin/git");
  const { atime, mtime, mode } = statSync(file);
  const bytes = readFileSync(file);
  const middle = bytes.length >> 1;
  bytes[middle]! ^= 1;
  writeFileSync(file, bytes);
  utimesSync(file, atime, mtime);
  const verified = await template("verify", "debian");
  assert.equal(verified.code, 125);
  assert.match(verified.stderr, /is not what was built/);
  bytes[middle]! ^= 1;
  writeFileSync(file, bytes);
  assert.equal((await template("verify", "debian")).code, 0);

  // Its times are not what they were: the next start does not use it.
  chmodSync(file, mode & 0o7777);
  await server.terminate();
  await server.launch();
  assert.deepEqual(
    (await templates()).map(({ name }) => name),
    ["host"],
  );
  assert.match(server.logs(), /a template is not used.*its files were changed/);
});

test("a_template_that_nobody_uses_is_removed", async () => {
  assert.equal((await template("rm", "debian")).code, 0);
  assert.equal((await template("ls", "--json")).stdout.trim(), "[]");
  assert.deepEqual(
    readdirSync(join(server.stateDir, "templates")).filter((entry) => /debian|build/.test(entry)),
    [],
  );
  assert.match((await template("rm", "debian")).stderr, /there is no template debian/);
  await withSession({}, async (session) => {
    assert.notEqual((await session.exec("sudo touch /usr/changed")).exit_code, 0);
  });
});

/** What a build has left: below the templates, and of its cgroup. */
const remains = () => [
  ...readdirSync(join(server.stateDir, "templates")).filter((entry) => /debian|build/.test(entry)),
  ...readdirSync("/sys/fs/cgroup").flatMap((at) => {
    const { dev, ino } = statSync(join(server.stateDir, "templates"));
    const name = `${dev.toString(16)}-${ino.toString(16)}`;
    return ["/sys/fs/cgroup", join("/sys/fs/cgroup", at)]
      .map((top) => join(top, "inis/templates", name))
      .filter((group) => existsSync(group));
  }),
];

test("a_build_that_ends_early_leaves_nothing", async () => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGKILL"] as const) {
    const build = Program.start(["template", "build", "debian", "--cache", CACHE, "--", ...PACKAGES], {
      env: { INIS_STATE_DIR: server.stateDir },
    });
    await eventually("it unpacks", () => {
      const work = remains()[0];
      return work !== undefined && readdirSync(join(server.stateDir, "templates", work, "root")).includes("var");
    });
    assert.match((await template("build", "debian")).stderr, /another build or removal is going on/);
    build.child.kill(signal);
    const { code } = await build.outcome;
    if (signal === "SIGKILL") {
      assert.equal((await template("ls", "--json")).stdout.trim(), "[]");
      await eventually("whoever comes next clears up", async () => {
        await template("rm", "none");
        return remains().length === 0;
      });
    } else {
      assert.equal(code, 125);
    }
    assert.deepEqual(remains(), []);
  }
});

test("T7_a_build_that_needs_more_than_it_may_use_says_so_and_leaves_nothing", async () => {
  for (const [option, value, code, message] of [
    ["--timeout", "100ms", 124, /fetching packages: a build may take 0 s \(--timeout\)/],
    ["--memory", "8", 125, /fetching packages: it needs more memory than 8 MB \(--memory\)/],
    ["--processes", "2", 125, /fetching packages: it needs more than 2 processes \(--processes\)/],
  ] as const) {
    const failed = await template("build", "debian", option, value, "--cache", CACHE, "--", ...PACKAGES);
    assert.equal(failed.code, code, failed.stderr);
    assert.match(failed.stderr, message);
    assert.deepEqual(remains(), []);
  }
});

test("a_package_that_does_not_exist_is_named_and_nothing_is_left", async () => {
  const failed = await template("build", "debian", "--cache", CACHE, "--", "no-such-package-at-all");
  assert.equal(failed.code, 125);
  assert.match(failed.stderr, /Unable to locate package no-such-package-at-all/);
  assert.equal((await template("ls", "--json")).stdout.trim(), "[]");
});
