# SPDX-License-Identifier: Apache-2.0
# A kernel of the interpreter protocol, as small as can be: output, last value, errors.
import ast
import contextlib
import io
import json
import os
import sys
import time

root = sys.argv[1]
namespace = {"__name__": "__main__"}


def value_item(value):
    if isinstance(value, (dict, list)):
        return {"type": "json", "json": value}
    return {"type": "text", "stream": "result", "text": repr(value)}


def evaluate(code):
    tree = ast.parse(code, "<cell>")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), namespace)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace) if last else None


def run(code):
    out, tail = io.StringIO(), []
    with contextlib.redirect_stdout(out):
        try:
            value = evaluate(code)
            if value is not None:
                tail = [value_item(value)]
        except Exception as error:
            tail = [{"type": "error", "ename": type(error).__name__, "evalue": str(error), "traceback": ""}]
    head = [{"type": "text", "stream": "stdout", "text": out.getvalue()}] if out.getvalue() else []
    return head + tail


def serve(name):
    path = os.path.join(root, "requests", name)
    with open(path) as file:
        request = json.load(file)
    os.unlink(path)
    hidden = os.path.join(root, "results", "." + request["id"] + ".tmp")
    with open(hidden, "w") as file:
        json.dump({"id": request["id"], "results": run(request["code"])}, file)
    os.rename(hidden, os.path.join(root, "results", request["id"] + ".json"))


while True:
    for name in sorted(os.listdir(os.path.join(root, "requests"))):
        if name.endswith(".json") and not name.startswith("."):
            serve(name)
    time.sleep(0.05)
