#!/usr/bin/env python3
# cudaccl - a bill of materials of a release
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the software bill of materials of a release, as SPDX 2.3 in JSON: its archives, wheels and packages with
checksums, and what the wheels have linked in. Images have bills of their own (deploy/images/sbom.py).

  scripts/sbom.py FOLDER VERSION SITE >FILE"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import sys

KINDS = (".tar.xz", ".tar.gz", ".whl", ".deb", ".tar")


def make_package(folder, path, version, site):
    name = path.relative_to(folder).as_posix()
    package = {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": path.name,
        "versionInfo": version,
        "supplier": "Organization: cudaccl developers",
        "downloadLocation": f"{site}/{name}",
        "filesAnalyzed": False,
        "checksums": [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(path.read_bytes()).hexdigest()}],
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "LGPL-2.1-or-later",
        "copyrightText": "NOASSERTION",
    }
    if path.suffix == ".whl":
        package["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                    "referenceLocator": f"pkg:pypi/cudaccl@{version}?file_name={path.name}"}]
    return package


RUNTIME = {
    "SPDXID": "SPDXRef-cudart", "name": "cudart_static", "supplier": "Organization: NVIDIA",
    "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
    "licenseDeclared": "LicenseRef-NVIDIA-CUDA-EULA", "copyrightText": "NOASSERTION",
}


def main():
    folder, version, site = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3].rstrip("/")
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name.endswith(KINDS))
    packages = [make_package(folder, path, version, site) for path in files]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": package["SPDXID"]} for package in packages]
    linked = [package["SPDXID"] for package in packages if "+cuda" in package["name"]]
    relations += [{"spdxElementId": spdx, "relationshipType": "STATIC_LINK", "relatedSpdxElement": RUNTIME["SPDXID"]}
                  for spdx in linked]
    moment = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    digest = hashlib.sha256(json.dumps(packages).encode()).hexdigest()
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"cudaccl-{version}",
        "documentNamespace": f"{site}/sbom/{version}-{digest}",
        "creationInfo": {"created": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: cudaccl-scripts-sbom"]},
        "packages": packages + ([RUNTIME] if linked else []), "relationships": relations,
        "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-NVIDIA-CUDA-EULA", "name": "NVIDIA CUDA EULA",
                                        "extractedText": "The End User License Agreement of the CUDA Toolkit."}] if linked else [],
    }, sys.stdout, indent=1)
    print()


main()
