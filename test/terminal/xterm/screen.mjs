// Draws what a program wrote to a terminal, and prints what the terminal shows, with what has scrolled off above.
// Standard input: lines of JSON, {"columns":80,"rows":24} for a size and {"write":"base64"} for bytes.
// Standard output: {"lines":["…"],"top":3,"cursor":[5,23]}: all lines, the first that is on the screen, and column and row
// of the cursor on it.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { Terminal } = createRequire(import.meta.url)("@xterm/headless");
const terminal = new Terminal({ cols: 80, rows: 24, scrollback: 10000, allowProposedApi: true });
for await (const line of createInterface({ input: process.stdin })) {
  const event = JSON.parse(line);
  if (event.write === undefined) terminal.resize(event.columns, event.rows);
  else await new Promise((written) => terminal.write(Buffer.from(event.write, "base64"), written));
}
const buffer = terminal.buffer.active;
const lines = [];
for (let y = 0; y < buffer.length; y++) lines.push(buffer.getLine(y).translateToString(true));
process.stdout.write(JSON.stringify({ lines, top: buffer.baseY, cursor: [buffer.cursorX, buffer.cursorY] }));
