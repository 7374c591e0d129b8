import { newKey } from "./api";

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
  const answer = await fetch(`/key?ticket=${encodeURIComponent(ticket)}`, { method: "POST" });
  if (!answer.ok) return;
  key = await answer.text();
  try {
    localStorage.setItem(name, key);
  } catch { /* the browser keeps nothing: this page alone has the key */ }
}

// shown are the headers of a request with the key.
export function shown(): Record<string, string> {
  const known = reunited || stored() || key;
  return known ? { Authorization: `Bearer ${known}` } : {};
}

function stored(): string {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

// A page that is open when its server ends finds the next server of the same user by a secret. The secret, and the key
// that it gets for it, stay in the memory of this page: another program that had the address in the meantime may have
// left a page that reads the storage, or a service worker, with which this page trusts nobody there.
let secret = "";
let reunited = "";

// learn asks for the secret. Without a secure context the browser cannot prove anything with it.
export async function learn(): Promise<void> {
  if (secret !== "" || !isSecureContext) return;
  const answer = await fetch("/key/lasting", { method: "POST", headers: shown() });
  if (answer.ok) secret = await answer.text();
}

// reunite looks whether the server that does not know the key is one of the same user, and gets a key of it then. Both
// prove that they have the secret, for the address of this page, and neither sends it.
export async function reunite(): Promise<boolean> {
  if (secret === "" || await visited()) return false;
  const nonce = newKey();
  const path = `/key/again?nonce=${nonce}`;
  const asked = await fetch(path, { method: "POST" });
  if (!asked.ok) return false;
  const { question, proofs } = await asked.json() as { question: string; proofs: string[] };
  if (!proofs.includes(await code("server", nonce, question))) return false;
  const answer = await fetch(`${path}&question=${encodeURIComponent(question)}&proof=${await code("page", nonce, question)}`,
    { method: "POST" });
  if (!answer.ok) return false;
  reunited = await answer.text();
  return true;
}

// visited says that a page of another program was here.
async function visited(): Promise<boolean> {
  return "serviceWorker" in navigator && (await navigator.serviceWorker.getRegistrations()).length > 0;
}

// code is the authentication code of a text at this address.
async function code(...parts: string[]): Promise<string> {
  const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
  const hmac = await crypto.subtle.importKey("raw", bytes(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const sum = await crypto.subtle.sign("HMAC", hmac, bytes([...parts, location.origin].join("\n")));
  return Array.from(new Uint8Array(sum), (b) => b.toString(16).padStart(2, "0")).join("");
}
