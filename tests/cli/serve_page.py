# serve_page.py - drives the page of attn-mt serve in Chromium by the keyboard and looks at what is there:
#   serve_page.py BROWSER FOLDER ADDRESS [SCREENSHOTS]
# It speaks the DevTools protocol through a pipe (--remote-debugging-pipe). The server translates en-fr, fr-en
# and en-de, as serve_page.sh starts it. With SCREENSHOTS, a prefix, it writes pictures for people.
import base64
import json
import os
import subprocess
import sys
import time

browser, folder, address = sys.argv[1:4]
screenshots = sys.argv[4] if len(sys.argv) > 4 else None


class Page:
    def __init__(self):
        (read_3, self.output), (self.input, write_4) = os.pipe(), os.pipe()

        def pipes():
            os.dup2(read_3, 13), os.dup2(write_4, 14)
            os.dup2(13, 3), os.dup2(14, 4)

        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--remote-debugging-pipe", "--user-data-dir=" + folder]
        self.process = subprocess.Popen([browser, *arguments], preexec_fn=pipes, pass_fds=(3, 4),
                                        env={**os.environ, "HOME": folder}, stderr=subprocess.DEVNULL)
        os.close(read_3), os.close(write_4)
        self.number, self.rest, self.session = 0, b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                data = os.read(self.input, 1 << 20)
                if not data:
                    raise EOFError("the browser ended")
                self.rest += data
            answer, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(answer)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait(self, expression, expected):
        value = None
        for _ in range(200):
            value = self.value(expression)
            if value == expected:
                return
            time.sleep(0.05)
        sys.exit("%s is %r, not %r" % (expression, value, expected))

    def key(self, name, code, text=None):
        common = {"key": name, "code": name, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def tab(self):
        self.key("Tab", 9)

    def show(self, name, width, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1,
                  mobile=False)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)
        wide = self.value("document.documentElement.scrollWidth")
        assert wide <= width, "the page is %d wide at %d" % (wide, width)
        colour = self.value("getComputedStyle(document.body).backgroundColor")
        assert colour == ("rgb(24, 26, 29)" if dark else "rgb(255, 255, 255)"), colour
        if screenshots:
            with open(screenshots + name + ".png", "wb") as file:
                file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


page = Page()
page.call("Page.navigate", url=address)
page.wait("from.options.length + to.options.length > 3 && document.activeElement.id", "source")
codes = page.value("[...from.options].map(o => o.value).join()")
automatic = codes == "auto,en,fr"
assert automatic or codes == "en,fr", codes

# To the first menu without a mouse: English, and German as the target.
page.value("from.focus()")
page.key("e", 69, "e")
page.wait("from.value", "en")
page.wait("[...to.options].map(o => o.value).join()", "fr,de")
page.tab()
page.tab()
page.wait("document.activeElement.id", "to")
page.key("g", 71, "g")
page.wait("to.value", "de")
page.wait("swap.disabled", True)  # nothing translates from German
page.tab()
page.wait("document.activeElement.id", "source")
page.call("Input.insertText", text="go .")
page.wait("translation.textContent", "va !")
page.wait("translation.lang + source.lang", "deen")

# Back to French, and swap: the translation becomes the text.
page.value("to.focus()")
page.key("f", 70, "f")
page.wait("to.value + translation.lang", "frfr")
page.value("swap.focus()")
page.wait("document.activeElement.id", "swap")
page.key("Enter", 13, "\r")
page.wait("from.value + to.value + source.value", "fren" + "va !")
page.wait("translation.textContent", "go .")
page.wait("attention.querySelectorAll('td').length > 3", True)
for width in 1400, 400:
    page.show("light-%d" % width, width)
    page.show("dark-%d" % width, width, dark=True)

# A pivot says what lies between.
page.value("to.focus()")
page.key("g", 71, "g")
page.wait("to.value + translation.textContent", "deva !")
page.wait("attention.querySelector('p').textContent", "By way of another language: go .")
page.show("pivot", 1400)

# Detection names the language; a swap then takes it.
if automatic:
    page.value("from.focus()")
    page.key("d", 68, "d")
    page.wait("from.value + to.value", "autode")
    page.value("source.select(), source.focus()")
    page.call("Input.insertText", text="Where have you been all this time, my friends?")
    page.wait("from.selectedOptions[0].textContent", "English (detected)")
    page.wait("source.lang", "en")
    page.value("to.focus()")
    page.key("f", 70, "f")
    page.wait("to.value + source.lang + swap.disabled", "frenfalse")
    page.show("detected", 400)
    page.value("swap.focus()")
    page.key("Enter", 13, "\r")
    page.wait("from.value + to.value", "fren")
page.call("Browser.close")
page.process.wait()
