// The colours that the reader has chosen: "light", "dark", or "" for those of the browser. A cookie keeps the choice: who
// opens the URL of a server clears the storage of its pages, and the next server has another port. It says nothing else.
const name = "tunehost-theme";

export type Chosen = "" | "light" | "dark";

const valid = (text: string | null | undefined): Chosen => (text === "dark" || text === "light" ? text : "");

export function chosen(): Chosen {
  try {
    const cookie = document.cookie.split("; ").find((c) => c.startsWith(name + "="))?.slice(name.length + 1);
    return valid(cookie ?? localStorage.getItem(name)); // a report is a file, which has no cookies
  } catch {
    return ""; // a page in a sandbox has neither
  }
}

// choose sets the colours of the page, and keeps them.
export function choose(theme: Chosen): void {
  if (theme) document.documentElement.dataset["theme"] = theme;
  else delete document.documentElement.dataset["theme"];
  try {
    if (location.protocol === "file:") localStorage.setItem(name, theme);
    else if (theme !== chosen()) document.cookie = `${name}=${theme}; path=/; SameSite=Strict; max-age=${theme ? 31536000 : 0}`;
  } catch { /* it holds for this page alone */ }
  dispatchEvent(new Event("theme"));
}
