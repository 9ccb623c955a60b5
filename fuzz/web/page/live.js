// Puts the newest numbers into the page, part by part, but not into the part in which somebody is. Without it the page
// shows what was when it was opened.
const every = 2000;

async function renew() {
  if (document.hidden) return;
  const answer = await fetch(location.href, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(answer.statusText);
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  const parts = [...document.querySelectorAll("[data-live]")];
  const names = (doc) => [...doc.querySelectorAll("[data-live]")].map((e) => e.dataset.live).join();
  if (names(next) !== names(document)) {
    if (!document.querySelector("main").contains(document.activeElement)) location.reload();
    return;
  }
  const chosen = getSelection();
  for (const part of parts) {
    const new_ = next.querySelector(`[data-live="${part.dataset.live}"]`);
    const inUse = part.contains(document.activeElement) || (!chosen.isCollapsed && part.contains(chosen.anchorNode));
    if (!inUse && part.innerHTML !== new_.innerHTML) part.replaceChildren(...new_.childNodes);
  }
  for (const button of document.querySelectorAll("button")) {
    const other = next.querySelector(`form[action="${button.form.getAttribute("action")}"] button`);
    if (other) button.disabled = other.disabled;
  }
}

async function again() {
  try {
    await renew();
    document.title = document.title.replace(/^\(ended\) /, "");
  } catch {
    if (!document.title.startsWith("(ended) ")) document.title = "(ended) " + document.title;
  }
  setTimeout(again, every);
}

setTimeout(again, every);
