#!/usr/bin/python3
"""Check data/fetch against servers that break off, know no ranges, or send something else.

usage: check_fetch.py FOLDER     prints what is wrong; exit code 0: nothing
"""
import hashlib
import http.server
import os
import subprocess
import sys
import threading

FOLDER = sys.argv[1]
DATA = bytes(range(256)) * 4000
asked = []


class Server(http.server.BaseHTTPRequestHandler):
    """/cut breaks off after a half, /whole knows ranges, /plain none, /page sends a web page."""

    def do_GET(self):
        way, start = self.path.split("/")[1], 0
        header = self.headers.get("Range")
        asked.append((way, header))
        if way == "missing":
            return self.send_error(404)
        body = b"<html></html>" if way == "page" else DATA
        if header and way in ("whole", "cut"):
            start = int(header.removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        self.wfile.write(body[start:len(body) // 2 if way == "cut" else None])

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
here = f"http://127.0.0.1:{server.server_port}"
sums = f"{FOLDER}/sums"
with open(sums, "w", encoding="utf-8") as file:
    file.write(f"{hashlib.sha256(DATA).hexdigest()}  images.bin\n")
wrong = 0


def expect(name, code, says, ways, ranges, *mirrors, clean=True):
    global wrong
    path = f"{FOLDER}/out/images.bin"
    for old in (path, path + ".part") if clean else ():
        if os.path.exists(old):
            os.remove(old)
    asked.clear()
    result = subprocess.run([sys.executable, "data/fetch", sums, f"{FOLDER}/out", *mirrors], capture_output=True, text=True)
    there = os.path.exists(path) and open(path, "rb").read() == DATA
    if (result.returncode != code or says not in result.stdout + result.stderr or [way for way, _ in asked] != ways
            or [header for _, header in asked] != ranges or there != (code == 0)):
        wrong += 1
        print(f"{name}: code {result.returncode}, asked {asked}\n{result.stdout}{result.stderr}")


half = f"bytes={len(DATA) // 2}-"
expect("whole", 0, "fetched", ["whole"], [None], f"{here}/whole")
expect("there already", 0, "is there", [], [], f"{here}/whole", clean=False)
expect("first is missing", 0, "fetched", ["missing", "whole"], [None, None], f"{here}/missing", f"{here}/whole/")
expect("goes on at another mirror", 0, "fetched", ["cut", "whole"], [None, half], f"{here}/cut", f"{here}/whole")
expect("breaks off", 1, "the connection ended", ["cut"], [None], f"{here}/cut")
expect("goes on later", 0, "fetched", ["whole"], [half], f"{here}/whole", clean=False)
expect("knows no ranges", 0, "fetched", ["cut", "plain"], [None, half], f"{here}/cut", f"{here}/plain")
expect("web page", 1, "another file", ["page"], [None], f"{here}/page")
expect("no mirror", 2, "usage", [], [])
sys.exit(wrong != 0)
