#!/usr/bin/env python3
# cudaccl - generate the pages of the elements
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes docs/elements/NAME.md for every element of the built plugins, from the doc blocks in their
sources and from GStreamer's introspection, as gst-inspect-1.0 does.

  docs/elements.py FOLDER          FOLDER contains the plugins: gst in the build folder
  docs/elements.py --check FOLDER  writes nothing; fails if a page is out of date, a property or signal
                                   has no doc block, or a doc block has no property

Pages describe a build with every feature. If the build lacks some, a page keeps its values, formats and
inherited properties that the build lacks; tests/versions.sh --pages regenerates all pages. Elements that
the build lacks are skipped. Exit status 77 if Python has no GStreamer."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

try:
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import GLib, GObject, Gst
except (ImportError, ValueError) as error:
    print(f"no GStreamer for Python: {error}", file=sys.stderr)
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "elements"
# Properties inherited from these types are not listed.
COMMON = ("GObject", "GstObject", "GstElement")
# Our types. Elements share their properties and signals through abstract types and functions; each
# property and signal has one doc block, with the element that the block names.
OURS = re.compile("Gst(Cuda)?Ccl")
CONTROLLABLE, READY, PAUSED, PLAYING = 1 << 9, 1 << 10, 1 << 11, 1 << 12
MANY_FORMATS = 16


class Failure(Exception):
    pass


def doc_blocks():
    """The doc blocks of the sources: a map from the subject, without its colon, to file and lines."""
    blocks = {}
    for path in sorted((ROOT / "gst").rglob("*.c")):
        for text in re.findall(r"^ */\*\*\n(.*?)\n *\*/", path.read_text("utf-8"), re.S | re.M):
            lines = [re.sub(r"^ *\* ?", "", line) for line in text.split("\n")]
            subject = re.sub(r":( \(.*\))?$", "", lines[0].strip())
            blocks[subject] = path.relative_to(ROOT).as_posix(), lines[1:]
    return blocks


def body(lines):
    """The text of a doc block, without its annotations."""
    kept = [line for line in lines if not re.match(r"@(title|short_description):|Since:", line)]
    return "\n".join(kept).strip("\n")


def to_markdown(text, name, names):
    """A doc block's text, which has gtk-doc links, as Markdown."""
    def link(match):
        element, prop = match.groups()
        if element in names and prop:
            return f"[`{prop}`]({'' if element == name else element + '.md'}#{prop})"
        if element in names:
            return f"`{element}`" if element == name else f"[{element}]({element}.md)"
        return f"`{element}{':' + prop if prop else ''}`"

    parts = re.split(r"^(\|\[.*?\n\]\|)$", text, flags=re.S | re.M)
    for i, part in enumerate(parts):
        if part.startswith("|["):
            language, code = re.match(r'\|\[(?:<!-- language="(\w+)" -->)?\n(.*)\n\]\|$', part,
                                      re.S).groups()
            if not language:  # launch lines, wrapped to the line length of the source
                code = re.sub(r"\n(?!gst-|#|$)", r" \\\n  ", code)
            parts[i] = f"```{(language or 'sh').lower()}\n{code}\n```"
        else:
            part = re.sub(r"^( *)- ", r"\1* ", part, flags=re.M)
            part = re.sub(r"(?<![\w`#/])#([A-Za-z][\w-]*)(?:::?([a-z][\w-]*))?", link, part)
            parts[i] = re.sub(r"%(NULL|TRUE|FALSE|GST_\w+)", r"`\1`", part)
    return "".join(parts)


def inspect_values(name):
    """The values of enumerations and flags as number, nick and description, by property. They come
    from gst-inspect-1.0 because Python's bindings report them differently from version to version."""
    output = subprocess.run(["gst-inspect-1.0", "--no-colors", name], stdout=subprocess.PIPE,
                            check=True, encoding="utf-8").stdout
    values, prop = {}, None
    for line in output[output.index("Element Properties"):].split("\n"):
        start = re.match(r" {1,2}([a-z][\w-]*) *:", line)
        prop = start.group(1) if start else prop
        value = re.match(r" +\((0x[0-9a-f]+|-?\d+)\): (\S+) +- (.*)$", line)
        # Without a feature, a build knows only the names of its values: treat them as missing.
        if value and not re.fullmatch(r"Not (available )?in this build", value.group(3)):
            values.setdefault(prop, []).append((int(value.group(1), 0), *value.groups()[1:]))
    return values


def show(spec, members):
    """The default of a property as written in a pipeline."""
    value = spec.default_value
    if isinstance(value, bool):
        return str(value).lower()
    if spec.value_type.is_a(GObject.TYPE_FLAGS):
        return "+".join(nick for number, nick, _ in members
                        if number and number & int(value) == number) or "0"
    if spec.value_type.is_a(GObject.TYPE_ENUM):
        return next(nick for number, nick, _ in members if number == int(value))
    return str(value)


def facts(spec, members):
    """Type, range, default, and the states in which it can be set."""
    kind, flags = spec.value_type, int(spec.flags)
    words = [{"gchararray": "string", "gboolean": "boolean"}.get(kind.name, kind.name)]
    if kind.is_a(GObject.TYPE_ENUM):
        words = ["enumeration"]
    elif kind.is_a(GObject.TYPE_FLAGS):
        words = ["flags"]
    elif kind.fundamental == kind and hasattr(spec, "minimum"):
        words[0] = re.sub("^g", "", words[0]) + f", {spec.minimum} to {spec.maximum}"
    if flags & int(GObject.ParamFlags.WRITABLE):
        if not kind.is_a(GObject.TYPE_BOXED) and spec.default_value is not None:
            words.append(f"default `{show(spec, members)}`")
        if flags & int(GObject.ParamFlags.CONSTRUCT_ONLY):
            words.append("can be set when the element is made")
        elif flags & PLAYING:
            words.append("can be set at any time")
        else:
            words.append(f"can be set up to the state {'PAUSED' if flags & PAUSED else 'READY'}")
        if flags & CONTROLLABLE:
            words.append("controllable")
        if not flags & int(GObject.ParamFlags.READABLE):
            words.append("write-only")
    else:
        words.append("read-only")
    return "; ".join(words)


def property_lines(spec, members, text):
    lines = [f"### `{spec.name}`", "", facts(spec, members), "", *text.split("\n"), ""]
    if members:
        lines += [f"- `{nick}`: {description}" for _, nick, description in members] + [""]
    return lines


def caps_lines(caps):
    """One line per structure, without the fields that all video caps have."""
    if caps.is_any():
        return ["- `ANY`"]
    lines = []
    for i in range(caps.get_size()):
        structure, features = caps.get_structure(i), caps.get_features(i)
        words = [f"- `{structure.get_name()}`"]
        memory = features.to_string() if features else ""
        if memory not in ("", "memory:SystemMemory"):
            words = [f"- `{structure.get_name()}({memory})`"]
        fields = re.findall(r", ([\w-]+)=\([\w-]+\)(\{[^}]*\}|\[[^\]]*\]|[^,;]+)",
                            structure.to_string())
        for field, value in fields:
            if field in ("width", "height", "framerate"):
                continue
            values = re.split(r", *", value.strip("{} "))
            if len(values) > MANY_FORMATS:
                words.append(f"`{field}`: most of them")
            else:
                words.append(f"`{field}`: " + ", ".join(values))
        lines.append("; ".join(words))
    return lines


def signal_names(gtype):
    """The signals of our types among a type and its parents."""
    names = []
    while OURS.match(gtype.name):
        names += GObject.signal_list_names(gtype)
        gtype = gtype.parent
    return sorted(names)


def find_root(gtype):
    """The topmost type of ours among a type and its parents."""
    while OURS.match(gtype.parent.name):
        gtype = gtype.parent
    return gtype


def find_page(name, root, separator, blocks, names):
    """The element of a type @root that documents a property or signal, or None."""
    return next((n for n in names if f"{n}{separator}{name}" in blocks
                 and Gst.ElementFactory.find(n).load().get_element_type().is_a(root)), None)


def split_first_example(text):
    """The first launch line with what it does, and the rest of an element's text."""
    match = re.search(r"^## Example launch lines?\n+(```sh\n.*?\n```\n[^\n].*?)(?=\n```|\n\n|\Z)", text, re.S | re.M)
    if not match:
        return "", text
    rest = text[:match.start(1)] + text[match.end(1):].lstrip("\n")
    return match.group(1).strip("\n"), re.sub(r"^## Example launch lines?\s*(?=##|\Z)", "", rest, flags=re.M).strip("\n")


def picture_lines(name):
    """The picture of an element, if there is one (scripts/pictures.sh)."""
    if not (ROOT / "docs/figures/elements" / f"{name}.jpg").exists():
        return []
    return [f"![{name} on a recording](../figures/elements/{name}.jpg)", ""]


def make_page(factory, blocks, names):
    """The page of an element, and the missing or superfluous doc blocks of its sources."""
    name, problems = factory.get_name(), []
    element = factory.create(None)
    gtype = element.__gtype__
    section = blocks.get(f"SECTION:element-{name}")
    if not section:
        raise Failure(f"{name}: no doc block SECTION:element-{name}")
    source, lines = section
    short = next((line.split(":", 1)[1].strip() for line in lines
                  if line.startswith("@short_description:")), "")
    plugin = factory.get_plugin_name()
    root = find_root(gtype)
    own, inherited = [], []
    for spec in element.list_properties():
        ours = OURS.match(spec.owner_type.name)
        where = find_page(spec.name, root, ":", blocks, names) if ours else None
        if f"{name}:{spec.name}" in blocks:
            own.append(spec)
        elif where:
            inherited.append(f"- [`{spec.name}`]({where}.md#{spec.name}), as in `{where}`")
        elif ours:
            problems.append(f"{name}: the property {spec.name} has no doc block {name}:{spec.name}:")
        elif spec.owner_type.name not in COMMON:
            inherited.append(f"- `{spec.name}`, of {spec.owner_type.name}")
    values = inspect_values(name) if own else {}
    own.sort(key=lambda spec: not int(spec.flags) & int(GObject.ParamFlags.WRITABLE))

    example, text = split_first_example(to_markdown(body(lines), name, names))
    page = [f"# {name}", "", f"<!-- Made by docs/elements.py from {source}; do not edit. -->", "",
            f"`{name}` {short}. Class: {factory.get_metadata('klass')}; rank: "
            f"{factory.get_rank()}; plugin: {plugin}.", "",
            *(example.split("\n") + [""] if example else []), *picture_lines(name),
            *text.split("\n"), "", "## Properties", ""]
    if not own:
        page += ["None of its own.", ""]
    for spec in own:
        text = body(blocks[f"{name}:{spec.name}"][1])
        if not text:
            problems.append(f"{name}: the doc block of the property {spec.name} is empty")
        page += property_lines(spec, values.get(spec.name, []), to_markdown(text, name, names))
    if inherited:
        page += ["### Inherited", "", *inherited, ""]

    signals = signal_names(gtype)
    if signals:
        page += ["## Signals", ""]
    for signal in signals:
        block = blocks.get(f"{name}::{signal}")
        where = find_page(signal, root, "::", blocks, names)
        if block:
            text = "\n".join(line for line in body(block[1]).split("\n") if line[:1] != "@")
            page += [f"### `{signal}`", "", *to_markdown(text.strip("\n"), name, names).split("\n"),
                     ""]
        elif where:
            page += [f"- [`{signal}`]({where}.md#{signal}), as in `{where}`", ""]
        else:
            problems.append(f"{name}: the signal {signal} has no doc block {name}::{signal}:")

    page += ["## Pads", ""]
    for template in element.get_pad_template_list():
        page += [f"### `{template.name_template}`", "",
                 f"{template.direction.value_nick}, {template.presence.value_nick}", "",
                 *caps_lines(template.get_caps()), ""]

    known = {f"{name}:{spec.name}" for spec in own} | {f"{name}::{signal}" for signal in signals}
    problems += [f"{path}: {subject} is documented, but does not exist"
                 for subject, (path, _) in blocks.items()
                 if subject.startswith(f"{name}:") and subject not in known]
    return "\n".join(page).rstrip("\n") + "\n", problems


def without_defaults(lines, lacking):
    """Lines without the defaults of flags of which this build lacks values."""
    heading = ""
    for line in lines:
        heading = line if line.startswith("#") else heading
        if line.startswith("flags; ") and any(key[0] == heading for key in lacking):
            line = re.sub("default `[^`]*`", "default", line)
        yield line


def flags_of(page):
    """The lines with the defaults of flags, by heading."""
    lines = page.split("\n")
    return {lines[i]: lines[i + 2] for i in range(len(lines) - 2)
            if lines[i].startswith("###") and lines[i + 2].startswith("flags; ")}


def compare(name, page, path):
    """How a page differs from the generated one, apart from what this build lacks."""
    if not path.exists():
        return [f"{path.relative_to(ROOT)} is missing"]
    there, made = path.read_text("utf-8").split("\n"), page.split("\n")
    lacking = set(list_keys("\n".join(there))) - set(list_keys(page))
    there, made = (list(without_defaults(lines, lacking)) for lines in (there, made))
    optional = [line for line in there if line.startswith("- `") and line not in made]
    newer = [line for line in made if re.match(r"- `[\w-]+`, of Gst", line) and line not in there]
    there = [line for line in there if line not in optional]
    made = [line for line in made if line not in newer]
    if there == made:
        return []
    first = next((i for i, (a, b) in enumerate(zip(there, made)) if a != b),
                 min(len(there), len(made)))
    return [f"{path.relative_to(ROOT)} differs from what docs/elements.py writes, from this line on:\n"
            f"  old: {there[first] if first < len(there) else '(the end)'}\n"
            f"  new: {made[first] if first < len(made) else '(the end)'}"]


def list_keys(page):
    """The list items that depend on the build: a map from heading and name to the line."""
    keys, heading = {}, ""
    for line in page.split("\n"):
        heading = line if line.startswith("#") else heading
        match = re.match(r"- (`[^`]+`)", line)
        if match:
            keys[heading, match.group(1)] = line
    return keys


def keep_lists(page, path):
    """The page, with the list items that only the existing page has."""
    new = list_keys(page)
    there = path.read_text("utf-8") if path.exists() else ""
    old = list_keys(there)
    # The default may be a value that this build lacks.
    flags = {heading: line for heading, line in flags_of(there).items()
             if any(key[0] == heading for key in set(old) - set(new))}
    lines, heading = [], ""
    for line in page.split("\n"):
        heading = line if line.startswith("#") else heading
        match = re.match(r"- (`[^`]+`)", line)
        if line.startswith("flags; ") and heading in flags:
            lines.append(flags[heading])
        elif not match:
            lines.append(line)
        elif (heading, match.group(1)) in new:
            # This build's order; items of other builds stay behind the item that they follow.
            here = [key for key in new if key[0] == heading]
            before = None
            for key in (key for key in old if key[0] == heading):
                if key not in here:
                    here.insert(here.index(before) + 1 if before else 0, key)
                before = key
            lines += [new.pop(key, old.get(key)) for key in here]
    return "\n".join(lines)


def load_factories(folder):
    """The elements of the plugins in a folder."""
    factories = []
    for path in sorted(pathlib.Path(folder).resolve().rglob("libgst*.so")):
        if re.fullmatch(r"libgst[a-z0-9]+\.so", path.name):
            try:
                plugin = Gst.Plugin.load_file(str(path))
            except GLib.Error as error:
                # A plugin without elements, because this build lacks their dependencies.
                print(error.message, file=sys.stderr)
                continue
            features = Gst.Registry.get().get_feature_list_by_plugin(plugin.get_name())
            factories += [f for f in features if isinstance(f, Gst.ElementFactory)]
    if not factories:
        raise Failure(f"no plugins in {folder}")
    return sorted((f.load() for f in factories), key=lambda f: f.get_name())


def run(folder, check):
    factories, blocks, problems = load_factories(folder), doc_blocks(), []
    names = [f.get_name() for f in factories]
    for factory in factories:
        page, missing = make_page(factory, blocks, names)
        path = PAGES / f"{factory.get_name()}.md"
        problems += missing
        if check:
            problems += compare(factory.get_name(), page, path)
        elif not missing:
            PAGES.mkdir(exist_ok=True)
            path.write_text(keep_lists(page, path), "utf-8")
    problems += [f"docs/elements/{path.name} does not belong to any element"
                 for path in sorted(PAGES.glob("*.md"))
                 if f"SECTION:element-{path.stem}" not in blocks]
    for subject in blocks:
        if subject.startswith("SECTION:element-") and subject[16:] not in names:
            print(f"{subject[16:]} is not in this build")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(names)} elements: {', '.join(names)}; {len(problems)} problems")
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("folder", help="folder that contains the plugins")
    args = parser.parse_args()
    Gst.init(None)
    if not shutil.which("gst-inspect-1.0"):
        print("missing command gst-inspect-1.0 (Debian: gstreamer1.0-tools)", file=sys.stderr)
        return 77
    try:
        return run(args.folder, args.check)
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
