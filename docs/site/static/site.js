// What scrolls within itself can be reached without a mouse.
const scrolling = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = target;
    if (scrollWidth > clientWidth || scrollHeight > clientHeight) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
for (const element of document.querySelectorAll(".table-wrapper, .math-wrapper, pre")) scrolling.observe(element);

// What the theme leaves unsaid to screen readers.
document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
for (const caption of document.querySelectorAll(".caption[role=heading]")) caption.setAttribute("aria-level", "2");
// A signature of many lines is a list within a term, which is none.
for (const part of document.querySelectorAll("dt.sig dl, dt.sig dd")) {
  const line = document.createElement("span");
  line.className = part.localName === "dd" ? "signature-line" : "signature-lines";
  line.append(...part.childNodes);
  part.replaceWith(line);
}
for (const head of document.querySelectorAll("th")) if (!head.textContent.trim()) head.setAttribute("role", "cell");
