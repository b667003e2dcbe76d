# SPDX-License-Identifier: Apache-2.0
"""Runs a program on a terminal of its own, follows a script, and says in JSON what came of it.

argv[1]: {"argv": [...], "steps": [{"wait": text, "type"|"resize"|"signal": ...}], "stdin": "terminal"|"pipe"}
"""
import fcntl, json, os, pty, select, signal, struct, sys, termios, time

PATIENCE_S = 60


def set_size(fd, rows, cols):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def main():
    job = json.loads(sys.argv[1])
    master, slave = pty.openpty()
    set_size(master, 31, 97)
    before = termios.tcgetattr(slave)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in (0, 1, 2):
            os.dup2(slave, fd)
        os.closerange(3, 64)
        os.execvp(job["argv"][0], job["argv"])
    output, raw, steps = b"", False, list(job["steps"])
    deadline = time.time() + PATIENCE_S
    status = None
    while status is None and time.time() < deadline:
        if select.select([master], [], [], 0.05)[0]:
            output += os.read(master, 65536)
        raw = raw or not termios.tcgetattr(slave)[3] & termios.ICANON
        if steps and steps[0]["wait"].encode() in output:
            step = steps.pop(0)
            if "type" in step:
                os.write(master, step["type"].encode())
            if "resize" in step:
                set_size(master, *step["resize"])
            if "signal" in step:
                os.kill(pid, step["signal"])
        done, code = os.waitpid(pid, os.WNOHANG)
        if done:
            status = code
    if status is None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    while select.select([master], [], [], 0)[0]:
        output += os.read(master, 65536)
    restored = termios.tcgetattr(slave) == before
    code = None if status is None else os.waitstatus_to_exitcode(status)
    print(json.dumps({"code": code, "output": output.decode("utf8", "replace"), "raw": raw, "restored": restored,
                      "left": len(steps)}))


main()
