// Talks to the fake at process.argv[2] through the providers' own SDKs, whole and streamed, and writes a line of
// JSON a conversation: what the SDK understood.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { GoogleGenAI } from "@google/genai";

const url = process.argv[2], model = "fake-1", question = "What is for dinner?";
const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };

const anthropic = new Anthropic({ baseURL: url, apiKey: "k", maxRetries: 2 });
const openai = new OpenAI({ baseURL: url + "/v1", apiKey: "k", maxRetries: 2 });
const google = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: url } });

// Each takes a history, which it makes longer, and returns { text, thought, calls: [{ name, args }], stop, tokens }.
const apis = {
  anthropic: {
    start: () => [{ role: "user", content: question }],
    async ask(messages, streamed) {
      const body = { model, max_tokens: 99, messages, tools: [{ name: "fs", input_schema: schema }] };
      const m = streamed ? await anthropic.messages.stream(body).finalMessage() : await anthropic.messages.create(body);
      messages.push({ role: "assistant", content: m.content });
      const calls = m.content.filter((b) => b.type === "tool_use");
      if (calls.length) messages.push({ role: "user", content: calls.map((c) => ({ type: "tool_result", tool_use_id: c.id, content: "noodles" })) });
      const join = (type, key) => m.content.filter((b) => b.type === type).map((b) => b[key]).join("");
      return {
        text: join("text", "text"), thought: join("thinking", "thinking"), stop: m.stop_reason,
        calls: calls.map((c) => ({ name: c.name, args: c.input })), tokens: m.usage.output_tokens,
      };
    },
    count: async () => (await anthropic.messages.countTokens({ model, messages: [{ role: "user", content: question }] })).input_tokens,
    models: async () => (await anthropic.models.list()).data.map((m) => m.id),
    status: (e) => e.status, kind: (e) => e.error?.error?.type,
  },
  responses: {
    start: () => [{ role: "user", content: question }],
    async ask(input, streamed) {
      const body = { model, input, tools: [{ type: "function", name: "fs", parameters: schema, strict: false }] };
      const r = streamed ? await openai.responses.stream(body).finalResponse() : await openai.responses.create(body);
      input.push(...r.output);
      const calls = r.output.filter((o) => o.type === "function_call");
      input.push(...calls.map((c) => ({ type: "function_call_output", call_id: c.call_id, output: "noodles" })));
      return {
        text: r.output_text, stop: r.status, calls: calls.map((c) => ({ name: c.name, args: JSON.parse(c.arguments) })), tokens: r.usage.output_tokens,
        thought: r.output.filter((o) => o.type === "reasoning").flatMap((o) => o.summary.map((s) => s.text)).join(""),
      };
    },
    models: async () => (await openai.models.list()).data.map((m) => m.id),
    status: (e) => e.status, kind: (e) => e.code,
  },
  completions: {
    start: () => [{ role: "system", content: "Be good." }, { role: "user", content: question }],
    async ask(messages, streamed) {
      const body = { model, messages, tools: [{ type: "function", function: { name: "fs", parameters: schema } }] };
      const c = streamed
        ? await openai.chat.completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion()
        : await openai.chat.completions.create(body);
      const { message, finish_reason } = c.choices[0];
      messages.push(message);
      const calls = message.tool_calls ?? [];
      messages.push(...calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: "noodles" })));
      return {
        text: message.content ?? "", thought: message.reasoning_content ?? "", stop: finish_reason, tokens: c.usage.completion_tokens,
        calls: calls.map((call) => ({ name: call.function.name, args: JSON.parse(call.function.arguments) })),
      };
    },
    status: (e) => e.status, kind: (e) => e.code,
  },
  gemini: {
    start: () => [{ role: "user", parts: [{ text: question }] }],
    async ask(contents, streamed) {
      const body = { model, contents, config: { tools: [{ functionDeclarations: [{ name: "fs", parametersJsonSchema: schema }] }] } };
      const parts = [];
      let stop, tokens;
      const chunks = streamed ? await google.models.generateContentStream(body) : [await google.models.generateContent(body)];
      for await (const chunk of chunks) {
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
        stop = chunk.candidates?.[0]?.finishReason ?? stop;
        tokens = chunk.usageMetadata?.candidatesTokenCount ?? tokens;
      }
      contents.push({ role: "model", parts });
      const calls = parts.filter((p) => p.functionCall).map((p) => p.functionCall);
      if (calls.length) contents.push({ role: "user", parts: calls.map((c) => ({ functionResponse: { id: c.id, name: c.name, response: { output: "noodles" } } })) });
      const join = (thought) => parts.filter((p) => p.text && Boolean(p.thought) === thought).map((p) => p.text).join("");
      return { text: join(false), thought: join(true), stop, tokens, calls: calls.map((c) => ({ name: c.name, args: c.args })) };
    },
    count: async () => (await google.models.countTokens({ model, contents: question })).totalTokens,
    models: async () => {
      const names = [];
      for await (const m of await google.models.list()) names.push(m.name.replace("models/", ""));
      return names;
    },
    status: (e) => e.status, kind: (e) => JSON.parse(e.message).error.status,
  },
};

for (const [name, api] of Object.entries(apis)) {
  for (const streamed of [false, true]) {
    const history = api.start();
    const out = { api: name, streamed, turns: [] };
    for (let turn = 0; turn < 2; turn++) out.turns.push(await api.ask(history, streamed));
    out.count = (await api.count?.()) ?? 0;
    out.models = (await api.models?.()) ?? [];
    try {
      await api.ask(history, streamed); // the script has no third turn but an error
    } catch (e) {
      out.status = api.status(e) ?? 0;
      out.kind = api.kind(e) ?? e.message;
    }
    console.log(JSON.stringify(out));
  }
}
