// An agent on the official SDK, which checks every message of the client against the protocol's schema: it takes each turn
// through a thought, a call of its own, a permission and a tool of its MCP server, as the words of the question say.
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const cancelled = new Map();
let servers = [];

function sayer(client, sessionId) {
  return (sessionUpdate, more) => client.notify(acp.methods.client.session.update, { sessionId, update: { sessionUpdate, ...more } });
}

async function callTool(words) {
  const [name, ...args] = words;
  const { url, headers } = servers[0];
  const send = async (body, session) => {
    const r = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...(session && { "Mcp-Session-Id": session }),
        ...Object.fromEntries(headers.map((h) => [h.name, h.value])),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
    return { session: r.headers.get("Mcp-Session-Id"), text: await r.text() };
  };
  const { session } = await send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "sdk", version: "1" } } });
  await send({ method: "notifications/initialized" }, session);
  return (await send({ id: 2, method: "tools/call", params: { name, arguments: JSON.parse(args.join(" ") || "{}") } }, session)).text;
}

async function step(line, client, sessionId, stopped) {
  const say = sayer(client, sessionId);
  const text = (t) => say("agent_message_chunk", { content: { type: "text", text: t } });
  const [verb, ...words] = line.split(" ");
  switch (verb) {
    case "think":
      return say("agent_thought_chunk", { content: { type: "text", text: words.join(" ") } });
    case "say":
      return text(words.join(" "));
    case "mcp":
      return text(await callTool(words));
    case "permit": {
      const toolCall = { toolCallId: "t1", title: words.slice(1).join(" "), kind: words[0], status: "pending" };
      await say("tool_call", toolCall);
      const { outcome } = await client.request(acp.methods.client.session.requestPermission, {
        sessionId, toolCall,
        options: [{ kind: "allow_once", name: "Yes", optionId: "y" }, { kind: "reject_once", name: "No", optionId: "n" }],
      });
      await say("tool_call_update", { toolCallId: "t1", status: outcome.optionId === "y" ? "completed" : "failed" });
      return text(`[${outcome.optionId ?? outcome.outcome}]`);
    }
    case "hang":
      return stopped;
  }
}

acp
  .agent({ name: "sdk" })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: { loadSession: false, mcpCapabilities: { http: true, sse: false }, promptCapabilities: {} },
    authMethods: [],
  }))
  .onRequest(acp.methods.agent.session.new, ({ params }) => {
    servers = params.mcpServers;
    return { sessionId: "s1" };
  })
  .onRequest(acp.methods.agent.session.prompt, async ({ params, client }) => {
    let stop;
    const stopped = new Promise((resolve) => (stop = resolve));
    let over = false;
    cancelled.set(params.sessionId, () => { over = true; stop(); });
    for (const line of params.prompt.at(-1).text.split("\n")) {
      await step(line, client, params.sessionId, stopped);
    }
    return { stopReason: over ? "cancelled" : "end_turn" };
  })
  .onNotification(acp.methods.agent.session.cancel, ({ params }) => cancelled.get(params.sessionId)?.())
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
