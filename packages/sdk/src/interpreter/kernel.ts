// SPDX-License-Identifier: Apache-2.0
// The interpreter's kernel: a Python program that runs in the session, as text.
//
// It takes requests (`requests/<id>.json`) and leaves results (`results/<id>.json`) below the folder that is its
// argument. Both are renamed into place, so that nobody reads half a file.

export const KERNEL_SCRIPT = `# SPDX-License-Identifier: Apache-2.0
import ast
import contextlib
import io
import json
import os
import sys
import time
import traceback

ROOT = sys.argv[1]
POLL_SECONDS = 0.05
MAX_REPR = 100000
MAX_ROWS = 1000

os.environ.setdefault("MPLBACKEND", "Agg")
namespace = {"__name__": "__main__", "__builtins__": __builtins__}


def folder(name):
    return os.path.join(ROOT, name)


def write_result(request_id, results):
    text = json.dumps({"id": request_id, "results": results}, allow_nan=False)
    hidden = os.path.join(folder("results"), "." + request_id + ".tmp")
    with open(hidden, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(hidden, os.path.join(folder("results"), request_id + ".json"))


def shortened(text):
    return text if len(text) <= MAX_REPR else text[:MAX_REPR] + "... (truncated)"


def error_item(error):
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {"type": "error", "ename": type(error).__name__, "evalue": str(error), "traceback": trace}


def table_item(value):
    frame = value.to_frame() if hasattr(value, "to_frame") else value
    records = frame.head(MAX_ROWS).to_json(orient="records", date_format="iso", default_handler=str)
    return {
        "type": "table",
        "columns": [str(column) for column in frame.columns],
        "rows": json.loads(records),
        "row_count": len(frame),
        "truncated": len(frame) > MAX_ROWS,
    }


def value_item(value):
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series)):
        try:
            return table_item(value)
        except ValueError:
            pass
    if isinstance(value, (dict, list, tuple)):
        try:
            return {"type": "json", "json": json.loads(json.dumps(value, allow_nan=False))}
        except (TypeError, ValueError, RecursionError):
            return {"type": "json", "json": shortened(repr(value))}
    return {"type": "text", "stream": "result", "text": shortened(repr(value))}


def image_items(request_id):
    pyplot = sys.modules.get("matplotlib.pyplot")
    items = []
    if pyplot is None:
        return items
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        if figure.axes:
            path = os.path.join(folder("artifacts"), "%s_%d.png" % (request_id, len(items)))
            figure.savefig(path, format="png")
            items.append({"type": "image", "format": "png", "path": path, "size": os.path.getsize(path)})
    pyplot.close("all")
    return items


def evaluate(code):
    tree = ast.parse(code, "<cell>")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), namespace)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)


def run_cell(request_id, code):
    """The items of one request, and the exception that ends the kernel, if there was one."""
    out, err = io.StringIO(), io.StringIO()
    value, failure, fatal = None, None, None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            value = evaluate(code)
        except (SystemExit, KeyboardInterrupt) as error:
            failure = fatal = error
        except BaseException as error:
            failure = error
    items = [
        {"type": "text", "stream": stream, "text": buffer.getvalue()}
        for stream, buffer in (("stdout", out), ("stderr", err))
        if buffer.getvalue()
    ]
    if failure is not None:
        items.append(error_item(failure))
    items.extend(image_items(request_id))
    if value is not None:
        items.append(value_item(value))
    return items, fatal


def serve(request_id, code):
    try:
        items, fatal = run_cell(request_id, code)
        write_result(request_id, items)
    except Exception as error:
        fatal = None
        write_result(request_id, [dict(error_item(error), ename="KernelError")])
    if fatal is not None:
        raise fatal


def next_request():
    names = sorted(name for name in os.listdir(folder("requests")) if name.endswith(".json") and name[0] != ".")
    if not names:
        return None
    path = os.path.join(folder("requests"), names[0])
    with open(path, encoding="utf-8") as file:
        text = file.read()
    os.unlink(path)
    return text


with open(folder("pid"), "w") as file:
    file.write("%d\\n" % os.getpid())

while True:
    text = next_request()
    if text is None:
        time.sleep(POLL_SECONDS)
        continue
    try:
        request = json.loads(text)
        request_id, code = request["id"], request["code"]
    except (ValueError, KeyError, TypeError):
        continue
    serve(request_id, code)
`;
