"""bundle.py ARCHIVE BUNDLE [--netns PATH] [--env K=V]... [--bind SRC:DST[:ro]]...
[--writable DST]... [--arg WORD]...: unpacks a docker-archive into a bundle that
`runc run` starts as Kubernetes would: the image's own user, entry point and
environment, no capabilities, a read-only root with the named folders writable."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tarfile

p = argparse.ArgumentParser()
p.add_argument("archive")
p.add_argument("bundle", type=pathlib.Path)
p.add_argument("--netns")
p.add_argument("--user")
for repeated in ("env", "bind", "writable", "arg"):
    p.add_argument("--" + repeated, action="append", default=[])
a = p.parse_args()

root = a.bundle / "rootfs"
with tarfile.open(a.archive) as t:
    manifest = json.load(t.extractfile("manifest.json"))[0]
    config = json.load(t.extractfile(manifest["Config"]))["config"]
    if not root.exists():
        root.mkdir(parents=True)
        for layer in manifest["Layers"]:
            with subprocess.Popen(["tar", "x", "--numeric-owner", "-C", root], stdin=subprocess.PIPE) as tar:
                shutil.copyfileobj(t.extractfile(layer), tar.stdin, 1 << 20)
            if tar.returncode:
                raise SystemExit(f"{a.archive}: layer {layer} does not unpack")

uid, _, gid = (a.user or config["User"]).partition(":")
uid = int(uid)
env = dict(e.split("=", 1) for e in config.get("Env", []) + a.env)
env.setdefault("HOME", "/")
for line in (root / "etc/passwd").read_text().splitlines() if (root / "etc/passwd").exists() else []:
    if line.split(":")[2] == str(uid) and not any(e.startswith("HOME=") for e in a.env):
        env["HOME"] = line.split(":")[5]
mounts = [
    {"destination": "/proc", "type": "proc", "source": "proc"},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
    {"destination": "/dev/pts", "type": "devpts", "source": "devpts", "options": ["newinstance", "ptmxmode=0666"]},
    {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["mode=1777"]},
    {"destination": "/sys", "type": "bind", "source": "/sys", "options": ["rbind", "ro"]},
    {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]},
]
hosts = a.bundle / "hosts"
hosts.write_text("127.0.0.1 localhost check\n")
binds = [f"{hosts.resolve()}:/etc/hosts"] + a.bind
for destination in a.writable:
    # A volume, with what the image has there, as a named volume would start.
    volume = a.bundle / "volumes" / destination.strip("/").replace("/", "-")
    if not volume.exists():
        volume.parent.mkdir(parents=True, exist_ok=True)
        inside = root / destination.strip("/")
        if inside.exists():
            subprocess.run(["cp", "-a", inside, volume], check=True)
        else:
            volume.mkdir()
    os.chown(volume, uid, int(gid or uid))
    binds.append(f"{volume.resolve()}:{destination}")
for bind in binds:
    source, destination, *mode = bind.split(":")
    mounts.append({"destination": destination, "type": "bind", "source": source, "options": ["rbind", *(mode or ["rw"])]})

namespaces = [{"type": n} for n in ("pid", "ipc", "uts", "mount")]
namespaces.append({"type": "network", "path": a.netns} if a.netns else {"type": "network"})
spec = {
    "ociVersion": "1.0.2",
    "hostname": "check",
    "root": {"path": "rootfs", "readonly": True},
    "process": {
        "user": {"uid": uid, "gid": int(gid or uid)},
        "args": (config.get("Entrypoint") or []) + (a.arg or config.get("Cmd") or []),
        "env": [f"{k}={v}" for k, v in env.items()],
        "cwd": config.get("WorkingDir") or "/",
        "noNewPrivileges": True,
        "capabilities": {k: [] for k in ("bounding", "effective", "permitted", "inheritable", "ambient")},
    },
    "mounts": mounts,
    "linux": {"namespaces": namespaces},
}
(a.bundle / "config.json").write_text(json.dumps(spec, indent=1))
