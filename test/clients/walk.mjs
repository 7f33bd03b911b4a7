// Walks Collie's tools as the official SDK's client: lists them, makes the calls of the JSON in process.argv[4] one after
// another, makes the last of them again until it hears that the list has changed, and lists them again. process.argv[2] is where Collie is, [3]
// the version of the protocol. Writes one line of JSON: what the client saw.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, version, steps] = process.argv.slice(2);
const wait = (ms) => new Promise((resolve) => setTimeout(() => resolve(false), ms));
let changed;
const change = new Promise((resolve) => (changed = resolve));
const client = new Client({ name: "typescript", version: "1" }, {
  versionNegotiation: { mode: version === "2025-11-25" ? "legacy" : { pin: version } },
  listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => changed(true) } },
});
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const list = async () => (await client.listTools(undefined, { cacheMode: "refresh" })).tools.map((t) => ({ name: t.name, description: t.description ?? "", schema: JSON.stringify(t.inputSchema) }));

const out = { version: client.getNegotiatedProtocolVersion(), before: await list(), answers: [] };
const call = async (step) => {
  try {
    const r = await client.callTool({ name: step.name, arguments: step.arguments ?? {} });
    out.answers.push({ text: r.content.map((c) => c.text).join("\n"), failed: r.isError ?? false });
  } catch (e) {
    out.answers.push({ text: e.message, failed: true });
  }
};
const all = JSON.parse(steps);
for (const step of all) await call(step);
for (out.changes = 1; out.changes <= 60 && !(await Promise.race([change, wait(1000)])); out.changes++) await call(all.at(-1));
for (let look = 0; look < 60; look++) { // it may be told of what was before its first list
  out.after = await list();
  if (out.changes > 1 || JSON.stringify(out.after) !== JSON.stringify(out.before)) break;
  await wait(1000);
}
await client.close();
console.log(JSON.stringify(out));
