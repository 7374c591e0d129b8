// The key of the server. It stands for the token in the URL that was opened, until the server ends. It is kept for the
// other pages of this origin: a cookie would reach the servers of all ports of the machine.
const name = "tunehost-key";
let key = "";

// enter exchanges the ticket in the address, to which the server has led the browser, for a key.
export async function enter(): Promise<void> {
  const query = new URLSearchParams(location.search);
  const ticket = query.get("ticket");
  if (ticket === null) return;
  query.delete("ticket");
  history.replaceState(null, "", location.pathname + (query.size > 0 ? `?${query}` : "") + location.hash);
  const answer = await fetch(`./key?ticket=${encodeURIComponent(ticket)}`, { method: "POST" });
  if (!answer.ok) return;
  key = await answer.text();
  try {
    localStorage.setItem(name, key);
  } catch { /* the browser keeps nothing: this page alone has the key */ }
}

// shown are the headers of a request with the key.
export function shown(): Record<string, string> {
  const known = stored() || key;
  return known ? { Authorization: `Bearer ${known}` } : {};
}

function stored(): string {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}
