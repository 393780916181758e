# SPDX-License-Identifier: LGPL-2.1-or-later
"""Validates documents against ONVIF's schemas with xmllint, if CUDACCL_ONVIF names a folder with them:
ver10 and ver20 of github.com/onvif/specs."""

import os
import re
import shutil
import subprocess
import tempfile

FOLDER = os.environ.get("CUDACCL_ONVIF")
# Schemas that are imported from the network: the place, its namespace, and as much of it as they need.
IMPORTS = (
    ("http://docs.oasis-open.org/wsn/b-2.xsd", "http://docs.oasis-open.org/wsn/b-2",
     '<xs:element name="NotificationMessage" type="xs:anyType"/><xs:complexType name="FilterType"/>'
     '<xs:complexType name="NotificationMessageHolderType"/>'),
    ("https://www.w3.org/2005/05/xmlmime", "http://www.w3.org/2005/05/xmlmime", '<xs:attribute name="contentType"/>'),
    ("https://www.w3.org/2003/05/soap-envelope", "http://www.w3.org/2003/05/soap-envelope",
     '<xs:complexType name="Envelope"/><xs:complexType name="Fault"/>'),
    ("https://www.w3.org/2004/08/xop/include", "http://www.w3.org/2004/08/xop/include",
     '<xs:element name="Include"/>'))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def extract(wsdl):
    """Returns the schema of a service, with the namespaces that are declared around it."""
    text = read(wsdl)
    start, rest = re.search(r"<xs:schema\b(.*?)>(.*)</xs:schema>", text, re.DOTALL).groups()
    for name, space in re.findall(r'(xmlns:\w+)="([^"]*)"', re.search(r"<wsdl:definitions\b(.*?)>", text, re.DOTALL)[1]):
        if f"{name}=" not in start:
            start += f' {name}="{space}"'
    return f"<xs:schema{start}>{rest}</xs:schema>"


def validate(schema, documents):
    """Returns what is wrong with the documents, or "". schema: a schema or service in the folder."""
    if not FOLDER or not shutil.which("xmllint"):
        return ""
    with tempfile.TemporaryDirectory() as work:
        shutil.copytree(FOLDER, f"{work}/schemas")
        path, common = f"{work}/schemas/{schema}", f"{work}/schemas/ver10/schema/onvif.xsd"
        # libxml2 takes no type in which an element may be one of two.
        write(common, re.sub(r'(name="SceneOrientationMode".*?</xs:element>\s*)<xs:any [^>]*/>', r"\1", read(common), 1,
                             re.DOTALL))
        if path.endswith(".wsdl"):
            write(path, extract(path))
        names = []
        for i, (place, namespace, content) in enumerate(IMPORTS):
            write(f"{work}/{i}.xsd", f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" '
                                     f'targetNamespace="{namespace}">{content}</xs:schema>')
            names.append(f'<system systemId="{place}" uri="{work}/{i}.xsd"/><uri name="{place}" uri="{work}/{i}.xsd"/>')
        write(f"{work}/catalog",
              f'<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">{"".join(names)}</catalog>')
        files = []
        for i, text in enumerate(documents):
            files.append(f"{work}/{i}.xml")
            write(files[-1], text.decode())
        result = subprocess.run(["xmllint", "--nonet", "--noout", "--schema", path, *files], capture_output=True,
                                env={**os.environ, "XML_CATALOG_FILES": f"{work}/catalog"}, text=True, check=False)
        return "" if result.returncode == 0 else result.stderr[-3000:] or "xmllint failed"
