#!/usr/bin/env python3
"""Checks the manifests without a cluster: check.py [CUDACCL-WATCH]

Builds each overlay with kubectl or kustomize, and validates all objects with the API's schemas, which the package
kubernetes-validate of PyPI has. With CUDACCL-WATCH, the program also checks its settings."""

import configparser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("SKIP: python3-yaml is not installed")
    sys.exit(77)
try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

HERE = pathlib.Path(__file__).resolve().parent
VERSIONS = ("1.30", "1.34")
BUILD = ["kubectl", "kustomize"] if shutil.which("kubectl") else ["kustomize", "build"]
failures = []


def fail(text):
    print(text)
    failures.append(text)


def expect(name, what, found, expected):
    if found != expected:
        fail(f"{name}: {what} is {found}, expected {expected}")


def validate(name, item):
    if item["apiVersion"].startswith("monitoring."):
        return  # of the Prometheus operator
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(item, version, strict=True)
        except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
            fail(f"{name}: {item['kind']} {item['metadata']['name']}, Kubernetes {version}: {error}")


def check_settings(program, text):
    """Of cudaccl-watch, with its credentials."""
    with tempfile.TemporaryDirectory() as folder:
        token = pathlib.Path(folder) / "token"
        token.write_text("a-long-token\n")
        token.chmod(0o440)
        path = pathlib.Path(folder) / "watch.conf"
        path.write_text(text.replace("/credentials/", f"{folder}/"))
        done = subprocess.run([program, "--check", path], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "CREDENTIALS_DIRECTORY": folder, "CUDACCL_WATCH_SHARE": "0/2"})
        if done.returncode:
            fail(f"watch.conf: {done.stdout}")


def check_overlay(overlay, program):
    name = overlay.name
    built = subprocess.run([*BUILD, overlay], text=True, check=True, stdout=subprocess.PIPE).stdout
    items = {(item["kind"], item["metadata"]["name"]): item for item in yaml.safe_load_all(built)}
    watch = items["StatefulSet", "cudaccl-watch"]["spec"]
    pods = {"cudaccl-watch": watch["template"], "cudaccl-collect": items["Deployment", "cudaccl-collect"]["spec"]["template"]}
    text = items["ConfigMap", "cudaccl-watch"]["data"]["watch.conf"]

    if kubernetes_validate:
        for item in items.values():
            validate(name, item)
    # As many programs as shares.
    expect(name, "COUNT of share", re.search(r"^share = auto/(\d+)$", text, re.M)[1], str(watch["replicas"]))
    if program:
        check_settings(program, text)
    for app, template in pods.items():
        spec = template["spec"]
        container = spec["containers"][0]
        port = container["ports"][0]["containerPort"]
        file = pathlib.Path(container["args"][0])
        mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        settings = items["ConfigMap", volumes[mounts[str(file.parent)]]["configMap"]["name"]]["data"][file.name]
        parser = configparser.ConfigParser(strict=True)
        parser.read_string(settings)

        expect(name, f"port of {app}", parser["server"]["listen"].split(":")[-1], str(port))
        expect(name, f"token of {app}", parser["server"]["token-file"].rsplit("/", 1)[0] in mounts, True)
        expect(name, f"runAsNonRoot of {app}", spec["securityContext"]["runAsNonRoot"], True)
        expect(name, f"readOnlyRootFilesystem of {app}", container["securityContext"]["readOnlyRootFilesystem"], True)
        expect(name, f"memory of {app} is limited", "memory" in container["resources"]["limits"], True)
        expect(name, f"CPU of {app} is requested", "cpu" in container["resources"]["requests"], True)
        for kind in ("NetworkPolicy", "PodDisruptionBudget", "PodMonitor", "Service"):
            item = items[kind, app]["spec"]
            selector = item.get("podSelector") or item["selector"]
            labels = selector.get("matchLabels", selector)
            expect(name, f"labels of {kind} {app}", labels.items() <= template["metadata"]["labels"].items(), True)
        expect(name, f"secret of {app}", volumes["credentials"]["secret"]["secretName"], app)
    if name == "nvidia":
        for item in yaml.safe_load_all((overlay / "device-plugin.yaml").read_text()):
            if kubernetes_validate:
                validate(name, item)
            for text in item["data"].values():
                expect(name, "version of the device plugin's settings", yaml.safe_load(text)["version"], "v1")
    return len(items)


def main():
    if not shutil.which(BUILD[0]):
        print("SKIP: neither kubectl nor kustomize is installed")
        return 77
    for overlay in sorted((HERE / "overlays").iterdir()):
        print(f"{overlay.name}: {check_overlay(overlay, sys.argv[1] if sys.argv[1:] else None)} objects")
    if not kubernetes_validate:
        print("skipped: the schemas, kubernetes-validate is not installed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
