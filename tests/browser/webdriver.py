"""A headless Chromium, driven through ChromeDriver with nothing but the standard library."""

import base64
import json
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key that the protocol gives to elements

# Without these Chromium looks for updates and the like, which is none of the tests' business.
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
         "--disable-default-apps", "--disable-extensions"]


class Browser:
    def __init__(self, width=1280, height=900, dark=False):
        self._driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self._profile = tempfile.TemporaryDirectory(prefix="ppan-browser-")
        try:
            port = next(m[1] for line in self._driver.stdout if (m := re.search(r"started successfully on port (\d+)", line)))
            self._address = f"http://127.0.0.1:{port}"
            arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self._profile.name}",
                         f"--window-size={width},{height}", *QUIET]
            if dark:
                arguments.append("--force-dark-mode")
            capabilities = {"goog:chromeOptions": {"binary": CHROMIUM, "args": arguments},
                            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
            answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
            self._session = f"/session/{answer['sessionId']}"
        except BaseException:
            self._end()
            raise

    def _call(self, method, path, body=None):
        data = json.dumps(body if body is not None else {}).encode() if method == "POST" else None
        request = urllib.request.Request(self._address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def _end(self):
        self._driver.terminate()
        self._driver.wait()
        self._driver.stdout.close()
        self._profile.cleanup()

    def close(self):
        try:
            self._call("DELETE", self._session)
        finally:
            self._end()

    def open(self, url):
        self._call("POST", self._session + "/url", {"url": url})

    def find(self, selector):
        found = self._call("POST", self._session + "/element", {"using": "css selector", "value": selector})
        return found[ELEMENT]

    def run(self, script, *arguments):
        """The value that `script` returns; its arguments are in `arguments`."""
        return self._call("POST", self._session + "/execute/sync", {"script": script, "args": list(arguments)})

    def click(self, selector):
        self._call("POST", f"{self._session}/element/{self.find(selector)}/click")

    def keys(self, selector, text):
        self._call("POST", f"{self._session}/element/{self.find(selector)}/value", {"text": text})

    def hover(self, selector):
        move = {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": {ELEMENT: self.find(selector)}}
        self._call("POST", self._session + "/actions",
                   {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._call("GET", self._session + "/screenshot")))

    def console(self):
        return [entry["message"] for entry in self._log("browser")]

    def requests(self):
        """Addresses of everything the page asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def _log(self, kind):
        return self._call("POST", self._session + "/se/log", {"type": kind})
