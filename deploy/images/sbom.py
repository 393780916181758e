#!/usr/bin/env python3
# cudaccl - a bill of materials of an image
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the software bill of materials of an image of Debian or Ubuntu, as SPDX 2.3 in JSON: the packages in dpkg's
database, with their versions, sources, checksums of their copyright files, and what they need of each other.

  deploy/images/sbom.py ROOT NAME >NAME.spdx.json

ROOT is the folder of the mounted image."""

import datetime
import hashlib
import json
import pathlib
import re
import sys
import urllib.parse


def read_status(root):
    """The installed packages: a map of the fields of each."""
    packages = []
    for block in (root / "var/lib/dpkg/status").read_text("utf-8", "replace").split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): *(.*)$", block, re.M))
        if fields.get("Status", "").endswith(" installed"):
            packages.append(fields)
    return sorted(packages, key=lambda fields: (fields["Package"], fields["Architecture"]))


def make_id(fields):
    return "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{fields['Package']}-{fields['Architecture']}")


def make_package(root, vendor, fields):
    quote = urllib.parse.quote
    source = re.match(r"(\S+)(?: \((.*)\))?$", fields.get("Source", fields["Package"]))
    package = {
        "SPDXID": make_id(fields),
        "name": fields["Package"],
        "versionInfo": fields["Version"],
        "supplier": "Organization: " + fields.get("Maintainer", "unknown"),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "sourceInfo": f"source package {source.group(1)} {source.group(2) or fields['Version']}",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": f"pkg:deb/{vendor}/{quote(fields['Package'])}@{quote(fields['Version'], '')}"
                                f"?arch={fields['Architecture']}",
        }],
    }
    if re.match(r"https?://\S+$", fields.get("Homepage", "")):
        package["homepage"] = fields["Homepage"]
    copyright_file = root / "usr/share/doc" / fields["Package"] / "copyright"
    if copyright_file.is_file():
        digest = hashlib.sha256(copyright_file.read_bytes()).hexdigest()
        package["comment"] = f"SHA-256 of /usr/share/doc/{fields['Package']}/copyright: {digest}"
    return package


def find_needs(packages):
    """Pairs of ids: who needs whom. Of alternatives, those that are installed."""
    by_name = {}
    for fields in packages:
        by_name.setdefault(fields["Package"], make_id(fields))
    for fields in packages:
        for provided in filter(None, fields.get("Provides", "").split(",")):
            by_name.setdefault(provided.strip().split(" ")[0], make_id(fields))
    for fields in packages:
        needs = ",".join(fields.get(key, "") for key in ("Depends", "Pre-Depends")).replace("|", ",")
        names = {re.split(r"[ :(]", name.strip())[0] for name in needs.split(",")}
        for found in sorted({by_name[name] for name in names if name in by_name} - {make_id(fields)}):
            yield make_id(fields), found


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    vendor = re.search(r"^ID=\"?(\w+)", (root / "etc/os-release").read_text(), re.M).group(1)
    packages = read_status(root)
    if not packages:
        sys.exit(f"{root}: no packages in dpkg's database")
    digest = hashlib.sha256(json.dumps(packages).encode()).hexdigest()
    relationships = [("SPDXRef-DOCUMENT", "DESCRIBES", make_id(fields)) for fields in packages]
    relationships += [(a, "DEPENDS_ON", b) for a, b in find_needs(packages)]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"https://example.org/cudaccl/sbom/{urllib.parse.quote(name, '')}-{digest}",
        "creationInfo": {
            "created": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: cudaccl-sbom", "Organization: cudaccl developers"],
        },
        "packages": [make_package(root, vendor, fields) for fields in packages],
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relationships],
    }
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
