"""A person before a page in a real browser: what they see, press and hear."""

from pathlib import Path

from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

PHONE, DESK = 360, 1200
PATIENCE = 120  # seconds until a test gives up: a busy machine is no failure
# Finds what keeps people from using a page; without the signs of formulas, for which it has no rules.
AXE = "axe.run({ exclude: ['math'] }, { resultTypes: ['violations'], preload: false }).then(arguments[0])"


def wait_until_painted(driver) -> None:
    """Chromium drops keys that come before the first picture of a page."""
    driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => setTimeout(done))")


class Reader:
    """A person before a page."""

    def __init__(self, driver, page: Path) -> None:
        self.driver, self.page = driver, page

    def open(self, address: str = "", width: int = DESK, media: str = "screen", scheme: str = "light") -> "Reader":
        self.resize(width)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
        self.driver.get("about:blank")
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(self.page.as_uri() + address)
        wait_until_painted(self.driver)
        return self.wait()

    def resize(self, width: int) -> "Reader":
        """Make the screen wider or narrower, also where the page is open."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        return self

    def wait(self) -> "Reader":
        """Until the page is ready."""
        return self

    def ask(self, script: str, *arguments):
        return self.driver.execute_script(f"return {script}", *arguments)

    def text(self, selector: str) -> str:
        return self.ask("document.querySelector(arguments[0]).textContent", selector).strip()

    def press(self, *keys: str) -> "Reader":
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()
        return self

    def focused(self) -> str:
        return self.ask("document.activeElement.id || document.activeElement.textContent.trim()")

    def messages(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]


class StudyPage(Reader):
    """A person before the page of a study."""

    def wait(self) -> "StudyPage":
        """Until what the address names is shown."""
        shown = "return document.body.dataset.ready === location.hash"
        WebDriverWait(self.driver, PATIENCE, 0.02).until(lambda _: self.driver.execute_script(shown))
        return self

    def go(self, address: str) -> "StudyPage":
        """Show what another address of the same page names."""
        self.ask("location.hash = arguments[0]", address)
        return self.wait()

    def until(self, holds: str) -> None:
        """Until an expression is true."""
        WebDriverWait(self.driver, PATIENCE, 0.02).until(lambda _: self.ask(holds))

    def rows(self, table: str) -> list[list[str]]:
        cells = "(row) => [...row.cells].map((cell) => cell.textContent)"
        return self.ask(f"[...document.querySelectorAll('#{table} tbody tr')].map({cells})")

    def choose(self, name: str, value: str) -> "StudyPage":
        """Set a control as a person does who has reached it."""
        change = "(([box, value]) => { box.value = value; box.dispatchEvent(new Event('change')); })(arguments)"
        self.ask(change, self.driver.find_element(By.ID, name), value)
        return self.wait()


COLOURS = """(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const painted = (layers) => {
    for (const layer of layers) { canvas.fillStyle = layer; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)].map((part) => part / 255);
  };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.unshift(getComputedStyle(at).backgroundColor);
    return painted(["#ffffff", ...layers]);
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  return [...document.querySelectorAll("body *")]
    .filter((element) => element.checkVisibility() && !element.disabled && hasText(element))
    .map((element) => [element.textContent.trim(), painted([getComputedStyle(element).color]), behind(element)]);
})()"""


def colours(reader: Reader) -> list[tuple]:
    """Every visible piece of text with its colour and what is behind it, opaque, parts in [0, 1]."""
    return reader.ask(COLOURS)
