import { render } from "preact";
import { App } from "./app";
import { unpacked } from "./embedded";
import { writeWhole } from "./exact";
import { enter } from "./key";
import { Live } from "./source";
import { escapeTexts } from "./visible";

escapeTexts();
writeWhole();

// A report has its data inside; everything else is a page of a server.
const data = document.getElementById("data");
const place = document.getElementById("app");

async function report(text: string, at: HTMLElement): Promise<void> {
  try {
    render(<App source={await unpacked(text)} />, at);
  } catch (e) {
    render(<p class="failure">The data of this report cannot be read: {String(e)}</p>, at);
  }
}

if (place && data) void report(data.textContent ?? "", place);
else if (place) void enter().catch(() => {}).finally(() => render(<App source={new Live()} />, place));
