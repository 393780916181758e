# cudaccl - pages of the site that are made from sources
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The references of the site: http() from cudaccl-watch's OpenAPI description, python() from the package's docstrings,
gstccl() from the doc blocks of libgstccl. Each returns Markdown. docs/site.py puts them into the site."""

import ast
import copy
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPENAPI = ROOT / "apps/watch/page/openapi.json"


def resolve(api, node):
    while "$ref" in node:
        target = api
        for key in node["$ref"].removeprefix("#/").split("/"):
            target = target[key]
        node = target
    return node


def type_of(schema):
    """A schema in a few words, with links to schemas that have a name."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    for word in ("oneOf", "anyOf", "allOf"):
        if word in schema:
            return (" and " if word == "allOf" else " or ").join(type_of(part) for part in schema[word])
    kind = schema.get("type", "anything")
    if isinstance(kind, list):
        kind = " or ".join(kind)
    if "array" in kind:
        kind = f"array of {type_of(schema.get('items', {}))}"
    words = [kind] + [schema[key] for key in ("format",) if key in schema]
    for key, sign in (("minimum", "≥"), ("maximum", "≤"), ("maxLength", "length ≤"), ("maxItems", "items ≤")):
        if key in schema:
            words.append(f"{sign} {schema[key]}")
    return ", ".join(words)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def members(schema):
    """A table of the properties of an object, or a line for another schema."""
    properties = schema.get("properties")
    for part in schema.get("allOf", []):
        properties = {**(properties or {}), **part.get("properties", {})}
    if not properties:
        return [type_of(schema), ""]
    lines = ["| member | type | |", "|---|---|---|"]
    for name, value in properties.items():
        needed = "" if name in schema.get("required", properties) else "optional. "
        lines.append(f"| `{name}` | {cell(type_of(value))} | {needed}{cell(value.get('description', ''))} |")
    return lines + [""]


def http():
    """The interface of cudaccl-watch."""
    api = json.loads(OPENAPI.read_text("utf-8"))
    lines = ["# Interface over HTTP", "", "The interface of [cudaccl-watch](watch.md#the-page-and-its-interface), from its "
             "OpenAPI description, which the program serves at `/openapi.json` ([here](openapi.json)).", "",
             api["info"]["description"], ""]
    for path, operations in api["paths"].items():
        for method, operation in operations.items():
            if method == "parameters":
                continue
            lines += [f"## `{method.upper()} {path}`", "", operation["summary"] + ".", ""]
            if operation.get("description"):
                lines += [operation["description"], ""]
            parameters = [resolve(api, p) for p in operations.get("parameters", []) + operation.get("parameters", [])]
            if parameters:
                lines += ["| parameter | in | type | |", "|---|---|---|---|"]
                lines += [f"| `{p['name']}` | {p['in']} | {cell(type_of(p['schema']))} | {cell(p.get('description', ''))} |"
                          for p in parameters] + [""]
            for content in resolve(api, operation.get("requestBody", {})).get("content", {}).values():
                lines += ["Takes:", ""] + members(content["schema"])
            lines += ["| answer | | |", "|---|---|---|"]
            answers = {}
            for status, answer in operation["responses"].items():
                answers.setdefault(json.dumps(answer), []).append(status)
            for text, statuses in answers.items():
                answer, status = resolve(api, json.loads(text)), ", ".join(statuses)
                kinds = [f"`{kind}` {type_of(content.get('schema', {}))}"
                         for kind, content in answer.get("content", {}).items()]
                lines.append(f"| {status} | {cell(answer.get('description', ''))} | {cell('; '.join(kinds))} |")
            lines.append("")
    for name, schema in api["components"]["schemas"].items():
        lines += [f"## {name}", ""] + ([schema["description"], ""] if "description" in schema else []) + members(schema)
    return "\n".join(lines)


def plain(arguments):
    """Arguments without types, which the table of parameters has."""
    arguments = copy.deepcopy(arguments)
    for node in ast.walk(arguments):
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(arguments)


def signature(node, prefix=""):
    """A function as it is called; a class by its constructor."""
    if isinstance(node, ast.ClassDef):
        constructor = next((f for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"), None)
        if not constructor:
            return prefix + node.name
        return f"{prefix}{node.name}({plain(constructor.args).removeprefix('self').lstrip(', ')})"
    return f"{prefix}{node.name}({re.sub(r'^self(, )?', '', plain(node.args))})"


def sections(node):
    """The parts of a docstring in NumPy's style: (title, lines), the first one without a title."""
    parts = [("", [])]
    lines = (ast.get_docstring(node) or "").split("\n")
    for line, after in zip(lines, lines[1:] + [""]):
        if re.fullmatch("-{3,}", after) and len(after) == len(line):
            parts.append((line, []))
        elif not re.fullmatch("-{3,}", line):
            parts[-1][1].append(line)
    return parts


def items(lines):
    """(name, type, description) of the items of a section."""
    found = []
    for line in lines:
        if line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            found.append((name, kind, []))
        elif found:
            found[-1][2].append(line.strip())
    return [(name, kind, " ".join(words).strip()) for name, kind, words in found]


def docstring(node):
    """As Markdown: parameters as a table, examples as code."""
    lines = []
    for title, text in sections(node):
        if not title:
            lines += text
        elif title == "Parameters":
            lines += ["", "| parameter | type | |", "|---|---|---|"]
            lines += [f"| {', '.join(f'`{part.strip()}`' for part in name.split(','))} | {cell(kind)} | {cell(words)} |"
                      for name, kind, words in items(text)]
        elif title == "Examples":
            lines += ["", "```python", *text, "```"]
        else:
            lines += ["", f"**{title}**: " + "; ".join(
                f"{name}{f' ({kind})' if kind else ''}{f': {words}' if words else ''}" for name, kind, words in items(text))]
    return lines + [""]


def python_functions(path, names, prefix):
    """The public classes and functions of a file, those named if @names is given."""
    lines = []
    for node in ast.parse(path.read_text("utf-8")).body:
        # Of a named tuple: NAME.__doc__ = "…"
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "attr", "") == "__doc__":
            lines += [f"### {node.targets[0].value.id}", "", ast.literal_eval(node.value), ""]
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or node.name.startswith("_"):
            continue
        if (names is not None and node.name not in names) or not ast.get_docstring(node):
            continue
        lines += [f"### {node.name}", "", "```python", signature(node, prefix), "```", ""] + docstring(node)
        for method in getattr(node, "body", []) if isinstance(node, ast.ClassDef) else []:
            if not isinstance(method, ast.FunctionDef) or not ast.get_docstring(method):
                continue
            if method.name.startswith("_") and method.name != "__call__":
                continue
            name = "" if method.name == "__call__" else f".{method.name}"
            attribute = any(getattr(d, "id", "") == "property" for d in method.decorator_list)
            call = "" if attribute else re.sub(r"^[^(]*", "", signature(method))
            lines += [f"#### {node.name}{name}{'' if attribute else '()'}", "", "```python",
                      f"{node.name[0].lower()}{node.name[1:]}{name}{call}", "```", ""] + docstring(method)
    return lines


def python():
    """The package cudaccl."""
    folder = ROOT / "python" / "cudaccl"
    top = ast.parse((folder / "__init__.py").read_text("utf-8"))
    names = next(ast.literal_eval(node.value) for node in top.body
                 if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    lines = ["# Reference of the Python package", "", "Recipes are on [the page before](python.md).", "", "## cudaccl", "",
             *ast.get_docstring(top).split("\n"), ""]
    found = []
    for path in sorted(folder.glob("_[a-z]*.py")):
        part = python_functions(path, names, "cudaccl.")
        found += [line for line in part if line.startswith("### ")]
        lines += part
    missing = set(names) - {line.removeprefix("### ") for line in found}
    if missing:
        raise ValueError(f"no docstring: {', '.join(sorted(missing))}")
    for name in ("gst", "cc_torch"):
        tree = ast.parse((folder / f"{name}.py").read_text("utf-8"))
        lines += [f"## cudaccl.{name}", "", *(ast.get_docstring(tree) or "").split("\n"), ""]
        lines += python_functions(folder / f"{name}.py", None, f"cudaccl.{name}.")
    return "\n".join(lines)


def gstccl():
    """libgstccl."""
    folder = ROOT / "gst" / "meta"
    headers = "".join(path.read_text("utf-8") for path in sorted((folder / "include/gst/ccl").glob("*.h")))
    blocks = {}
    for path in sorted(folder.rglob("*.[ch]")):
        for text in re.findall(r"^/\*\*\n(.*?)\n \*/", path.read_text("utf-8"), re.S | re.M):
            lines = [re.sub(r"^ \* ?", "", line) for line in text.split("\n")]
            if re.match(r"(gst_|Gst|GST_)\w+:$", lines[0]):
                blocks[lines[0].rstrip(":")] = lines[1:]

    def link(match):
        name = match.group(1) or match.group(2)
        return f"[`{name}{'()' if match.group(1) else ''}`](#{name.lower()})" if name in blocks else f"`{name}`"

    def words(text):
        parts = re.split(r"(^```.*?^```$)", text, flags=re.S | re.M)
        return "".join(part if part.startswith("```") else prose(part) for part in parts)

    def prose(text):
        text = re.sub(r"\b(gst_\w+) ?\(\)|#(\w+)", link, text)
        return re.sub(r"%(\w+)", r"`\1`", re.sub(r"(?<![\w`])@(\w+)", r"`\1`", text))

    lines = ["# libgstccl", "", "The metadata of the elements as a library: components, tracks, classes and events of zones of a "
             "frame, for C and, by introspection, Python (`gi.repository.GstCcl`) and JavaScript. "
             "`pkg-config --cflags --libs gstccl-1.0`; `#include <gst/ccl/gstccl.h>`. "
             "Words in parentheses are those of introspection: who owns what.", ""]
    for kind, title in ((r"Gst", "Types"), (r"GST_", "Macros"), (r"gst_", "Functions")):
        lines += [f"## {title}", ""]
        for name in sorted(name for name in blocks if name.startswith(kind)):
            code = re.search(rf"^GST_CCL_API\s[^;]*?\b{name} \([^;]*;|^(?:typedef )?(?:struct|enum) _{name}\n{{.*?^}}[^;]*;"
                             rf"|^typedef enum\n{{(?:(?!^}}).)*^}} {name};|^#define {name}\b[^\n]*", headers, re.S | re.M)
            text, parameters, rest = blocks[name], [], []
            for line in text:
                match = re.match(r"@(\w+|\.\.\.): *(?:((?:\([^)]*\) ?)+): *)?(.*)", line)
                if match:
                    parameters.append(f"* `{match[1]}`{' ' + match[2].strip() if match[2] else ''}: {match[3]}")
                elif parameters and line.startswith("  ") and not rest:
                    parameters[-1] += " " + line.strip()
                elif not line.startswith("Since:"):
                    rest.append(re.sub(r"^Returns:", "**Returns**:", line))
            lines += [f"### {name}", ""]
            if code:
                lines += ["```c", re.sub(r"^GST_CCL_API\s+", "", code.group(0)), "```", ""]
            lines += [words("\n".join(rest)).strip(), ""] + [words(line) for line in parameters] + [""]
    return "\n".join(lines)
